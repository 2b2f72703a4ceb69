"""Makes symmetric Tucker instances of your own tensor or samples."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import cached_property, partial
from math import inf, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.arrays import unshared
from orthobench_kit.reading import array_of, is_data, is_lazy
from orthobench_kit.rows import Rows
from orthobench_kit.streams import Sampler, source_of
from orthobench_kit.symmetric_tensors import checked_orthonormal, checked_tensor, symmetrized

from orthobench.contract.problem import Instance, Solution, unchanged
from orthobench.contract.samples import SampleSource
from orthobench.errors import DataError, UsageError
from orthobench.tools.arrays import Array, check_rows, matrix, whole
from orthobench_tucker.judge import DataTensor, FullTensor, Judge, SampleMoment, nearest, violation
from orthobench_tucker.oracle import (
    ComponentSolution,
    GivenTensorOracle,
    MomentOracle,
    MomentStream,
    TuckerOracle,
)
from orthobench_tucker.result import LARGEST_CORE, decomposition
from orthobench_tucker.sample_moments import vanishes

Samples: TypeAlias = "NDArray[np.generic] | SampleSource | Rows | Sampler | Iterable[Array]"

NEGLIGIBLE = 1e-13
"""Singular value that counts as rounding, relative to the largest."""

LARGEST = 1e300
"""Bound on |x|^(4d) of samples or on |T|⁴, and on its inverse."""


def symmetric_tucker(
    X: Samples | None = None,
    *,
    rank: int,
    order: int | None = None,
    tensor: NDArray[np.generic] | None = None,
    test: NDArray[np.generic] | None = None,
    validation: NDArray[np.generic] | None = None,
    basis: Array | None = None,
    core: bool = False,
    passes: int = 1,
    samples: object = None,
) -> Instance[TuckerOracle]:
    """Make a symmetric Tucker instance of your own tensor, or of your own samples.

    Parameters
    ----------
    X : array_like, shape (p, n), or a stream
        Samples in rows; their moment of order `order` is decomposed. A read-only array of float64
        in C order is not copied. A stream need not fit in memory: an iterable of samples (n,) or
        blocks (rows, n), a `SampleSource`, a Dask array, an HDF5 data set, a Zarr array, a
        scipy.sparse matrix, or an endless sampler ``sampler(rng, count) -> (count, n)``. Only
        streaming solvers take streams.
    rank : int
        Number of columns of the basis, 1 <= r <= n.
    order : int
        Order d >= 2 of the moment; with samples only.
    tensor : array_like, shape (n,) * d, d >= 2
        Instead of samples: symmetric up to rounding in single precision; it is copied.
    test : array_like, shape (p_test, n), optional
        Fresh samples for the judge; by default X. Needed for a stream.
    validation : array_like, shape (p_validation, n), optional
        Fresh samples for tuning.
    basis : ndarray, shape (n, r*), optional
        The true basis, orthonormal.
    core : bool
        Whether the solution of a run gets its core, r^d numbers, from the judge's samples.
    passes : int
        Number of passes of a stream through an array of samples.
    samples : object
        Refused: the name of an earlier parameter, with samples in columns.

    Returns
    -------
    Instance
        Its metrics are those of `orthobench_tucker.judge.Judge`.

    Raises
    ------
    UsageError
        If the rank is not a whole number from 1 to n, the order is below 2, or both samples and a
        tensor are given, or neither.
    DataError
        If data are not finite real numbers, not symmetric, all zero, or have moments that are zero,
        overflow or underflow. Streams are checked while they are read.

    Warns
    -----
    UserWarning
        If the rank is above that of the data, so that columns are arbitrary.

    Notes
    -----
    Checks take about (10 + 2r)pn flops for samples, dn^d + 2rn^d for a tensor.

    Examples
    --------
    >>> import numpy as np, orthobench as ob
    >>> X = np.random.default_rng(0).exponential(size=(500, 8)) * np.arange(1, 9)
    >>> instance = ob.symmetric_tucker(X, order=3, rank=2)
    >>> list(instance.measure(ob.Solution(np.eye(8)[:, -2:])))
    ['relative_error', 'objective', 'relative_gradient']
    """
    if samples is not None:
        raise UsageError("samples are rows now: pass X.T")
    if (tensor is None) == (X is None):
        raise UsageError("pass a tensor, or samples with an order: one of the two")
    if X is None:
        if order is not None or test is not None or validation is not None or passes != 1:
            raise UsageError("order, test, validation and passes go with samples, not a tensor")
        T = checked_tensor(tensor, 2, inf, "of shape (n,) * d with d >= 2")
        _check_scale(float(np.abs(T).max()), 4, sqrt(T.size), "the tensor")
        T, parts = symmetrized(T), {}
        rank = whole(rank, "rank", 1, len(T))
        _warn_of_rank(rank, T.reshape(len(T), -1), "the tensor")
        train: DataTensor | None = FullTensor(T)
        oracle: TuckerOracle = GivenTensorOracle(T, rank)
    else:
        order = whole(order, "the order of the moment of samples", 2)
        given = {"test": test, "validation": validation}
        parts = {
            part: _rows(data, order, f"{part} sample")
            for part, data in given.items()
            if data is not None
        }
        width = parts["test"].shape[1] if "test" in parts else None
        oracle, train = _of_samples(X, order, rank, width, passes)
    held = {
        part: SampleMoment(_of_width(rows, oracle.n, part), oracle.order)
        for part, rows in parts.items()
    }
    judged = held.get("test", train)
    if judged is None:
        raise UsageError("a stream needs a test part to be judged by")
    if basis is not None:
        basis = checked_orthonormal(basis, oracle.n, "the columns of the true basis")
    return _instance(oracle, Judge(judged, train, held.get("validation"), basis), core)


def _of_samples(
    samples: Samples, order: int, rank: int, width: int | None, passes: int
) -> tuple[MomentStream, DataTensor | None]:
    if isinstance(samples, np.ndarray) or not _streams(samples):
        X = _rows(samples, order, "sample")
        rank = whole(rank, "rank", 1, X.shape[1])
        _warn_of_rank(rank, X.T, "the samples")
        return MomentOracle(X, order, rank, passes), SampleMoment(X, order)
    source = source_of(samples, passes, width)
    return MomentStream(source, order, whole(rank, "rank", 1, source.d)), None


def _streams(samples: object) -> bool:
    if isinstance(samples, (list, tuple)):
        return not any(isinstance(sample, (list, tuple)) for sample in samples)
    stream = callable(samples) or isinstance(samples, (Iterable, SampleSource))
    return is_lazy(samples) or (stream and not is_data(samples))


def _warn_of_rank(rank: int, columns: Array, what: str) -> None:
    combined = columns @ np.random.default_rng(0).standard_normal((columns.shape[1], rank))
    values = np.linalg.svd(combined, compute_uv=False)
    there = int(np.count_nonzero(values > NEGLIGIBLE * values[0]))
    if there < rank:
        warnings.warn(
            f"rank = {rank} is above the rank of {what}, which is {there}: {rank - there} columns "
            "of the basis are arbitrary",
            stacklevel=3 if what == "the tensor" else 4,
        )


def _instance(oracle: TuckerOracle, judge: Judge, core: bool) -> Instance[TuckerOracle]:
    if judge.basis is not None and judge.true_objective == 0:
        raise DataError("the core of the true basis is zero: it is not that of these data")
    if core and oracle.k**oracle.order > LARGEST_CORE:
        raise UsageError(
            f"a core of {oracle.k}^{oracle.order} entries is more than {LARGEST_CORE}: leave it out"
        )
    finish = partial(_with_core, judge.test) if core else unchanged
    result = partial(decomposition, judge.test)
    return Instance(
        oracle, judge, violation=violation, nearest=nearest, finish=finish, result=result
    )


class _WithCore(Solution):
    """A basis whose core is computed when it is first read."""

    def __init__(self, solution: Solution, data: DataTensor) -> None:
        vars(self).update(point=solution.point, weights=solution.weights, data=data)

    @cached_property
    def core(self) -> Array:
        """The core of the basis."""
        data: DataTensor = vars(self)["data"]
        return data.core(self.point)

    def __reduce__(self) -> tuple[type[Solution], tuple[object, ...]]:
        return Solution, (self.point, self.weights, self.core)


def _with_core(data: DataTensor, solution: Solution) -> Solution:
    return solution if isinstance(solution, ComponentSolution) else _WithCore(solution, data)


def _rows(samples: object, order: int, what: str) -> Array:
    given = matrix(array_of(samples, f"the {what}s"), f"the {what}s")
    X = np.ascontiguousarray(given, dtype=np.float64)
    if np.may_share_memory(X, given):
        X = unshared(X)
    check_rows(X, what=what)
    largest = max(float(X.max()), -float(X.min()))
    if largest == 0:
        raise DataError(f"the {what}s are all zero: there is nothing to decompose")
    _check_scale(largest, 4 * order, sqrt(X.shape[1]), f"the {what}s")
    if vanishes(X, order):
        raise DataError(
            f"the moment of order {order} of the {what}s is zero, as odd ones of data symmetric "
            "about the origin are: there is nothing to decompose; take another order"
        )
    return X


def _check_scale(largest: float, power: int, spread: float, what: str) -> None:
    """Refuse data whose powers may overflow or underflow; |x| <= `spread` times `largest`."""
    most = LARGEST ** (1 / power)
    if not 1 / most <= largest <= most / spread:
        raise DataError(
            f"the largest entry of {what} is {largest:.3g}: its powers overflow or "
            f"underflow; rescale it to lie between {1 / most:.1e} and {most / spread:.1e}"
        )


def _of_width(part: Array, n: int, what: str) -> Array:
    if part.shape[1] != n:
        raise DataError(f"the {what} part has {part.shape[1]} variables, the samples have {n}")
    return part
