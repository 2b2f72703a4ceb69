"""What is solved: a recipe (Problem) builds an Instance, of which a solver sees the Oracle only."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from orthobench.contract.exhibits import Exhibit
from orthobench.contract.parameters import check
from orthobench.contract.solution import Solution
from orthobench.tools.arrays import Array
from orthobench.tools.geometry import drift


class Oracle(ABC):
    """What a solver may see of an instance; each subclass is a capability.

    An oracle may have several capabilities: derive it from several classes. A new
    capability is a new class, no list anywhere names them all.

    Attributes
    ----------
    n, k : int
        The point sought is ``(n, k)`` with orthonormal columns.
    start : ndarray, shape (n, k)
        A random orthonormal point, the same for all solvers of a comparison. The harness
        sets it before ``init``; a solver may use it or not, and must not write into it.
    window : int
        The most samples that `prepare` holds at once; the harness asks for no more.
    """

    n: int
    k: int
    start: Array
    window: int = sys.maxsize

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes that kernels and tables depend on: solvers are warmed up once for each."""
        return (self.n, self.k)

    def rewind(self, rng: np.random.Generator) -> None:  # noqa: B027 - most need nothing
        """Begin anew: what is random from here on is drawn from `rng`, a stream of its own.

        An oracle whose data are fixed ignores `rng`.
        """

    def prepare(self, samples: int) -> None:  # noqa: B027 - most need nothing
        """Get the next `samples` samples ready; called by the harness off the clock."""

    def remaining(self) -> float:
        """Return how many samples are left; infinite where they never end."""
        return float("inf")


O_co = TypeVar("O_co", bound=Oracle, covariant=True)


def as_it_is(solution: Solution) -> Solution:
    """Return the solution."""
    return solution


def no_exhibits(solution: Solution) -> Mapping[str, Exhibit]:
    """Return nothing to look at."""
    del solution
    return {}


def orthogonality(solution: Solution) -> float:
    """Return the orthogonality defect of a solution's point, |U'U - I|_F."""
    return drift(solution.point)


@dataclass(frozen=True)
class Instance(Generic[O_co]):
    """A problem with its data: the oracle for the solver, the judge for the harness.

    Attributes
    ----------
    oracle : Oracle
        All that the solver gets.
    measure : callable
        The judge: maps a `Solution` to metrics by name. The first is the primary one.
    best : mapping
        Optimal values of the metrics, where they are known.
    violation : callable
        How far a `Solution` is from the constraint; by default |U'U - I|_F of its point.
    finish : callable
        Completes the last `Solution` of a run, off the clock, with what no solver computes: the
        core of a basis, on request.
    exhibits : callable
        What the finished `Solution` of a run looks like, by name, for people
        (`orthobench.contract.exhibits`); called once, off the clock, where the run did not fail.
    conditional : tuple of str
        Metrics that the judge reports of some solutions only: a suite may ask for them, although
        a bare point has none.
    """

    oracle: O_co
    measure: Callable[[Solution], Mapping[str, float]]
    best: Mapping[str, float] = field(default_factory=dict)
    violation: Callable[[Solution], float] = orthogonality
    finish: Callable[[Solution], Solution] = as_it_is
    exhibits: Callable[[Solution], Mapping[str, Exhibit]] = no_exhibits
    conditional: tuple[str, ...] = ()


class Problem(ABC, Generic[O_co]):
    """A cheap, hashable recipe for an instance; subclasses are frozen dataclasses.

    Class attributes
    ----------------
    name : str
        What users call it.
    family : str
        The family whose metrics its judge reports: ``"stochastic PCA"``.
    offers : type of Oracle
        The type of the oracle that `build` returns.
    primary : str
        The metric that comparisons rank by; smaller is better.
    tuned_by : str
        The metric that tuned parameters are chosen by: on validation data, where there are any.
    at : mapping
        Where the primary metric is bought with another: values of that other metric at which
        solvers are compared, as ``{"density": (0.05, 0.1)}``, unless a suite says otherwise.
    """

    name: ClassVar[str]
    family: ClassVar[str]
    offers: ClassVar[type[Oracle]]
    primary: ClassVar[str]
    tuned_by: ClassVar[str]
    at: ClassVar[Mapping[str, tuple[float, ...]]] = {}

    def __post_init__(self) -> None:
        check(self)

    @abstractmethod
    def build(self, rng: np.random.Generator) -> Instance[O_co]:
        """Return the instance; everything random in it comes from `rng`.

        Raises
        ------
        DataError
            Where data are missing or unfit.
        """

    def checksum(self) -> str:
        """Return a digest of the data that the recipe refers to; empty where there are none."""
        return ""


AnyProblem = Problem[Any]
AnyInstance = Instance[Any]
