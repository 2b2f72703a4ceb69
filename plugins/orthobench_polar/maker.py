"""Makes instances of your own matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from orthobench.contract import Array, DataError, Instance
from orthobench.contract.problem import unchanged
from orthobench.tools.arrays import array_of
from orthobench_polar.judge import Judge, no_violation
from orthobench_polar.oracle import PolarOracle, read_only


def polar(A: ArrayLike) -> Instance[PolarOracle]:
    """Make the polar decomposition of your own matrix, or of a batch of matrices.

    Sought is UV' for A = U S V', the matrix with orthonormal columns nearest to A, also called the
    matrix sign of A, or its orthogonalization (Muon).

    Parameters
    ----------
    A : array_like, shape (n, p) or (b, n, p)
        Where p > n, each matrix is transposed: its factor is the transpose of what is found.

    Each is divided by a power of two near its largest entry, which changes no digit of its factor,
    so that neither 1e-200 nor float16 underflow.

    Returns
    -------
    Instance
        Its points are the factors one below another, shape (bn, p); its metrics those of
        `orthobench_polar.judge.Judge`.

    Raises
    ------
    DataError
        Where A is not real and finite, is empty, or has a matrix of zeros.

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
    given = array_of(A, "the entries of A")
    if given.ndim not in (2, 3) or not given.size:
        raise DataError(f"A must be a matrix or a batch of them, not of shape {given.shape}")
    tall = read_only(given if given.shape[-2] >= given.shape[-1] else given.swapaxes(-1, -2))
    if not np.isfinite(tall).all():
        raise DataError("A has entries that are NaN or infinite: remove them")
    if not np.abs(tall).max(axis=(-2, -1)).all():
        raise DataError("A has a matrix of zeros, which has no polar factor: leave it out")
    tall = read_only(scaled(tall))
    judge = Judge(tall)
    best = {"distance": 0.0, "gain": 1.0, "asymmetry": 0.0, "indefiniteness": 0.0}
    return Instance(PolarOracle(tall), judge, best, violation=no_violation, nearest=unchanged)


def scaled(A: Array) -> Array:
    """Return each matrix times the power of two that puts its largest entry in [1/2, 1)."""
    _, exponents = np.frexp(np.abs(A).max(axis=(-2, -1), keepdims=True))
    return np.asarray(np.ldexp(A, -exponents))
