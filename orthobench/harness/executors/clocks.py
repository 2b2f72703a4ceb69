"""The clock of a run, compared with what the operating system counts for its process."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from orthobench.harness.placement import WARM_UP
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.trace import Checkpoint, spent_seconds
from orthobench.tools.machine import Usage, queued, usage

SHARE = 0.2
"""Allowed time off the clock, as a share of the time on it."""

CPU_SECONDS = 0.25
"""Allowed CPU time off the clock, in seconds, for copies of samples and messages."""

BYTE_SECONDS = 1e-8
"""Allowed CPU time off the clock for each byte of samples and checkpoints, in seconds."""

IDLE_SECONDS = 2.0
"""Allowed wall-clock time off the clock, without waiting for a core, in seconds."""

BUSY, BUSY_SECONDS = 0.5, 0.005
"""Allowed use of a core, and CPU time in seconds, of a solver's process while its run is judged."""


class Meter:
    """Looks at the process of a solver: after its warm-up, after its run, and after judging."""

    def __init__(self, process: int) -> None:
        self._process = process
        self._looks: list[Usage | None] = []

    def look(self) -> None:
        """Look once more; time of waiting for a core is that of both processes."""
        used = usage(self._process)
        self._looks.append(used and replace(used, queued=used.queued + queued(os.getpid())))

    @property
    def used(self) -> list[Usage]:
        """The usage at each look; empty if one is unknown."""
        known = [look for look in self._looks if look]
        return known if len(known) == len(self._looks) else []

    @property
    def goes_on(self) -> bool:
        """Whether the process has children, or worked during judging, as native threads do."""
        used = self.used
        if len(used) < 3:
            return any(look.children for look in used[-1:])
        _, end, now = used
        cpu = now.cpu - end.cpu
        return now.children > 0 or (cpu > BUSY_SECONDS and cpu > BUSY * (now.wall - end.wall))

    def checked(
        self, stop: Termination, clock: float, threads: int, volume: int, served: float,
        orphans: int, may_idle: bool,
    ) -> Termination:  # fmt: skip
        """Return the end of a run: suspect if its clock is wrong, with a note if it was paused.

        Parameters
        ----------
        stop : Termination
        clock, threads, volume
            As in `suspicion`.
        served : float
            Seconds that the process waited for answers of this one.
        orphans : int
            Number of processes that it left.
        may_idle : bool
            Whether it computes on a device.
        """
        begin, end, now = self.used
        spent = Usage(
            end.wall - begin.wall, now.cpu - begin.cpu, end.queued - begin.queued + served,
            end.children + orphans, now.stolen - begin.stolen,
        )  # fmt: skip
        if doubt := suspicion(spent, clock, threads, volume):
            return Termination(RunStatus.SUSPECT, doubt)
        idle = spent.wall - (end.cpu - begin.cpu) - spent.queued - spent.stolen
        if may_idle or idle <= max(IDLE_SECONDS / 2, clock / 2):
            return stop
        note = f"its process did not run for {idle:.3g} s: it slept, or was paused"
        return replace(stop, reason=f"{stop.reason}; {note}")


def claimed_seconds(trace: Sequence[Checkpoint], reruns: bool, compiles: bool) -> float:
    """Return the time that a run claims: on the clock, and compiling after its first checkpoint."""
    warm = [checkpoint.extra_metrics.get(WARM_UP, 0.0) for checkpoint in trace if compiles]
    return spent_seconds(trace, reruns) + (warm[-1] - warm[0] if warm else 0.0)


def suspicion(spent: Usage, clock: float, threads: int, volume: int) -> str | None:
    """Return why a clock is wrong, or None.

    Parameters
    ----------
    spent : Usage
        Usage of the solver's process; `queued` is all waiting for others. Time that a host took is
        subtracted, because part of it counts as CPU time.
    clock : float
        From `claimed_seconds`.
    threads : int
        Threads of the solver.
    volume : int
        Size of samples and checkpoints, in bytes.
    """
    said = f"where its clock says {clock:.3g} s"
    if spent.children:
        return f"processes that the solver started were running at the end, {said}"
    cpu, wall = spent.cpu - spent.stolen, spent.wall - spent.queued - spent.stolen
    if cpu > (threads + SHARE) * clock + CPU_SECONDS + BYTE_SECONDS * volume:
        return f"the run took {cpu:.3g} s of CPU time {said}"
    if wall > (1 + SHARE) * clock + IDLE_SECONDS:
        return f"the run took {wall:.3g} s {said}"
    return None
