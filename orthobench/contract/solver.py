"""Solvers: a `Solver` is a method with its parameters, its `State` is what changes during a run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, Generic, TypeVar, get_args, get_origin

import numpy as np

from orthobench.contract.parameters import check_parameters
from orthobench.contract.problem import AnyProblem, Oracle, Solution
from orthobench.contract.problem import Work as Work
from orthobench.tools.environment import version
from orthobench.tools.places import DEFAULT, Place


class Status(Enum):
    """Whether a solver can go on."""

    RUNNING = "running"
    """It can do more steps."""
    CONVERGED = "converged"
    """It is done: more steps would change nothing. The run ends, and counts."""
    COMPLETE = "complete"
    """All of its steps are done, whatever they led to. The run ends, and counts."""
    FAILED = "failed"
    """It cannot go on. The run ends, and counts as a failure."""


@dataclass(slots=True, kw_only=True)
class State:
    """All that changes during a run; a run can be resumed from its pickle.

    Subclasses are dataclasses that add arrays, numbers and generators.

    Attributes
    ----------
    work : Work
        Counted by the solver, in ``init`` and in each step.
    status : Status
        Set by the solver; the run ends as soon as it is no longer ``RUNNING``.
    reason : str
        Why the solver failed, in a sentence for people. By default: the solution is not finite.
        When it is complete: what a user should know of its end.
        While it runs: what a budget that ends the run here leaves out.
    """

    work: Work = field(default_factory=Work)
    status: Status = Status.RUNNING
    reason: str = ""


OracleT_contra = TypeVar("OracleT_contra", bound=Oracle, contravariant=True)
StateT = TypeVar("StateT", bound=State)


class Solver(ABC, Generic[OracleT_contra, StateT]):
    """A method with its parameters.

    Subclasses are frozen dataclasses whose fields are declared with `parameter`. They write
    `init`, `step` and `solution`; or `advance` in the place of `step`, where many steps are done
    in one compiled kernel.

    The harness calls `init` once and then, in turns, `advance` and `solution`. The clock runs
    during `init` and `advance`. Equal seeds must give equal bits, and nothing may depend on how
    many steps are asked for at once.

    Class attributes
    ----------------
    name : str
        One word, unique among all that is installed: ``"oja"``.
    needs : type of Oracle
        The capability that it works on; problems that do not offer it are refused. It follows from
        ``Solver[Oracle, State]``; a class that takes more than its type says sets it.
    source : str
        Paper, algorithm or equation.
    doi : str
        Of the paper, or of the one that describes the library: ``"10.1038/s41592-019-0686-2"``.
    code, licence : str
        Where the code is that it calls, and under which licence. By default what the metadata of
        the first of its `packages` say.
    batch : int
        The most samples that one step takes from the oracle; 0 for solvers that take none. May be
        a parameter.
    reruns : bool
        Whether each call of `advance` starts from the beginning and does all steps so far, as it
        must where a library cannot be stepped. The seconds of a run are then those of ``init`` and
        of the last call, and ``work.flops`` those of the last call; they may fall from one
        checkpoint to the next. Checkpoints are a factor of 4 apart or more: all calls before the
        last do together fewer steps than that one.
    converges : bool
        Whether it ends by itself, by the status ``CONVERGED``. Runs of a solver that neither does
        nor takes samples need a budget in steps, seconds or flops.
    packages : tuple of str
        Distributions that it calls, as ``("scikit-learn",)``. Their versions are part of what
        identifies a run; where one is missing, the solver refuses every problem.
    files : tuple of str
        Files outside of its package that runs load, as ``("../build/*.so",)``, from the folder of
        its module. A run is made again once one of them has changed, as with all files of the
        package.
    place : Place
        Where it computes: NumPy in float64, but for a `PlacedSolver`.
    """

    name: ClassVar[str]
    needs: ClassVar[type[Oracle]]
    source: ClassVar[str] = ""
    doi: ClassVar[str] = ""
    code: ClassVar[str] = ""
    licence: ClassVar[str] = ""
    reruns: ClassVar[bool] = False
    converges: ClassVar[bool] = False
    packages: ClassVar[tuple[str, ...]] = ()
    files: ClassVar[tuple[str, ...]] = ()
    place: ClassVar[Place] = DEFAULT
    batch: int = 0

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        arguments = [a for base in vars(cls).get("__orig_bases__", ()) for a in get_args(base)]
        types = (get_origin(a) or a for a in arguments)
        oracles = [t for t in types if isinstance(t, type) and issubclass(t, Oracle)]
        if oracles and "needs" not in vars(cls):
            cls.needs = oracles[0]

    def __post_init__(self) -> None:
        check_parameters(self)

    @property
    def single(self) -> AnySolver:
        """The solver from one start: itself, but for one that starts again and again."""
        return self

    @classmethod
    def computes_on(cls, place: Place) -> bool:
        """Return whether users may have it compute at a place."""
        return place.is_default

    @abstractmethod
    def init(self, oracle: OracleT_contra, rng: np.random.Generator) -> StateT:
        """Return the state before the first step; called once a run, on the clock.

        Parameters
        ----------
        oracle : Oracle
            No samples are ready yet.
        rng : numpy.random.Generator
            A stream of this solver's own. Keep it in the state where steps draw from it.

        Raises
        ------
        UsageError
            Where the parameters do not fit the instance.
        """

    def step(self, oracle: OracleT_contra, state: StateT) -> None:
        """Do one step: change `state` in place, and count the step in ``state.work``.

        Parameters
        ----------
        oracle : Oracle
            At least `batch` samples are ready, or all that are left. Its arrays are shared: do
            not write into them.
        state : State
            It is ``RUNNING``.
        """
        raise NotImplementedError(f"{type(self).__name__} has neither step nor advance")

    def advance(self, oracle: OracleT_contra, state: StateT, count: int) -> None:
        """Do `count` steps, or fewer where the status leaves ``RUNNING``; called on the clock.

        ``advance(a)`` and then ``advance(b)`` must leave the same bits as ``advance(a + b)``. By
        default `step` is called `count` times.

        Parameters
        ----------
        oracle : Oracle
            At least ``count * batch`` samples are ready, or all that are left.
        state : State
            Changed in place.
        count : int
            At least 1.
        """
        for _ in range(count):
            if state.status is not Status.RUNNING:
                return
            self.step(oracle, state)

    @abstractmethod
    def solution(self, state: StateT) -> Solution:
        """Return the solution at this point of the run, in arrays that never change again.

        Called at every checkpoint and timed apart, as reading time. It must leave `state` as it
        is, since what is done here is not on the clock of the run.

        Parameters
        ----------
        state : State
        """

    def refuses(self, problem: AnyProblem) -> str | None:
        """Return why this solver cannot take a problem, or None; asked before anything runs.

        By default a solver takes the problems that offer what it `needs`. An override calls this
        first.

        Parameters
        ----------
        problem : Problem
        """
        if issubclass(problem.offers, self.needs):
            return self.missing_packages()
        return f"needs a {self.needs.__name__}, {problem.name} offers {problem.offers.__name__}"

    def missing_packages(self) -> str | None:
        """Return which of its `packages` are not installed, in a sentence; None where all are."""
        missing = [name for name in self.packages if version(name) is None]
        words = " ".join(missing)
        return f"needs {words}: pip install {words}" if missing else None


AnySolver = Solver[Any, Any]
