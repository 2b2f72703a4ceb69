"""Problems: a `Problem` builds an `Instance`, which has an `Oracle` for solvers and a judge."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields, replace
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
    """A solution at one point of a run, in arrays that the solver never touches again.

    They are of float64, but for an `ArraySolver` that computes in another precision.

    Families whose solutions say more derive from it, such as
    `orthobench_stochastic_pca.RelaxedSolution`.

    Attributes
    ----------
    point : ndarray, shape (n, k)
        A matrix with orthonormal columns, or with whatever the family asks for instead.
    weights : ndarray, shape (k,), optional
        The weight of each column, in a decomposition.
    core : ndarray, shape (k, ..., k), optional
        The core tensor of a Tucker decomposition.
    tolerance : float, optional
        The residual, as `Instance.residual` measures it, that the solver says it ended below; 0
        for that of rounding, None if it says nothing.
    """

    point: Array
    weights: Array | None = None
    core: Array | None = None
    tolerance: float | None = None

    @property
    def in_float64(self) -> Self:
        """The same in float64; itself where it is that already."""
        if self.point.dtype == np.float64:
            return self
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        rounded: dict[str, Any] = {
            k: v.astype(np.float64) for k, v in values.items() if isinstance(v, np.ndarray)
        }
        return replace(self, **rounded)

    @property
    def is_finite(self) -> bool:
        """Whether point, weights and core are finite; the harness ends a run where they are not."""
        parts = (self.point, self.weights, self.core)
        return all(bool(np.isfinite(part).all()) for part in parts if part is not None)


@dataclass(slots=True)
class Work:
    """What a solver has done since the start of the run, in counts that no machine changes.

    Attributes
    ----------
    steps : int
        Steps, in the solver's own sense; they do not compare across solvers.
    samples : int
        Samples taken from the oracle.
    flops : int
        Additions, multiplications, divisions and square roots of the method as its paper states
        it, by closed formulae (`orthobench.contract.flops`), not of the implementation.
    """

    steps: int = 0
    samples: int = 0
    flops: int = 0


class Oracle(ABC):
    """All that a solver sees of an instance.

    A subclass is a capability: the data and functions that some solvers need, such as samples or
    a gradient. An oracle may have several capabilities, by deriving from several classes. To add
    a capability, write a new class; solvers name it in `Solver.needs`.

    Attributes
    ----------
    n, k : int
        Rows and columns of the point sought, a matrix with orthonormal columns.
    start : ndarray, shape (n, k)
        A random point with orthonormal columns, float64 and read-only. The harness sets it before
        ``init``, the same for all solvers of a comparison; solvers may begin there.
    window : int
        The most samples that the harness asks `prepare` for at once, but for solvers that rerun.
    place : Place
        Where its arrays are, `start` among them.
    components : int
        The parts of the constraint set that small steps do not leave, each of which a run begins
        on (`start_again`); 1 where one start is enough.

    Class attributes
    ----------------
    portable : bool
        Whether `to` is allowed: whether all that solvers call works on arrays of any library.
    shows : mapping
        The attributes that a black box sees beside `n`, `k` and `start`, each with what it is.
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
        """The sizes that compiled code depends on; each solver is warmed up once for each."""
        return (self.n, self.k)

    def to(self, place: Place) -> Self:
        """Return a copy whose arrays are at a place; the harness calls this off the clock.

        Raises
        ------
        UsageError
            Where the oracle is not `portable`.
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
        """Return an oracle of the same kind on little data: solvers are warmed up there.

        By default it is this one. Where one step may be a whole run, and nothing is compiled for a
        size, another one spares each run a second run off the clock.
        """
        return self

    def placed(self, values: NDArray[np.generic]) -> Any:
        """Return an array of `place`; never called on the clock."""
        return self.place.array(values) if self.place.moves else values

    def rewind(self, rng: np.random.Generator) -> None:  # noqa: B027 - most need nothing
        """Go back to the beginning of the data; the harness calls this before each run.

        Parameters
        ----------
        rng : numpy.random.Generator
            Draws whatever is random during the run. Ignore it where the data are fixed.
        """

    def start_again(self, number: int, rng: np.random.Generator) -> None:
        """Draw another start; where there are components, on each of them in turn.

        Parameters
        ----------
        number : int
            Of the starts before.
        rng : numpy.random.Generator
            Draws it.
        """
        del number
        self.start = self.placed(random_point(self.n, self.k, rng))

    def objective(self, solution: Solution) -> tuple[float, Work]:
        """Return what is minimized over several starts, and the work of computing it.

        Families that are not convex override it.

        Parameters
        ----------
        solution : Solution
            That a solver ended at, its arrays at `place`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no objective")

    def prepare(self, samples: int) -> None:  # noqa: B027 - most need nothing
        """Make the next samples ready; the harness calls this before each chunk, off the clock.

        Parameters
        ----------
        samples : int
            How many to have ready, those included that are ready and not taken yet; at most
            `window`, but for solvers with `reruns`.
        """

    @property
    def taken(self) -> int:
        """The samples that were taken in this run; a solver must count no fewer."""
        return 0

    def remaining(self) -> float:
        """Return how many samples are left in this run; infinite where they never end."""
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
"""The streams of an instance that a user makes: the same random numbers whatever the data."""


@dataclass(frozen=True)
class Instance(Generic[OracleT_co]):
    """A problem with its data: an oracle, which solvers see, and a judge, which they never see.

    The harness calls the functions below off the clock, and all but `measure` and `violation`
    only when the run is over.

    Attributes
    ----------
    oracle : Oracle
        All that solvers see.
    measure : callable
        The judge: ``measure(solution)`` returns metrics by name, finite floats. It is called for
        every recorded `Solution`, must not change it, and returns the same for the same solution.
    best : mapping
        The optimal values of those metrics for which they are known.
    violation : callable
        ``violation(solution)`` returns how far a solution is from the constraint. Above 1e-8, or
        what rounding explains in a lower precision, the run is infeasible. By default |U'U - I|_F
        of the point U.
    nearest : callable
        ``nearest(solution)`` returns the nearest feasible solution, at which points of a precision
        below float64 are measured. By default with the polar factor of the point; `unchanged`
        where the judge does that itself.
    finish : callable
        ``finish(solution)`` returns the last solution of a run completed by what solvers do not
        compute, such as the core of a Tucker basis. By default the solution as it is.
    exhibits : callable
        ``exhibits(solution)`` returns pictures of the finished solution by name, each an `Image`
        or a `Curve`. Called once a run, unless it failed. By default there are none.
    measure_after : callable, optional
        The judge where the truth moves with the samples: ``measure_after(solution, samples)`` is
        then called in place of `measure`, with the samples that the solver has taken. `measure`
        judges by the truth at the beginning.
    settle : callable, optional
        ``settle(solutions)`` is told the first and the last solution of a run that has no others,
        before they are measured: the judge may hold them to an optimum that costs less to find.
    result : callable, optional
        ``result(solution)`` returns what the finished solution says to users: a `Result` of its
        family. Called when it is read, after the run.
    conditional : tuple of str
        Metrics that `measure` reports of some solutions only, such as the rank of a relaxed one.
        A suite may name them, although a plain `Solution` does not have them.
    residual : str
        The metric that `Solution.tolerance` bounds: a run that ends by itself with more than 100
        times that counts as failed. By default there is none.
    streams : str
        The text that the random streams of runs follow from. The harness sets it where the instance
        is that of a recipe, so that both start at the same points.
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
        """Return what identifies it: the streams only if they are those of a recipe."""
        state = dict(vars(self))
        if self.streams == INSTANCE:
            del state["streams"]
        return state


class Problem(ABC, Generic[OracleT_co]):
    """A recipe for instances: parameters and a name, no data.

    Subclasses are frozen dataclasses whose fields are declared with `parameter`; they are cheap to
    make, compare by value, and can be hashed and pickled. Most derive from the base class of a
    family, which sets all class attributes but the name.

    Class attributes
    ----------------
    name : str
        One word, unique among all that is installed: ``"digits"``.
    family : str
        The family whose metrics the judge reports: ``"stochastic PCA"``.
    offers : type of Oracle
        The type of the oracle of its instances; a solver whose `Solver.needs` is another type
        refuses the problem.
    primary : str
        The metric that comparisons rank by; smaller is better, and zero is an optimum.
    tuned_by : str
        The metric that tuned parameters are chosen by; measured on validation data, where the
        problem has any.
    at : mapping
        Levels of another metric that solvers are compared at, where the primary metric can be
        improved at its expense: ``{"density": (0.05, 0.1)}``. A suite may say otherwise.
    source : str
        Where its data come from, if they are real.
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
        """Return an instance; called off the clock.

        Solvers that are compared on the same problem and seed share one instance, or get equal
        ones where they run in different processes.

        Parameters
        ----------
        rng : numpy.random.Generator
            Draws everything random in the instance.

        Raises
        ------
        DataError
            Where the data are missing or unfit.
        UsageError
            Where the parameters do not fit the data.
        """

    def checksum(self) -> str:
        """Return a digest of the data files that `build` reads; empty where it reads none.

        It is part of what identifies a run: where it changes, stored results no longer count.
        """
        return ""

    @classmethod
    def lack(cls, metrics: Mapping[str, float]) -> str:
        """Return what an approximate solution lacks, in the unit that users of the family know.

        Parameters
        ----------
        metrics : mapping
            What the judge reports of it; of several solutions the largest values.
        """
        value = metrics.get(cls.primary, float("nan"))
        return f"{cls.primary.replace('_', ' ')} {value:.2g}"


AnyProblem = Problem[Any]
AnyInstance = Instance[Any]
