"""A side's worker process, seen from the installation that compares."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orthobench.compare import remote
from orthobench.compare.options import Options
from orthobench.compare.sides import Side
from orthobench.contract.solver import Work
from orthobench.errors import OrthobenchError
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.trace import Checkpoint
from orthobench.results.runs import ProblemInfo, Run, SolverInfo
from orthobench.stats.run_pairs import Key
from orthobench.tools.processes import Process, ProcessError, reason_of

STARTING = 120.0
"""Minimum patience with a request that is no run, in seconds: a busy machine imports slowly."""


class SideError(OrthobenchError):
    """A side's process raised, died or hung."""


class SideProcess(Process):
    """A worker of one side.

    Parameters
    ----------
    side : Side
        With its interpreter.
    options : Options
        Its clock, and the maximum time of a request before the process is killed.
    request : mapping, optional
        Arguments of the request ``plan``, which is sent at once.
    """

    def __init__(
        self, side: Side, options: Options, request: Mapping[str, Any] | None = None
    ) -> None:
        threads = int(request["tables"].get("threads", 1)) if request else 1
        try:
            super().__init__(
                "orthobench_remote.worker", {"clock": options.clock}, threads,
                codec="json", python=side.python, package=Path(remote.__file__).parent,
            )  # fmt: skip
        except OSError as error:
            raise SideError(f"{side} cannot be started: {error}") from None
        self.limit = options.patience
        if request:
            self.request("plan", distributions=side.distributions, **request)

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        """Send a request, and return its reply."""
        self.request(do, **arguments)
        return self.reply()

    def request(self, do: str, **arguments: Any) -> None:
        """Send a request; `reply` returns its reply."""
        self.send({"do": do, **arguments})

    def reply(self, patience: float | None = None) -> dict[str, Any]:
        """Return the reply to the oldest request without one.

        Parameters
        ----------
        patience : float, optional
            Maximum seconds [default: those of a run, at least `STARTING`].

        Raises
        ------
        SideError
            If the side raised, died, or took too long and was killed.
        """
        try:
            reply: dict[str, Any] = self.receive(patience or max(self.limit, STARTING))
        except (ProcessError, TimeoutError) as error:
            raise SideError(str(error)) from None
        if "error" in reply:
            raise SideError(reply["error"])
        if reply.get("ended"):
            raise SideError(str(ProcessError(reason_of(reply["ended"]), self.last_words)))
        return reply

    def outcome(self) -> dict[str, Any]:
        """Return the reply to ``run``; if the worker died, that of a failed run."""
        try:
            return self.reply(self.limit)
        except SideError as error:
            return {"status": "error", "reason": str(error)}


def run_of(key: Key, reply: Mapping[str, Any]) -> Run:
    """Return the run in a worker's reply."""
    problem, solver, seed = key
    primary = reply.get("primary", "")
    trace = tuple(
        Checkpoint(0.0, 0.0, Work(steps, samples, flops), {primary: value})
        for steps, samples, flops, value in reply.get("trace", ())
    )
    return Run(
        "", ProblemInfo(problem, problem, {}, "", primary, primary),
        SolverInfo(solver, {"on": reply.get("on", "numpy")}), seed,
        Termination(RunStatus(reply["status"]), reply["reason"]), trace, reply.get("budget", {}),
    )  # fmt: skip
