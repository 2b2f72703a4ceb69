"""Problems: a `Problem` builds an `Instance`, which has an `Oracle` for solvers and a judge."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from orthobench.contract.exhibits import Exhibit
from orthobench.contract.parameters import check_parameters
from orthobench.contract.result import Result
from orthobench.errors import UsageError
from orthobench.tools.arrays import Array
from orthobench.tools.geometry import drift, polar, random_point
from orthobench.tools.places import DEFAULT, Place


@dataclass(frozen=True)
class Solution:
    """A solution at one point of a run, in arrays that never change later.

    They are of float64, except those of an `ArraySolver` in another precision.

    Attributes
    ----------
    point : ndarray, shape (n, k)
        Orthonormal columns, or what the family asks for.
    weights : ndarray, shape (k,), optional
        Weights of the columns of a decomposition.
    core : ndarray, shape (k, ..., k), optional
        Core tensor of a Tucker decomposition.
    tolerance : float, optional
        Claimed bound of `Instance.residual`; 0 for rounding, None for no claim.
    """

    point: Array
    weights: Array | None = None
    core: Array | None = None
    tolerance: float | None = None

    @property
    def in_float64(self) -> Self:
        """The same in float64."""
        if self.point.dtype == np.float64:
            return self
        arrays = ((k, v) for k, v in vars(self).items() if isinstance(v, np.ndarray))
        wider: dict[str, Any] = {name: array.astype(np.float64) for name, array in arrays}
        return replace(self, **wider)

    @property
    def is_finite(self) -> bool:
        """Whether point, weights and core are finite; if not, the run ends."""
        parts = (self.point, self.weights, self.core)
        return all(bool(np.isfinite(part).all()) for part in parts if part is not None)


@dataclass(slots=True)
class Work:
    """The work of a solver since the start of the run; it does not depend on the machine.

    Attributes
    ----------
    steps : int
        Steps in the solver's own sense.
    samples : int
        Samples taken from the oracle.
    flops : int
        Floating-point operations, by closed formulae (`orthobench.contract.flops`).
    """

    steps: int = 0
    samples: int = 0
    flops: int = 0


class Oracle(ABC):
    """The part of an instance that a solver sees.

    A subclass is a capability, such as samples or a gradient, which solvers name in
    `Solver.needs`. An oracle may derive from several.

    Attributes
    ----------
    n, k : int
        Rows and columns of the point.
    start : ndarray, shape (n, k)
        A random point with orthonormal columns, read-only, the same for all solvers. The harness
        sets it before ``init``, if `Solver.reads_start`.
    window : int
        Maximum number of samples that `prepare` gets at once, except for solvers that rerun.
    place : Place
        The place of its arrays.
    components : int
        Number of components of the constraint set; `start_again` begins on each of them.

    Class attributes
    ----------------
    portable : bool
        Whether its methods work on arrays of any library.
    shows : mapping
        Further attributes that a black box sees, with their meaning.
    """

    n: int
    k: int
    start: Array
    window: int = sys.maxsize
    place: Place = DEFAULT
    components: int = 1
    portable: ClassVar[bool] = False
    shows: ClassVar[Mapping[str, str]] = {}

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes that compiled code depends on; solvers are warmed up for each."""
        return (self.n, self.k)

    def to(self, place: Place) -> Self:
        """Return a copy whose arrays are at a place, off the clock.

        Raises
        ------
        UsageError
            If the oracle is not `portable`.
        """
        if not self.portable:
            raise UsageError(f"{type(self).__name__} has arrays of numpy only, not of {place}")
        moved = copy(self)
        moved.place = place
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(moved, name, moved.placed(value))
        return moved

    def miniature(self) -> Oracle:
        """Return an oracle on little data for the warm-up, if one step may be a whole run."""
        return self

    def placed(self, values: NDArray[np.generic]) -> Any:
        """Return an array at `place`, off the clock."""
        return self.place.array(values) if self.place.moves else values

    def rewind(self, rng: np.random.Generator) -> None:  # noqa: B027 - most need nothing
        """Go back to the beginning of the data before a run; `rng` draws random data."""

    def start_again(self, number: int, rng: np.random.Generator) -> None:
        """Draw another start, after `number` starts; cycle through the components."""
        del number
        self.start = self.placed(random_point(self.n, self.k, rng))

    def objective(self, solution: Solution) -> tuple[float, Work]:
        """Return the objective to minimise over several starts, and the work of computing it.

        The arrays of the solution are at `place`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no objective")

    def prepare(self, samples: int) -> None:  # noqa: B027 - most need nothing
        """Make a number of samples ready before a chunk of steps, off the clock."""

    @property
    def taken(self) -> int:
        """Number of samples taken in this run."""
        return 0

    def remaining(self) -> float:
        """Return the number of samples that are left in this run; infinite if they never end."""
        return float("inf")


OracleT_co = TypeVar("OracleT_co", bound=Oracle, covariant=True)


def unchanged(solution: Solution) -> Solution:
    """Return the solution as it is."""
    return solution


def _nearest_orthonormal(solution: Solution) -> Solution:
    return replace(solution, point=polar(solution.point))


def _no_exhibits(solution: Solution) -> Mapping[str, Exhibit]:
    del solution
    return {}


def _orthogonality_defect(solution: Solution) -> float:
    return drift(solution.point)


INSTANCE = "instance"
"""The streams of an instance that a user makes: equal random numbers for all data."""


@dataclass(frozen=True)
class Instance(Generic[OracleT_co]):
    """A problem with its data: an oracle, which solvers see, and a judge, which they never see.

    All functions are called off the clock.

    Attributes
    ----------
    oracle : Oracle
    measure : callable
        The judge: ``measure(solution)`` returns finite metrics by name. It must not change the
        solution, and must repeat.
    best : mapping
        Known optimal values of metrics.
    violation : callable
        ``violation(solution)`` returns the constraint violation, by default |U'U - I|_F. Above
        1e-8, or the rounding of a lower precision, the run is infeasible.
    nearest : callable
        ``nearest(solution)`` returns the nearest feasible solution, by default with the polar
        factor. Points below float64 are judged there.
    finish : callable
        ``finish(solution)`` completes the last solution, such as by the core of a Tucker basis.
    exhibits : callable
        ``exhibits(solution)`` returns an `Image` or a `Curve` of the finished solution by name.
    measure_after : callable, optional
        ``measure_after(solution, samples)`` replaces `measure` if the truth moves with the number
        of samples taken.
    settle : callable, optional
        ``settle(solutions)`` gets the first and the last solution of a run without others before
        they are judged, so that the judge may use a cheaper optimum.
    result : callable, optional
        ``result(solution)`` returns the `Result` of a finished solution, when it is read.
    conditional : tuple of str
        Metrics of some solutions only, such as the rank of a relaxed one.
    residual : str
        The metric that `Solution.tolerance` bounds; a converged run above 100 times that fails.
    streams : str
        The text that determines the random streams of runs; the harness sets it for a recipe.
    """

    oracle: OracleT_co
    measure: Callable[[Solution], Mapping[str, float]]
    best: Mapping[str, float] = field(default_factory=dict)
    violation: Callable[[Solution], float] = _orthogonality_defect
    nearest: Callable[[Solution], Solution] = _nearest_orthonormal
    finish: Callable[[Solution], Solution] = unchanged
    exhibits: Callable[[Solution], Mapping[str, Exhibit]] = _no_exhibits
    measure_after: Callable[[Solution, int], Mapping[str, float]] | None = None
    settle: Callable[[Sequence[Solution]], None] | None = None
    result: Callable[[Solution], Result] | None = None
    conditional: tuple[str, ...] = ()
    residual: str = ""
    streams: str = INSTANCE

    def __getstate__(self) -> dict[str, Any]:
        """Return the identity: the streams only if they are those of a recipe."""
        state = dict(vars(self))
        if self.streams == INSTANCE:
            del state["streams"]
        return state


class Problem(ABC, Generic[OracleT_co]):
    """A recipe for instances: parameters and a name, no data.

    Subclasses are frozen dataclasses with fields declared by `parameter`.

    Class attributes
    ----------------
    name : str
        One word, unique: ``"digits"``.
    family : str
        As ``"stochastic PCA"``.
    offers : type of Oracle
        The type of its oracles.
    primary : str
        The metric that decides; smaller is better, and zero is an optimum.
    tuned_by : str
        The metric that tuning minimises, on validation data if there are any.
    at : mapping
        Default levels of another metric at which solvers are compared, if the primary metric can
        improve at its expense: ``{"density": (0.05, 0.1)}``.
    source : str
        The source of real data.
    """

    name: ClassVar[str]
    family: ClassVar[str]
    offers: ClassVar[type[Oracle]]
    primary: ClassVar[str]
    tuned_by: ClassVar[str]
    at: ClassVar[Mapping[str, tuple[float, ...]]] = {}
    source: ClassVar[str] = ""

    def __post_init__(self) -> None:
        check_parameters(self)

    @abstractmethod
    def build(self, rng: np.random.Generator) -> Instance[OracleT_co]:
        """Return an instance; equal generators, which draw all random data, give equal ones.

        Raises
        ------
        DataError
            If the data are missing or unfit.
        UsageError
            If the parameters do not fit the data.
        """

    def checksum(self) -> str:
        """Return a digest of the data files of `build`, if any: a part of a run's identity."""
        return ""

    @classmethod
    def lack(cls, metrics: Mapping[str, float]) -> str:
        """Return the price of an approximate solution by its metrics, in the family's unit."""
        value = metrics.get(cls.primary, float("nan"))
        return f"{cls.primary.replace('_', ' ')} {value:.2g}"


AnyProblem = Problem[Any]
AnyInstance = Instance[Any]
