"""The maker and the judge of sparse PCA."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.columns import warn_of_constant
from orthobench_kit.dense import densified
from orthobench_kit.reading import array_of
from orthobench_kit.sparse import is_sparse

from orthobench.contract.exhibits import Curve
from orthobench.contract.problem import Instance, Solution
from orthobench.errors import DataError, UsageError
from orthobench.tools.arrays import Array, check_rows, matrix, whole
from orthobench.tools.geometry import unit_columns
from orthobench_sparse_pca.judge import (
    PENALIZED_METRICS,
    Judge,
)
from orthobench_sparse_pca.oracle import SparsePCAOracle
from orthobench_sparse_pca.result import sparse_components


def violation(solution: Solution) -> float:
    """Return the maximum deviation of a nonzero column of loadings from unit length."""
    norms = np.linalg.norm(solution.point, axis=0)
    return float(np.abs(norms[norms > 0] - 1).max(initial=0.0))


def nearest(solution: Solution) -> Solution:
    """Return the solution with columns of unit length, or of zeros."""
    return replace(solution, point=unit_columns(solution.point))


def delivered(solution: Solution) -> dict[str, Curve]:
    """Return the number of non-zero loadings of each component."""
    counts = np.count_nonzero(solution.point, axis=0) * 1.0
    return {"loadings": Curve(np.arange(len(counts)) + 1.0, counts, "component", "loadings")}


def sparse_pca(
    X: Any = None,
    m: int = 1,
    test: Any = None,
    *,
    center: bool = True,
    passes: int = 1,
    order: NDArray[np.intp] | None = None,
    cardinality: int | None = None,
    each: bool = True,
    samples: None = None,
) -> Instance[SparsePCAOracle]:
    """Make a sparse PCA instance of your own data.

    Parameters
    ----------
    X : anything that `orthobench_kit.reading.array_of` reads, shape (N, d)
        Samples in rows, copied to float64; sparse ones are made dense, up to 2 GiB.
        A constant column has loading 0.
    m : int
        Number of components, 1 <= m <= min(d, N).
    test : ndarray, shape (M, d), optional
        Samples that the judge measures on [default: `X`].
    center : bool
        Subtract the means of the columns of X, from the test part too. Pass False for centred data
        or second moments; sparse PCA is about covariances (Zou, Hastie and Tibshirani 2006;
        Journée et al. 2010, section 1).
    passes : int
        Maximum number of passes of streaming solvers over the samples.
    order : ndarray of int, shape (N,), optional
        The order of the samples for streaming solvers.
    cardinality : int, optional
        The maximum number of non-zero loadings: solvers are compared at it, without empty
        components. Methods with a penalty search for it. Without it each solver's own parameter
        counts.
    each : bool
        Whether that is the number of each component, or the total.
    samples : None
        No longer a parameter: refused.

    Returns
    -------
    Instance
        Its points are loadings (d, m), with the metrics of `orthobench_sparse_pca.judge.Judge`.

    Raises
    ------
    UsageError
        If m or the cardinality is out of range; if samples are passed by keyword.
    DataError
        If data are not a finite real matrix, X is constant, or the sum of squares underflows or
        overflows. If the order does not name all N samples.

    Notes
    -----
    Memory: N d numbers of float64. Divide X by its standard deviations for loadings of
    correlations.

    Examples
    --------
    >>> import numpy as np, orthobench as ob
    >>> X = np.random.default_rng(0).standard_normal((40, 200)) + 3
    >>> instance = ob.sparse_pca(X, m=3)
    >>> instance.oracle.n, instance.oracle.samples
    (200, 40)
    """
    if samples is not None:
        raise UsageError("samples are rows now: pass X.T")
    rows = _checked(X, "the data")
    n, d = rows.shape
    m = whole(m, "m", 1, min(d, n), f": there are {d} features and {n} samples")
    if cardinality is not None:
        cardinality = whole(cardinality, "cardinality", *((1, d) if each else (m, m * d)))
    held_out = None if test is None else _checked(test, "the test part")
    if held_out is not None and held_out.shape[1] != d:
        raise DataError(f"the test part has {held_out.shape[1]} features, the data {d}")
    if center:
        _centre(rows, held_out)
    train, held_out = rows.T, None if held_out is None else held_out.T
    oracle = SparsePCAOracle(train, m, passes, order)
    oracle.cardinality, oracle.each = cardinality, each
    return Instance(
        oracle,
        Judge(train, held_out, cardinality, each),
        violation=violation,
        nearest=nearest,
        exhibits=delivered,
        result=partial(sparse_components, oracle),
        conditional=PENALIZED_METRICS,
    )


def _checked(X: Any, what: str) -> Array:
    found = matrix(array_of(densified(X, what), what), what)
    copy = None if is_sparse(X) else True
    converted: Array = np.array(found, dtype=np.float64, order="C", copy=copy)
    check_rows(converted, what=f"{what}: sample")
    return converted


def _centre(rows: Array, held_out: Array | None) -> None:
    """Subtract the means of columns, in place; constant ones become zero exactly."""
    mean = rows.mean(axis=0)
    constant = _constant(rows)
    mean[constant] = rows[0, constant]
    if constant.all():
        raise DataError(f"X does not vary: its {len(rows)} samples are equal")
    warn_of_constant(constant, "X")
    rows -= mean
    if held_out is not None:
        held_out -= mean


def _constant(rows: Array) -> NDArray[np.bool_]:
    """Return which columns have equal entries; ends with the first block in which none has."""
    found, step = np.ones(rows.shape[1], np.bool_), 256
    for begin in range(0, len(rows), step):
        found &= (rows[begin : begin + step] == rows[0]).all(axis=0)
        if not found.any():
            break
    return found
