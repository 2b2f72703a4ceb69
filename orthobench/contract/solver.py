"""How it is solved: a Solver is its parameters, its State is everything that changes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from orthobench.contract.parameters import check
from orthobench.contract.problem import AnyProblem, Oracle
from orthobench.contract.solution import Solution


class Status(Enum):
    """Where a solver is."""

    RUNNING = "running"
    CONVERGED = "converged"
    FAILED = "failed"


@dataclass(slots=True)
class Work:
    """What a solver has done so far, in counts that do not depend on the machine.

    Attributes
    ----------
    steps : int
        Steps, in the solver's own sense; they do not compare across methods.
    samples : int
        Samples drawn from the oracle.
    flops : int
        Additions and multiplications of the method as its paper states it, from closed
        formulae (`orthobench.tools.flops`).
    """

    steps: int = 0
    samples: int = 0
    flops: int = 0


@dataclass(slots=True, kw_only=True)
class State:
    """What changes while a solver runs; subclasses add their arrays. It must pickle.

    Attributes
    ----------
    work : Work
    status : Status
        FAILED ends the run as diverged.
    reason : str
        Why it failed, in a sentence for people; by default that the solution is not finite.
    """

    work: Work = field(default_factory=Work)
    status: Status = Status.RUNNING
    reason: str = ""


O_contra = TypeVar("O_contra", bound=Oracle, contravariant=True)
S = TypeVar("S", bound=State)


class Solver(ABC, Generic[O_contra, S]):
    """A method with its parameters; subclasses are frozen dataclasses.

    Write `init`, `step` and `solution`. Override `advance` where steps can be fused in one
    kernel; ``advance(a)`` then ``advance(b)`` must leave the same bits as ``advance(a + b)``.

    Class attributes
    ----------------
    name : str
        What users call it.
    needs : type of Oracle
        The capability that it works on.
    source : str
        Paper, algorithm or equation.
    batch : int
        Samples that one step draws, at most; a parameter, where users choose it.
    reruns : bool
        Whether each call of `advance` begins anew and does all steps so far once more, as it must
        where a library cannot be stepped. The clock then shows what ``init`` and the last call
        took: one run of so many steps, not the sum of all; so does ``work.flops``, which may fall
        where a run on more samples ends sooner.
    packages : tuple of str
        Distributions that it calls; their versions are part of what its results depend on.
    """

    name: ClassVar[str]
    needs: ClassVar[type[Oracle]]
    source: ClassVar[str] = ""
    reruns: ClassVar[bool] = False
    packages: ClassVar[tuple[str, ...]] = ()
    batch: int = 0

    def __post_init__(self) -> None:
        check(self)

    @abstractmethod
    def init(self, oracle: O_contra, rng: np.random.Generator) -> S:
        """Return the first state, on the clock; `rng` is the solver's own stream."""

    def step(self, oracle: O_contra, state: S) -> None:
        """Do one step, in place, and count it in ``state.work``."""
        raise NotImplementedError(f"{type(self).__name__} has neither step nor advance")

    def advance(self, oracle: O_contra, state: S, count: int) -> None:
        """Do `count` steps, in place, or fewer where the status leaves RUNNING."""
        for _ in range(count):
            if state.status is not Status.RUNNING:
                return
            self.step(oracle, state)

    @abstractmethod
    def solution(self, state: S) -> Solution:
        """Return the solution that `state` stands for, in fresh arrays."""

    def refuses(self, problem: AnyProblem) -> str | None:
        """Return why this solver cannot take `problem`, or None; asked before anything runs."""
        if issubclass(problem.offers, self.needs):
            return None
        return f"needs a {self.needs.__name__}, {problem.name} offers {problem.offers.__name__}"


AnySolver = Solver[Any, Any]
