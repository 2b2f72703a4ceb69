"""What a run leaves behind: checkpoints, what was recorded at them, and the outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from orthobench.contract.exhibits import Exhibit
from orthobench.contract.solution import Solution
from orthobench.contract.solver import Work
from orthobench.harness.stopping import Stop
from orthobench.tools.arrays import Array


@dataclass(frozen=True, slots=True)
class Mark:
    """One checkpoint of a trace.

    Attributes
    ----------
    seconds : float
        On the clock so far, in ``init`` and ``advance``.
    reading : float
        Seconds that `Solver.solution` took here; not part of `seconds`.
    work : Work
        Steps, samples and flops so far.
    metrics : mapping
        The judge's metrics, and the constraint violation.
    """

    seconds: float
    reading: float
    work: Work
    metrics: Mapping[str, float] = field(default_factory=dict)


Journal: TypeAlias = Callable[[Mark, Solution], None]
"""Is told each point of a run as it is recorded."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run.

    Attributes
    ----------
    stop : Stop
        How and why the run ended.
    trace : tuple of Mark
        The checkpoints; empty where the run failed before its first.
    exhibits : mapping
        What the problem shows of the solution, by name, where the run did not fail.
    final : Solution, optional
        The last solution; a store does not keep it.
    error : Exception, optional
        What was raised; a store keeps its text, in `stop`.
    """

    stop: Stop
    trace: tuple[Mark, ...] = ()
    exhibits: Mapping[str, Exhibit] = field(default_factory=dict)
    final: Solution | None = None
    error: Exception | None = None

    @property
    def solution(self) -> Array | None:
        """The last point, ``(n, k)``; None where the solver failed before its first."""
        return None if self.final is None else self.final.point

    @property
    def weights(self) -> Array | None:
        """The weights of a decomposition, where the method has them."""
        return None if self.final is None else self.final.weights

    @property
    def core(self) -> Array | None:
        """The core tensor, where the method has one."""
        return None if self.final is None else self.final.core

    @property
    def stored(self) -> Outcome:
        """The outcome without what a store does not keep: the solution and the error."""
        return replace(self, final=None, error=None)

    @property
    def work(self) -> Work:
        """The work at the last checkpoint."""
        return self.trace[-1].work if self.trace else Work()


@dataclass
class Recording:
    """What a run leaves behind, also where it breaks off: points that are not judged yet.

    Attributes
    ----------
    marks : list of Mark
        Without metrics.
    solutions : list of Solution
        One for each mark.
    error : Exception, optional
        What the solver raised.
    """

    marks: list[Mark] = field(default_factory=list)
    solutions: list[Solution] = field(default_factory=list)
    error: Exception | None = None
