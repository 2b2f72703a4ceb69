"""Solvers that compute wherever users say: `ArraySolver` and `SummarySolver`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from orthobench.contract.parameters import ParameterError, parameter
from orthobench.contract.problem import AnyProblem, Oracle, Solution
from orthobench.contract.solver import OracleT_contra, Solver, State, StateT, Status, Work
from orthobench.errors import UsageError
from orthobench.tools.arrays import AnyArray, Array, namespace, where
from orthobench.tools.places import Place, place_of


@dataclass(frozen=True, kw_only=True)
class PlacedSolver(Solver[OracleT_contra, StateT]):
    """Base of solvers with a place to compute as a parameter: `ArraySolver`, `SummarySolver`.

    Parameters
    ----------
    on : str
        ``LIBRARY[:DEVICE][/DTYPE]``, such as ``"torch:cuda/float32"``; or where blocks of samples
        are summarized, ``"blocks"``, ``"dask:WORKERS"`` or ``"dask:ADDRESS"``.
    """

    on: str = parameter(
        "numpy",
        help="where to compute: LIBRARY[:DEVICE][/DTYPE], such as torch:cuda/float32; "
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
        """Where it computes."""
        return place_of(self.on)

    @property
    def packages(self) -> tuple[str, ...]:  # type: ignore[override]
        """The distribution that computes there, where that is not NumPy."""
        return self.place.packages

    def refuses(self, problem: AnyProblem) -> str | None:
        """Return why this solver cannot take a problem, or why nothing can be computed there."""
        return super().refuses(problem) or self.place.missing()


def elsewhere(place: Place) -> str:
    """Return a sentence that a solver does not compute at a place."""
    if place.reduces:
        return f"it makes no summaries of blocks, which {place} takes"
    return f"it computes with numpy in float64 only, not with {place}"


@dataclass(slots=True, kw_only=True)
class EndingState(State):
    """The state of an `ArraySolver` whose steps see whether they were the last.

    With NumPy a step sets the status. Elsewhere it would wait for the device to know: `finish_if`
    notes the end there, `unless_ended` keeps the iterate from then on, and `ArraySolver.advance`
    reads the note when all steps are asked for.

    Attributes
    ----------
    ended : array of shape (), optional
        Zero while it runs, else how many notes there were at the end, negative where it failed.
    notes : list of Work
        What was counted at each note since `advance` began.
    """

    ended: Any = None
    notes: list[Work] = field(default_factory=list)


def finish_if(state: EndingState, converged: Any, failed: Any = False) -> bool:
    """Set the status where a run ends, or note it on the device.

    Parameters
    ----------
    state : EndingState
    converged, failed : bool or array of shape ()
        Failure counts where both are true.

    Returns
    -------
    bool
        Whether it has ended; False where only the device knows.
    """
    if converged is False and failed is False:
        return False
    if not isinstance(converged, (bool, np.bool_)):
        _note(state, converged, failed)
        return False
    if failed or converged:
        state.status = Status.FAILED if failed else Status.CONVERGED
    return state.status is not Status.RUNNING


def _note(state: EndingState, converged: Any, failed: Any) -> None:
    xp = namespace(converged)
    state.notes.append(replace(state.work))
    none, number = xp.zeros_like(converged, dtype=xp.int32), len(state.notes)
    now = where(failed, none - number, xp.where(converged, none + number, none))
    state.ended = now if state.ended is None else xp.where(state.ended == 0, now, state.ended)


def unless_ended(state: EndingState, new: AnyArray, old: AnyArray) -> AnyArray:
    """Return the new iterate, or the old one where the run has ended before."""
    if state.ended is None:
        return new
    kept: AnyArray = namespace(new).where(state.ended == 0, new, old)
    return kept


def read_end(oracle: Oracle, state: EndingState) -> None:
    """Set status and work by what `finish_if` noted, the only reading; wait for the device."""
    number = 0 if state.ended is None else int(state.ended)
    if number:
        state.status = Status.FAILED if number < 0 else Status.CONVERGED
        state.work = state.notes[abs(number) - 1]
        state.work.samples = max(state.work.samples, oracle.taken)
    state.ended, state.notes = None, []


class ArraySolver(PlacedSolver[OracleT_contra, StateT]):
    """Base of solvers that are written against the array API standard.

    The oracle of a run has its arrays at the place that users name, `Oracle.start` and samples
    among them. The solver asks for their functions, ``xp = namespace(x)``, keeps to the standard
    (no writing into arrays, no einsum), and returns such arrays in its `Solution`. What it makes of
    NumPy arrays, such as random numbers, `like` moves there. In `advance` it should bring no value
    back to the host, since each one waits for the device: `orthobench.tools.arrays` and
    `EndingState` are for that. For NumPy it may call a compiled kernel of its own.

    Class attributes
    ----------------
    readings : float
        The most values that a step brings back to the host all the same. Each has a reason in the
        docstring of the solver. The one of `EndingState`, at the end of `advance`, does not count.
    """

    readings: ClassVar[float] = 0

    def advance(self, oracle: OracleT_contra, state: StateT, count: int) -> None:
        """Do `count` steps, or fewer where the status leaves ``RUNNING``; called on the clock."""
        super().advance(oracle, state, count)
        if isinstance(state, EndingState):
            read_end(oracle, state)

    @classmethod
    def computes_on(cls, place: Place) -> bool:
        """Return whether the arrays there are of a library, or what another base says."""
        return not place.reduces or super().computes_on(place)

    def refuses(self, problem: AnyProblem) -> str | None:
        """Return why this solver cannot take a problem, or why nothing can be computed there."""
        if why := super().refuses(problem):
            return why
        if not self.place.moves or problem.offers.portable:
            return None
        return f"{problem.name} has arrays of numpy only, not of {self.on}"


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What a solver keeps of some blocks; subclasses add arrays and numbers.

    It is pickled where it moves from one process to another, so it should be small.

    Attributes
    ----------
    rows, flops : int
        The samples that it summarizes, and the flops of making it, those of all summaries that were
        merged into it included.
    """

    rows: int
    flops: int = 0

    @property
    def size(self) -> int:
        """Bytes of its arrays and numbers."""
        return sum(_size(getattr(self, f.name)) for f in fields(self))


SummaryT = TypeVar("SummaryT", bound=Summary)


@dataclass(frozen=True)
class BlockOracle:
    """All that the blocks of a pass have in common.

    Attributes
    ----------
    sizes : tuple of int
        `Oracle.sizes`: n, k, and what else the family adds, as the order of a moment tensor.
    start : ndarray, shape (n, k)
        `Oracle.start`.
    rows, number : int
        Samples of all blocks together, and the number of the pass, from 0.
    seed : numpy.random.SeedSequence
        Of the solver's own stream.
    shared : mapping
        What `SummarySolver.proceed` returned after the pass before, such as a basis; empty in the
        first pass.
    """

    sizes: tuple[int, ...]
    start: Array
    rows: int
    seed: np.random.SeedSequence
    number: int = 0
    shared: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Rows of the point sought: features of a sample."""
        return self.sizes[0]

    @property
    def k(self) -> int:
        """Columns of the point sought."""
        return self.sizes[1]

    def rng(self) -> np.random.Generator:
        """Return the solver's own stream from its beginning, the same for each block and pass."""
        return np.random.default_rng(self.seed)


class SummarySolver(
    PlacedSolver[OracleT_contra, StateT], Generic[OracleT_contra, StateT, SummaryT]
):
    """Base of solvers that make a summary of each block of samples, and merge summaries.

    On the places ``blocks`` and ``dask:...`` the harness calls `summarize` for each block, `merge`
    along a binary tree that the number of blocks alone determines, and `finish` with what is left:
    that is a pass, and counts as one step. Elsewhere samples stream through `advance` as they do
    through any solver. The three verbs are pure: they change nothing, and equal arguments give
    equal bits, in whatever process.

    Class attributes
    ----------------
    passes : float
        Passes over the data after which the run is over; infinite where the budget ends it. May be
        a parameter.
    merge_error : float
        The sine of the largest angle between the solutions that other groupings of the same blocks
        give, on the small examples of the conformance checks; 0 where they give equal bits.
    """

    passes: float = 1
    merge_error: ClassVar[float] = 1e-8

    @classmethod
    def computes_on(cls, place: Place) -> bool:
        """Return whether blocks are summarized there, or what another base says."""
        return place.reduces or super().computes_on(place)

    @abstractmethod
    def summarize(self, oracle: BlockOracle, block: Array) -> SummaryT:
        """Return the summary of a block.

        Parameters
        ----------
        oracle : BlockOracle
        block : ndarray, shape (rows, n)
            Finite, at least one row, float64 or float32 in C order: do not write into it, and keep
            no view of it.

        Raises
        ------
        UsageError
            Where the parameters do not fit the instance.
        """

    @abstractmethod
    def merge(self, a: SummaryT, b: SummaryT) -> SummaryT:
        """Return the summary of two groups of blocks, those of `a` before those of `b`."""

    @abstractmethod
    def finish(self, oracle: BlockOracle, summary: SummaryT) -> Solution:
        """Return the solution after a pass; timed as reading.

        Parameters
        ----------
        oracle : BlockOracle
            That of the pass.
        summary : Summary
            Of all blocks.
        """

    def flops(self, oracle: BlockOracle, summary: SummaryT) -> int:
        """Return the flops of a pass, `finish` and `proceed` included.

        By default those of the summary.
        """
        del oracle
        return summary.flops

    def proceed(self, oracle: BlockOracle, summary: SummaryT) -> Mapping[str, Any] | None:
        """Return what the next pass shares, or None where the solver has converged.

        Called on the clock after each pass but the last.
        """
        del oracle, summary
        return {}


def _size(value: object) -> int:
    if isinstance(value, (tuple, list)):
        return sum(map(_size, value))
    return int(getattr(value, "nbytes", 8))
