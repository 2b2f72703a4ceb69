"""The oracle of sparse PCA, its solutions, and the base class."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.sources import ArraySource

from orthobench.contract.parameters import parameter
from orthobench.contract.problem import AnyProblem, Oracle, Problem, Solution, Work
from orthobench.contract.samples import SampleOracle
from orthobench.contract.solver import AnySolver
from orthobench.errors import DataError
from orthobench.tools.arrays import Array, namespace
from orthobench.tools.flops import gemm, svd
from orthobench.tools.geometry import random_point
from orthobench.tools.places import Place

SMALL = 64
"""Features and samples of the matrix of a warm-up, beyond 2m."""

SQUARED_BYTES = 2**20
"""Approximate maximum bytes of squares in memory."""

UNDELIVERED = "undelivered"
"""The metric that is zero for solutions of the problem's cardinality."""


@dataclass(frozen=True)
class SparseSolution(Solution):
    """Sparse loadings: ``point`` is Z (d, m), with columns of unit length or of zeros.

    `gamma` is the l1 penalty of the method, absolute, or None.
    """

    gamma: float | None = field(default=None, kw_only=True)


class SparsePCAOracle(Oracle):
    """The data matrix, and a stream of its samples.

    ``n`` is the number of features d, ``k`` the number of components m. The stream has the methods
    of `orthobench.contract.SampleOracle`.

    Parameters
    ----------
    A : ndarray, shape (d, N)
        Features by samples.
    m : int
        Number of components.
    passes : int
        Number of passes of the stream over the samples.
    order : ndarray of int, shape (N,), optional
        The order of the samples in the stream [default: that of the columns].

    Attributes
    ----------
    A : ndarray, shape (d, N)
        In Fortran order: each sample is contiguous. Do not write into it.
    norms : ndarray, shape (d,)
        Norms of the rows of A. Penalties are relative to the largest.
    cardinality : int, optional
        The problem's number of non-zero loadings; without it each solver's own parameter counts.
    each : bool
        Whether it is that of each component, or the total.
    """

    portable: ClassVar[bool] = True
    shows: ClassVar[Mapping[str, str]] = {
        "X": "the samples (N, n) in rows; the k columns of the point have unit length, or are zero",
        "cardinality": "the non-zero loadings asked for, or None",
        "each": "whether they are asked for of each column, or in all",
    }
    cardinality: int | None = None
    each: bool = True

    def __init__(
        self, A: Array, m: int, passes: int = 1, order: NDArray[np.intp] | None = None
    ) -> None:
        self.A = np.asfortranarray(A).view()  # a view: the caller's array stays writable
        self.A.flags.writeable = False
        self.n, self.k = len(A), m
        self.norms: Array = _norms(self.A.T)
        source = ArraySource(self.A.T, order, passes)
        if source.length != self.samples:
            raise DataError(
                f"the order must name all {self.samples} samples, and names {source.length}"
            )
        self.stream = SampleOracle(source, m)
        self.window = self.stream.window

    @property
    def X(self) -> Array:
        """The samples in rows, a view."""
        return self.A.T

    @property
    def samples(self) -> int:
        """The number N of samples in A."""
        return int(self.A.shape[1])

    @property
    def longest(self) -> float:
        """The largest norm of a row."""
        return float(namespace(self.norms).max(self.norms))

    @property
    def unit(self) -> float:
        """A power of two: squares of data divided by it do not overflow.

        DataError if data are not finite, or their squares all underflow or overflow.
        """
        longest = self.longest
        if longest == 0.0:
            raise DataError("the data are so small that their squares underflow; rescale them")
        if not math.isfinite(longest):
            raise DataError("the data are not finite, or too large to be squared")
        return math.ldexp(1.0, math.frexp(longest)[1])

    def objective(self, solution: Solution) -> tuple[float, Work]:
        """Return gamma |Z|_1 - |A'Z|_*, without a penalty if the method has none."""
        host: Any = self.place.to_numpy if self.place.moves else np.asarray
        A, Z = host(self.A) / self.unit, host(solution.point)
        gamma = getattr(solution, "gamma", None) or 0.0
        explained = float(np.linalg.svd(A.T @ Z, compute_uv=False).sum())
        work = Work(flops=gemm(self.samples, self.k, self.n) + svd(self.samples, self.k))
        return gamma / self.unit * float(np.abs(Z).sum()) - explained, work

    def miniature(self) -> SparsePCAOracle:
        """Return an oracle of the same kind with a few random numbers, on the host."""
        if self.place.moves:
            return self
        rng, small = np.random.default_rng(0), copy(self)
        shape = [min(size, SMALL + 2 * self.k) for size in self.A.shape]
        SparsePCAOracle.__init__(small, rng.standard_normal(shape), self.k)
        small.start = random_point(small.n, small.k, rng)
        if self.cardinality is not None:
            small.cardinality = min(self.cardinality, small.n)
        return small

    def to(self, place: Place) -> Self:
        moved = super().to(place)
        moved.stream = self.stream.to(place)
        return moved

    def rewind(self, rng: np.random.Generator) -> None:
        self.stream.rewind(rng)

    def prepare(self, samples: int) -> None:
        self.stream.prepare(samples)

    @property
    def taken(self) -> int:
        return self.stream.taken

    def remaining(self) -> float:
        return self.stream.remaining()

    def take(self, count: int) -> Any:
        """Return the next samples (count, d), read-only."""
        return self.stream.take(count)


def _norms(rows: Array) -> Array:
    """Return the norms of columns, with the squares of a block at a time."""
    step = max(1, SQUARED_BYTES // (8 * rows.shape[1]))
    dtype = rows.dtype if rows.dtype.kind == "f" else np.dtype(np.float64)
    squares = np.zeros((min(step, len(rows)) + 1, rows.shape[1]), dtype)
    for begin in range(0, len(rows), step):
        block = rows[begin : begin + step]
        np.multiply(block, block, out=squares[1 : len(block) + 1])
        squares[0] = squares[: len(block) + 1].sum(axis=0)
    return np.asarray(np.sqrt(squares[0]))


def gamma_parameter(default: float, unit: str) -> Any:
    """Declare the parameter ``gamma``, the penalty relative to the quantity `unit`.

    All solvers have the same grid.
    """
    return parameter(
        default,
        help="penalty; loadings are fewer if it is larger",
        unit=unit,
        low=0.0,
        below=1.0,
        grid=(0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8),
    )


def loadings_parameter() -> Any:
    """Declare the parameter ``loadings`` of a solver that finds U first, and Z from U."""
    return parameter(
        "filled",
        choices=("filled", "thresholded"),
        help="in the pattern found: those of largest variance, or AU less the penalty",
    )


def settled(solver: AnySolver, problem: AnyProblem, name: str) -> str | None:
    """Return why a solver does not take a problem with this value of a parameter, or None.

    If a problem asks for a cardinality, `gamma` and a solver's own `cardinality` have no effect.
    """
    if getattr(problem, "cardinality", None) is None:
        return None
    default = getattr(type(solver)(), name)
    if getattr(solver, name) == default:
        return None
    return f"{name} has no effect where the problem asks for a cardinality: leave it out"


class SparsePCA(Problem[SparsePCAOracle]):
    """Base of the problems of this family, with parameters m and cardinality.

    Without a cardinality solvers are compared at levels of density.
    """

    family: ClassVar[str] = "sparse PCA"
    offers: ClassVar[type[SparsePCAOracle]] = SparsePCAOracle
    primary: ClassVar[str] = "unexplained_variance"
    tuned_by: ClassVar[str] = "training_unexplained_variance"

    m: int
    cardinality: int | None = None

    @property
    def at(self) -> Mapping[str, tuple[float, ...]]:  # type: ignore[override]
        """Zero undelivered loadings, or levels of density without a cardinality."""
        return {UNDELIVERED: (0.0,)} if self.cardinality else {"density": (0.05, 0.1, 0.2)}

    @property
    @abstractmethod
    def samples(self) -> int | None:
        """The number N of training samples; None if unknown before reading."""
