"""Solvers with a place to compute: `ArraySolver` and `SummarySolver`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from orthobench.contract.parameters import ParameterError, parameter
from orthobench.contract.problem import AnyProblem, Solution
from orthobench.contract.solver import OracleT_contra, Solver, StateT
from orthobench.errors import UsageError
from orthobench.tools.arrays import Array
from orthobench.tools.places import Place, place_of


@dataclass(frozen=True, kw_only=True)
class PlacedSolver(Solver[OracleT_contra, StateT]):
    """Base of solvers with a place to compute as a parameter: `ArraySolver`, `SummarySolver`.

    Parameters
    ----------
    on : str
        ``LIBRARY[:DEVICE][/DTYPE]``; ``"blocks"``, ``"dask:WORKERS"`` or ``"dask:ADDRESS"``.
    """

    on: str = parameter(
        "numpy",
        help="place to compute: LIBRARY[:DEVICE][/DTYPE], such as torch:cuda/float32; "
        "blocks, dask:WORKERS or dask:ADDRESS",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            place = place_of(self.on)
        except UsageError as error:
            raise ParameterError("on", str(error)) from None
        if not self.computes_on(place):
            raise ParameterError("on", elsewhere(place))
        object.__setattr__(self, "on", str(place))

    @property
    def place(self) -> Place:  # type: ignore[override]
        """The place to compute."""
        return place_of(self.on)

    @property
    def packages(self) -> tuple[str, ...]:  # type: ignore[override]
        """The distribution that computes there, NumPy excepted."""
        return self.place.packages

    def refuses(self, problem: AnyProblem) -> str | None:
        """Return why this solver cannot take a problem, or compute at its place; or None."""
        return super().refuses(problem) or self.place.missing()


def elsewhere(place: Place) -> str:
    """Return a sentence that a solver does not compute at a place."""
    if place.reduces:
        return f"it makes no summaries of blocks, which {place} takes"
    return f"it computes with numpy in float64 only, not with {place}"


class ArraySolver(PlacedSolver[OracleT_contra, StateT]):
    """Base of solvers that are written against the array API standard.

    All arrays of the oracle are at the place that users name. The solver gets their functions with
    ``xp = namespace(x)``, keeps to the standard (no writing into arrays, no einsum), and returns
    such arrays. Each value that `advance` reads back waits for the device: see
    `orthobench_kit.arrays` and `orthobench_kit.ending`. For NumPy it may call a compiled kernel.

    Class attributes
    ----------------
    readings : float
        Maximum number of values that a step reads back, besides that of its end.
    """

    readings: ClassVar[float] = 0

    @classmethod
    def computes_on(cls, place: Place) -> bool:
        """Return whether the place has arrays of a library, or another base computes there."""
        return not place.reduces or super().computes_on(place)

    def refuses(self, problem: AnyProblem) -> str | None:
        """Return why this solver cannot take a problem, or compute at its place; or None."""
        if why := super().refuses(problem):
            return why
        if not self.place.moves or problem.offers.portable:
            return None
        return f"{problem.name} has arrays of numpy only, not of {self.on}"


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The summary of some blocks, with numbers of samples and flops; subclasses add arrays."""

    rows: int
    flops: int = 0

    @property
    def size(self) -> int:
        """Bytes of its arrays and numbers."""
        return sum(_size(getattr(self, f.name)) for f in fields(self))


SummaryT = TypeVar("SummaryT", bound=Summary)


@dataclass(frozen=True)
class BlockOracle:
    """The values that all blocks of a pass share.

    Attributes
    ----------
    sizes : tuple of int
        `Oracle.sizes`: n, k, and further ones of the family.
    start : ndarray, shape (n, k)
    rows, number : int
        Number of samples of all blocks; number of the pass, from 0.
    seed : numpy.random.SeedSequence
    shared : mapping
        The value of `SummarySolver.proceed` after the last pass, such as a basis.
    """

    sizes: tuple[int, ...]
    start: Array
    rows: int
    seed: np.random.SeedSequence
    number: int = 0
    shared: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Rows of the point."""
        return self.sizes[0]

    @property
    def k(self) -> int:
        """Columns of the point."""
        return self.sizes[1]

    def rng(self) -> np.random.Generator:
        """Return the solver's stream from its beginning, equal for each block and pass."""
        return np.random.default_rng(self.seed)


class SummarySolver(
    PlacedSolver[OracleT_contra, StateT], Generic[OracleT_contra, StateT, SummaryT]
):
    """Base of solvers that summarize each block of samples, and merge summaries.

    On the places ``blocks`` and ``dask:...`` a step is a pass: `summarize` for each block, `merge`
    along a binary tree that only the number of blocks determines, and `finish`. On other places
    samples stream through `advance`. The three methods are pure: they change nothing, and equal
    arguments give equal bits, in any process.

    Class attributes
    ----------------
    passes : float
        Number of passes over the data; infinite if the budget ends the run. May be a parameter.
    merge_error : float
        Maximum sine of angles between solutions of other groupings of the same blocks in the
        conformance checks; 0 for equal bits.
    """

    passes: float = 1
    merge_error: ClassVar[float] = 1e-8

    @classmethod
    def computes_on(cls, place: Place) -> bool:
        """Return whether the place summarizes blocks, or another base computes there."""
        return place.reduces or super().computes_on(place)

    @abstractmethod
    def summarize(self, oracle: BlockOracle, block: Array) -> SummaryT:
        """Return the summary of a block.

        Parameters
        ----------
        oracle : BlockOracle
        block : ndarray, shape (rows, n)
            Finite, float64 or float32 in C order. Do not write into it, and keep no view of it.

        Raises
        ------
        UsageError
            If the parameters do not fit the instance.
        """

    @abstractmethod
    def merge(self, a: SummaryT, b: SummaryT) -> SummaryT:
        """Return the summary of two groups of blocks, those of `a` before those of `b`."""

    @abstractmethod
    def finish(self, oracle: BlockOracle, summary: SummaryT) -> Solution:
        """Return the solution from the summary of all blocks; timed as reading."""

    def flops(self, oracle: BlockOracle, summary: SummaryT) -> int:
        """Return the flops of a pass, by default those of the summary."""
        del oracle
        return summary.flops

    def proceed(self, oracle: BlockOracle, summary: SummaryT) -> Mapping[str, Any] | None:
        """Return `BlockOracle.shared` of the next pass, or None at convergence; on the clock."""
        del oracle, summary
        return {}


def _size(value: object) -> int:
    if isinstance(value, (tuple, list)):
        return sum(map(_size, value))
    return int(getattr(value, "nbytes", 8))
