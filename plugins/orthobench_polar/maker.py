"""Makes instances of your own matrices."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from orthobench_kit.dense import densified
from orthobench_kit.reading import array_of

from orthobench.contract import Array, DataError, Instance, Solution, UsageError
from orthobench.contract.problem import unchanged
from orthobench.tools.arrays import is_number
from orthobench_polar.judge import Judge, no_violation
from orthobench_polar.oracle import PolarOracle, SpectralOracle
from orthobench_polar.result import PolarResult, polar_factor

UNITS = 1e100
"""Maximum entry of a matrix whose power is sought, and one over the minimum."""


def polar(A: ArrayLike) -> Instance[PolarOracle]:
    """Make the polar decomposition of your own matrix, or of a batch of matrices.

    Find UV' for A = U S V', the matrix with orthonormal columns nearest to A, also called matrix
    sign or orthogonalization (Muon).

    Parameters
    ----------
    A : array_like or sparse matrix, shape (n, p) or (b, n, p)
        A sparse one is made dense, up to 2 GiB. If p > n, each matrix is transposed, and so is its
        factor. The factor of a matrix of zeros
        in a batch is zero.

    Returns
    -------
    Instance
        Its points are the factors one below another, shape (bn, p), without those of zeros, with
        the metrics of `orthobench_polar.judge.Judge`.

    Raises
    ------
    DataError
        If A is not real and finite, is empty or zero, or not of two or three axes.

    Warns
    -----
    UserWarning
        If matrices of a batch are zero.

    Examples
    --------
    >>> import numpy as np, orthobench as ob
    >>> A = np.random.default_rng(0).standard_normal((64, 16))
    >>> outcome = ob.solve("qdwh", ob.polar(A))
    >>> outcome.solution.shape
    (64, 16)
    >>> outcome.trace[-1].metrics["distance"] < 1e-13
    True
    """
    tall, result = _tall(A)
    return _instance(PolarOracle(scaled(tall)), result)


def spectral_power(A: ArrayLike, exponent: float) -> Instance[SpectralOracle]:
    """Make a spectral power of your own matrix, or of each matrix of a batch.

    Find U S^exponent V' for A = U S V': A for exponent 1, the polar factor for 0, the transposed
    pseudoinverse for -1.

    Parameters
    ----------
    A : array_like or sparse matrix, shape (n, p) or (b, n, p)
        A sparse one is made dense, up to 2 GiB. If p > n, each matrix is transposed, and so is its
        power.
    exponent : float
        From -1 to 1.

    Returns
    -------
    Instance
        Its points are the powers one below another, shape (bn, p), with the metrics of
        `orthobench_polar.judge.Judge`.

    Raises
    ------
    DataError
        If A is not real and finite, is empty, has a matrix of zeros, or needs another unit.
    UsageError
        If the exponent is out of range.

    Examples
    --------
    >>> import numpy as np, orthobench as ob
    >>> A = np.diag([4.0, 1.0])
    >>> ob.solve("polar-svd", ob.spectral_power(A, 0.5)).solution
    array([[2., 0.],
           [0., 1.]])
    """
    if not is_number(exponent) or not -1 <= exponent <= 1:
        raise UsageError(f"exponent must be a number from -1 to 1, not {exponent}")
    if exponent == 0:
        return polar(A)
    tall, result = _tall(A)
    largest = _largest(tall)
    if largest.min() < 1 / UNITS or largest.max() > UNITS:
        raise DataError(f"A has a matrix of entries beyond 1/{UNITS:g} and {UNITS:g}: rescale it")
    return _instance(SpectralOracle(tall, float(exponent)), result)


OracleT = TypeVar("OracleT", bound=SpectralOracle)

Meaning: TypeAlias = Callable[[Solution], PolarResult]
"""Maps a solution to its factors, in the shape of A."""


def _instance(oracle: OracleT, result: Meaning) -> Instance[OracleT]:
    best = {"distance": 0.0, "gain": 1.0, "asymmetry": 0.0, "indefiniteness": 0.0}
    judge = Judge(oracle.A, oracle.exponent)
    return Instance(oracle, judge, best, no_violation, nearest=unchanged, result=result)


def _tall(A: ArrayLike) -> tuple[Array, Meaning]:
    given = array_of(densified(A, "the entries of A"), "the entries of A")
    if given.ndim not in (2, 3) or not given.size:
        remedy = ": pass A.reshape(len(A), -1)" if given.ndim > 3 else ""
        raise DataError(
            f"A must be a matrix or a batch of them, not of shape {given.shape}{remedy}"
        )
    swapped = given if given.shape[-2] >= given.shape[-1] else given.swapaxes(-1, -2)
    tall = swapped.astype(np.float64)
    largest = _largest(tall)
    if not np.isfinite(largest).all():
        raise DataError("A has entries that are NaN or infinite: remove them")
    there = np.asarray(largest > 0)
    if not there.any():
        raise DataError("A is zero: it has no polar factor")
    if not there.all():
        warnings.warn(
            f"{np.count_nonzero(~there)} of {len(there)} matrices of A are zero, and so are their "
            "factors",
            stacklevel=3,
        )
        tall = tall[there]
    return tall, partial(polar_factor, given.shape, there)


def _largest(A: Array) -> Array:
    """Return the largest absolute entry of each matrix, without a copy of A."""
    return np.asarray(np.maximum(A.max(axis=(-2, -1)), -A.min(axis=(-2, -1))))


def scaled(A: Array) -> Array:
    """Multiply each matrix by a power of two, so that its largest entry is in [1/2, 1)."""
    _, exponents = np.frexp(_largest(A))
    return np.asarray(np.ldexp(A, -exponents[..., None, None], out=A))
