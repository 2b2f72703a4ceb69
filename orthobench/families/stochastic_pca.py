"""Stochastic PCA: find the k-dimensional subspace of largest uncentred variance from samples.

maximize tr(U'CU) subject to U'U = I, where C = E[xx'] and only samples x are seen
(Arora, Cotter and Srebro 2013, equation 2.1).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from orthobench.arrays import Array
from orthobench.errors import DataError, UsageError
from orthobench.geometry import subspace_error
from orthobench.problem import Instance, Problem
from orthobench.samples import (
    ArraySource,
    IteratorSource,
    SampleOracle,
    Sampler,
    SamplerSource,
    SampleSource,
    check_rows,
)
from orthobench.solution import Solution

JUDGE_BYTES = 256 * 2**20
"""Most memory that the judge takes for its rows where it picks them itself."""


@dataclass(frozen=True)
class RelaxedSolution(Solution):
    """A solution read off a feasible matrix M of the convex relaxation (equation 3.3).

    M = vectors diag(values) vectors' + floor (I - vectors vectors').

    Attributes
    ----------
    vectors : ndarray, shape (n, m)
        Eigenvectors of M whose eigenvalues differ from `floor`.
    values : ndarray, shape (m,)
        Their eigenvalues, in [0, 1].
    floor : float
        The eigenvalue of all other directions; zero where M has rank m.
    """

    vectors: Array = field(kw_only=True)
    values: Array = field(kw_only=True)
    floor: float = field(default=0.0, kw_only=True)

    @property
    def rank(self) -> int:
        """The rank of M."""
        return len(self.vectors) if self.floor > 0 else int(np.count_nonzero(self.values))


class StochasticPCA(Problem[SampleOracle]):
    """Base of the problems of this family: what its judge reports and what it ranks by."""

    family: ClassVar[str] = "stochastic PCA"
    offers: ClassVar[type[SampleOracle]] = SampleOracle
    primary: ClassVar[str] = "suboptimality"
    tuned_by: ClassVar[str] = "validation_suboptimality"


class SecondMoment(ABC):
    """A second-moment matrix C = E[xx'] that the judge can ask for variances."""

    d: int

    @abstractmethod
    def variances(self, V: Array) -> Array:
        """Return v'Cv for each column v of `V`, shape (d, m)."""

    @property
    @abstractmethod
    def trace(self) -> float:
        """The total variance tr C."""

    @abstractmethod
    def leading(self, k: int) -> tuple[Array, Array]:
        """Return the k largest eigenvalues, descending, and their eigenvectors (d, k)."""


class DenseMoment(SecondMoment):
    """C given as a (d, d) matrix."""

    def __init__(self, C: Array) -> None:
        C = np.asarray(C, dtype=np.float64)
        if C.ndim != 2 or C.shape[0] != C.shape[1]:
            raise DataError(f"the covariance must be square, not of shape {C.shape}")
        check_rows(C)
        if not np.allclose(C, C.T, rtol=0, atol=1e-10 * np.abs(C).max()):
            raise DataError("the covariance is not symmetric")
        self.C, self.d = C, len(C)

    def variances(self, V: Array) -> Array:
        """Return v'Cv for each column; 2d²m flops."""
        variances: Array = np.einsum("ij,ij->j", V, self.C @ V)
        return variances

    @cached_property
    def trace(self) -> float:
        """The total variance."""
        return float(np.trace(self.C))

    def leading(self, k: int) -> tuple[Array, Array]:
        """Return the k leading eigenpairs; 9d³ flops."""
        values, vectors = self._spectrum
        return values[:k], vectors[:, :k]

    @cached_property
    def _spectrum(self) -> tuple[Array, Array]:
        values, vectors = np.linalg.eigh(self.C)
        return values[::-1], np.ascontiguousarray(vectors[:, ::-1])


class RowMoment(SecondMoment):
    """C = X'X / n of fewer rows than features, never formed."""

    def __init__(self, X: Array) -> None:
        self.X, self.d = X, X.shape[1]

    def variances(self, V: Array) -> Array:
        """Return v'Cv for each column; 2ndm flops."""
        P = self.X @ V
        variances: Array = np.einsum("ij,ij->j", P, P) / len(self.X)
        return variances

    @cached_property
    def trace(self) -> float:
        """The total variance."""
        return float(np.einsum("ij,ij->", self.X, self.X)) / len(self.X)

    def leading(self, k: int) -> tuple[Array, Array]:
        """Return the k leading eigenpairs, from the (n, n) Gram matrix; zeros beyond n."""
        values, vectors = self._spectrum
        return values[:k], vectors[:, :k]

    @cached_property
    def _spectrum(self) -> tuple[Array, Array]:
        _, s, Vt = np.linalg.svd(self.X, full_matrices=False)
        return s**2 / len(self.X), np.ascontiguousarray(Vt.T)


def second_moment(source: ArraySource) -> SecondMoment:
    """Return the second moment of all rows of a source, in the cheaper of two forms."""
    if source.length < source.d:
        X = np.concatenate(list(source.one_pass()))
        check_rows(X)
        return RowMoment(X)
    C = np.zeros((source.d, source.d))
    first = 0
    for block in source.one_pass():
        check_rows(block, first)
        C += block.T @ block
        first += len(block)
    return DenseMoment(C / source.length)


class Judge:
    """Measures solutions on data that no solver sees.

    Parameters
    ----------
    test : SecondMoment
        Of the test part or the population: what is reported.
    validation : SecondMoment, optional
        What parameters are tuned on.
    k : int
    """

    def __init__(self, test: SecondMoment, k: int, validation: SecondMoment | None = None) -> None:
        self.test, self.validation, self.k = test, validation, k
        values, self.subspace = test.leading(k)
        self.attainable = float(values.sum())

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return the metrics; suboptimality, the primary one, first.

        ``suboptimality`` is the best attainable tr(U'CU) minus the achieved;
        ``explained_variance_ratio`` is tr(U'CU) / tr C; ``subspace_error`` is |(I - UU')U*|_F.
        Of a `RelaxedSolution` also ``relaxed_suboptimality``, of tr(MC), and its ``rank``.
        """
        achieved = float(self.test.variances(solution.point).sum())
        metrics = {
            "suboptimality": self.attainable - achieved,
            "explained_variance_ratio": achieved / self.test.trace if self.test.trace else 0.0,
            "subspace_error": subspace_error(solution.point, self.subspace),
        }
        if isinstance(solution, RelaxedSolution):
            metrics["relaxed_suboptimality"] = self.attainable - self._relaxed(solution)
            metrics["rank"] = float(solution.rank)
        if self.validation is not None:
            held_out = float(self.validation.variances(solution.point).sum())
            best = float(self.validation.leading(self.k)[0].sum())
            metrics["validation_suboptimality"] = best - held_out
        return metrics

    def _relaxed(self, solution: RelaxedSolution) -> float:
        variances = self.test.variances(solution.vectors)
        excess = float(variances @ (solution.values - solution.floor))
        return excess + solution.floor * self.test.trace


def stochastic_pca(
    train: NDArray[np.generic] | ArraySource | Sampler | Iterable[Array],
    k: int,
    validation: NDArray[np.generic] | ArraySource | None = None,
    test: NDArray[np.generic] | ArraySource | None = None,
    *,
    covariance: Array | None = None,
    passes: int = 1,
) -> Instance[SampleOracle]:
    """Make a stochastic PCA instance of your own data.

    Parameters
    ----------
    train : ndarray (n, d), memory map, iterable of rows or blocks, or sampler
        What solvers see, row by row in this order. A sampler is a function
        ``sampler(rng, count) -> (count, d)``.
    k : int
        Dimension of the subspace, 1 <= k <= d.
    validation, test : ndarray, shape (n, d), optional
        Data for tuning and for the judge. Without a test part the judge uses `covariance`, or
        else rows spread evenly over the training part (at most 256 MiB of them).
    covariance : ndarray, shape (d, d), optional
        The true second moment E[xx'], where it is known; needed for samplers and iterators
        without a test part.
    passes : int
        How often an array is gone through; one pass is the stochastic setting.

    Returns
    -------
    Instance
        Its metrics are those of `Judge`.

    Raises
    ------
    UsageError
        On k < 1 or k > d, or where there is nothing to judge by.
    DataError
        On data that are not a finite real matrix; names the row. Training rows are checked
        when they are read.

    Examples
    --------
    >>> import numpy as np, orthobench as ob
    >>> X = np.random.default_rng(0).standard_normal((500, 20)) * np.linspace(2, 1, 20)
    >>> outcome = ob.solve("oja", ob.stochastic_pca(X, k=3), step=0.1)
    >>> outcome.solution.shape
    (20, 3)
    """
    source = _source(train, passes, covariance, test)
    if not 1 <= k <= source.d:
        raise UsageError(f"k must be between 1 and d = {source.d}, not {k}")
    judge = Judge(
        _test_moment(source, test, covariance),
        k,
        None if validation is None else _moment(validation, source.d, "validation"),
    )
    return Instance(SampleOracle(source, k), judge, {"suboptimality": 0.0, "subspace_error": 0.0})


def _source(
    train: NDArray[np.generic] | ArraySource | Sampler | Iterable[Array],
    passes: int,
    covariance: Array | None,
    test: NDArray[np.generic] | ArraySource | None,
) -> SampleSource:
    if isinstance(train, ArraySource):
        return train
    if isinstance(train, np.ndarray):
        return ArraySource(train, passes=passes)
    if callable(train):
        if covariance is None and test is None:
            raise UsageError("a sampler needs its covariance or a test part to be judged by")
        known = covariance if covariance is not None else _rows(test)
        return SamplerSource(train, known.shape[1])
    return IteratorSource(train)


def _test_moment(
    source: SampleSource,
    test: NDArray[np.generic] | ArraySource | None,
    covariance: Array | None,
) -> SecondMoment:
    if test is not None:
        return _moment(test, source.d, "test")
    if covariance is not None:
        return _of_width(DenseMoment(covariance), source.d, "covariance")
    if not isinstance(source, ArraySource):
        raise UsageError("an iterator of samples needs a test part or a covariance to be judged by")
    return second_moment(_spread(source))


def _spread(source: ArraySource) -> ArraySource:
    rows = min(source.length, max(1, JUDGE_BYTES // (8 * source.d)))
    at = np.linspace(0, source.length - 1, rows).astype(np.intp)
    order = at if source.order is None else source.order[at]
    return ArraySource(source.rows, order, scale=source.scale, centre=source.centre)


def _moment(data: NDArray[np.generic] | ArraySource, d: int, part: str) -> SecondMoment:
    source = data if isinstance(data, ArraySource) else ArraySource(data)
    return _of_width(second_moment(source), d, f"{part} part")


def _of_width(moment: SecondMoment, d: int, what: str) -> SecondMoment:
    if moment.d != d:
        raise DataError(f"the {what} has {moment.d} features, the training part {d}")
    return moment


def _rows(data: NDArray[np.generic] | ArraySource | None) -> NDArray[np.generic]:
    rows = data.rows if isinstance(data, ArraySource) else data
    return np.empty((0, 0)) if rows is None else rows
