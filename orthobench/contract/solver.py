"""Solvers: a `Solver` is a method with its parameters, a `State` changes during a run."""

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
    """More steps would change nothing. The run ends, and counts."""
    COMPLETE = "complete"
    """All of its steps are done. The run ends, and counts."""
    FAILED = "failed"
    """It cannot go on. The run ends, and counts as a failure."""


@dataclass(slots=True, kw_only=True)
class State:
    """The changing values of a run; subclasses are dataclasses that can be pickled.

    Attributes
    ----------
    work : Work
        Counted by the solver, in ``init`` and in each step.
    status : Status
        Set by the solver; the run ends if it is no longer ``RUNNING``.
    reason : str
        A sentence for people, such as the cause of a failure.
    """

    work: Work = field(default_factory=Work)
    status: Status = Status.RUNNING
    reason: str = ""


OracleT_contra = TypeVar("OracleT_contra", bound=Oracle, contravariant=True)
StateT = TypeVar("StateT", bound=State)


class Solver(ABC, Generic[OracleT_contra, StateT]):
    """A method with its parameters.

    Subclasses are frozen dataclasses with fields declared by `parameter`. They define `init`,
    `solution`, and `step`, or `advance` if one kernel does many steps. The clock runs during
    `init` and `advance`. Equal seeds must give equal bits, for any division into calls.

    Class attributes
    ----------------
    name : str
        One word, unique: ``"oja"``.
    needs : type of Oracle
        The capability that it needs; by default the first argument of ``Solver[Oracle, State]``.
    source, doi : str
        Paper, algorithm or equation: ``"10.1038/s41592-019-0686-2"``.
    code, licence : str
        Address and licence of the code that it calls; by default those of the first of its
        `packages`.
    batch : int
        Maximum number of samples of a step; 0 without samples. May be a parameter.
    reads_start : bool
        Whether it reads `Oracle.start`, which is then drawn before each run.
    reruns : bool
        Whether each `advance` starts from the beginning and does all steps so far, since a library
        cannot be stepped. Seconds and flops are then those of ``init`` and the last call.
    converges : bool
        Whether it ends by its own test, with the status ``CONVERGED``.
    packages : tuple of str
        Distributions that it calls, as ``("scikit-learn",)``; without one it refuses every problem.
        Their versions are part of a run's identity.
    install : str
        The command that installs its `packages`, by default of pip.
    files : tuple of str
        Patterns of files outside of its package that runs load, from the folder of its module, as
        ``("../build/*.so",)``. Their contents are part of a run's identity.
    place : Place
        NumPy in float64, except for a `PlacedSolver`.
    """

    name: ClassVar[str]
    needs: ClassVar[type[Oracle]]
    source: ClassVar[str] = ""
    doi: ClassVar[str] = ""
    code: ClassVar[str] = ""
    licence: ClassVar[str] = ""
    reads_start: ClassVar[bool] = True
    reruns: ClassVar[bool] = False
    converges: ClassVar[bool] = False
    packages: ClassVar[tuple[str, ...]] = ()
    install: ClassVar[str] = ""
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
        """The solver from one start: itself, unless it restarts."""
        return self

    @classmethod
    def computes_on(cls, place: Place) -> bool:
        """Return whether it can compute at a place."""
        return place.is_default

    @abstractmethod
    def init(self, oracle: OracleT_contra, rng: np.random.Generator) -> StateT:
        """Return the state before the first step; called once a run, on the clock.

        Parameters
        ----------
        oracle : Oracle
            No samples are ready yet.
        rng : numpy.random.Generator
            The stream of this solver.

        Raises
        ------
        UsageError
            If the parameters do not fit the instance.
        """

    def step(self, oracle: OracleT_contra, state: StateT) -> None:
        """Do one step: change `state` in place, and count the step in ``state.work``.

        At least `batch` samples are ready, or all that are left. Do not write into arrays of the
        oracle.
        """
        raise NotImplementedError(f"{type(self).__name__} has neither step nor advance")

    def advance(self, oracle: OracleT_contra, state: StateT, count: int) -> None:
        """Do `count` steps, or fewer if the status leaves ``RUNNING``; called on the clock.

        By default it calls `step`. At least ``count * batch`` samples are ready, or all that are
        left.
        """
        for _ in range(count):
            if state.status is not Status.RUNNING:
                return
            self.step(oracle, state)

    @abstractmethod
    def solution(self, state: StateT) -> Solution:
        """Return the solution, in arrays that never change later; leave `state` as it is.

        Timed apart, as reading time.
        """

    def refuses(self, problem: AnyProblem) -> str | None:
        """Return why this solver cannot take a problem, or None; an override calls this first."""
        if issubclass(problem.offers, self.needs):
            return self.missing_packages()
        return f"needs a {self.needs.__name__}, {problem.name} offers {problem.offers.__name__}"

    def missing_packages(self) -> str | None:
        """Return a sentence on the `packages` that are not installed, or None."""
        missing = [name for name in self.packages if version(name) is None]
        words = " ".join(missing)
        return f"needs {words}: {self.install or f'pip install {words}'}" if missing else None


AnySolver = Solver[Any, Any]
