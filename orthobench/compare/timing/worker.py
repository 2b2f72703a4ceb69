"""One side of a comparison at work: run as a script by that side's interpreter.

It is the comparing installation's file, so that both sides speak the same protocol; what it
imports is the side's own orthobench. Requests and replies are JSON, one a line, over the standard
streams; what solvers print goes to standard error.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping
from typing import IO, Any

FORKS = hasattr(os, "fork")

CLOCKS = {"cpu": time.process_time_ns, "wall": time.perf_counter_ns}


class Worker:
    """Answers requests about the cells of one suite.

    Parameters
    ----------
    clock : str
        ``"cpu"``, seconds of this process, or ``"wall"``.
    """

    def __init__(self, clock: str) -> None:
        self._clock = CLOCKS[clock]
        self._planned: dict[str, Any] = {}

    def suite(self, name: str) -> dict[str, Any]:
        """Return the text of a suite that is known here by name."""
        from orthobench.registry.plugins import catalogue

        return {"text": catalogue().suite(name).read_text(encoding="utf-8")}

    def plan(self, text: str, name: str, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Plan every cell of a suite that can be planned here, and say why the others cannot."""
        from orthobench._version import __version__
        from orthobench.harness import run as harness
        from orthobench.registry.plugins import catalogue

        if not hasattr(harness, "timed"):
            raise RuntimeError(f"orthobench {__version__} is too old to be compared live")
        table = {**tomllib.loads(text), **changes}
        cells, absent = [], []
        for part in _parts(table):
            try:
                cells += list(self._planned_part(part, name))
            except Exception as error:
                absent.append({
                    "problem": _called(part["problem"][0]),
                    "solver": _called(part["solver"][0]),
                    "reason": str(error),
                })  # fmt: skip
        broken = catalogue().broken
        return {"cells": cells, "absent": absent, "broken": broken, "orthobench": __version__}

    def _planned_part(self, part: Mapping[str, Any], name: str) -> Iterator[dict[str, Any]]:
        from orthobench.registry.plugins import catalogue
        from orthobench.registry.suite_file import from_table

        for planned in from_table(part, name, catalogue()).plan():
            tuned = "".join(f" {key}={value}" for key, value in planned.tuned.items())
            cell = {
                "problem": planned.problem,
                "solver": planned.solver + tuned,
                "seed": planned.cell.seed,
            }
            key = json.dumps(list(cell.values()))
            self._planned[key] = planned.cell
            refusal = planned.cell.solver.refuses(planned.cell.problem)
            limits = planned.cell.budget.limits
            code = planned.cell.content["code"]
            yield {**cell, "key": key, "refusal": refusal, "budget": limits, "code": code}

    def run(self, key: str, ratio: float) -> dict[str, Any]:
        """Run a cell, with checkpoints `ratio` apart, and return its curve.

        A solver that runs anew for each checkpoint has those of any run.
        """
        from orthobench.harness import run as harness
        from orthobench.harness.cell import built
        from orthobench.tools.threads import limited

        cell = self._planned[key]
        ratio = harness.RATIO if getattr(cell.solver, "reruns", False) else ratio
        with limited(cell.threads):
            instance = built(cell)
            outcome = harness.run(
                instance, cell.solver, cell.budget, cell.streams, cell.until, ratio=ratio
            )
        primary = cell.problem.primary
        return {
            "status": outcome.stop.status.value,
            "failed": outcome.stop.status.failed,
            "reason": outcome.stop.reason,
            "primary": primary,
            "budget": cell.budget.limits,
            "trace": [
                [m.work.steps, m.work.samples, m.work.flops, m.metrics[primary]]
                for m in outcome.trace
            ],
        }

    def time(self, key: str, steps: int, runs: int) -> dict[str, Any]:
        """Run a cell some times, unjudged, and return the seconds of each run.

        Those of ``init``, of `steps` steps and of reading the solution.
        """
        from orthobench.harness.cell import built
        from orthobench.tools.threads import limited

        cell = self._planned[key]
        with limited(cell.threads):
            instance = built(cell)
            seconds = [self._seconds(cell, instance, steps) for _ in range(runs)]
        return {"seconds": seconds}

    def _seconds(self, cell: Any, instance: Any, steps: int) -> float:
        from orthobench.harness import run as harness

        token = harness.CLOCK.set(self._clock)
        try:
            seconds: float = harness.timed(instance, cell.solver, steps, cell.streams)
        finally:
            harness.CLOCK.reset(token)
        return seconds


def main(clock: str) -> None:
    """Serve requests until standard input ends."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    worker = Worker(clock)
    for line in sys.stdin:
        request = json.loads(line)
        match request.pop("do"):
            case "begin":
                _reply(replies, _begun())
            case "end" if FORKS:
                os._exit(0)
            case "end":
                _reply(replies, {})
            case do:
                _reply(replies, _served(worker, do, request))


def _begun() -> dict[str, Any]:
    """Go on in a copy of this process, which answers from here; tell how the copy ended.

    The copy has all that is imported and compiled, and its memory in another order: where its
    arrays lie, which alone makes the same code some percent faster or slower, is drawn anew.
    Where systems have no copies, only what is allocated from now on lies elsewhere.
    """
    process = os.fork() if FORKS else 0
    if process == 0:
        _KEPT.extend(_scattered())
        return {}
    _, status = os.waitpid(process, 0)
    return {"ended": os.waitstatus_to_exitcode(status)}


def _scattered() -> Iterator[bytearray]:
    chance = random.SystemRandom()
    for _ in range(chance.randrange(200)):
        yield bytearray(chance.randrange(1, 20_000))
    for _ in range(chance.randrange(5)):
        yield bytearray(chance.randrange(100_000, 4_000_000))


_KEPT: list[bytearray] = []


def _served(worker: Worker, do: str, request: dict[str, Any]) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = getattr(worker, do)(**request)
    except Exception as error:
        import traceback

        where = "".join(traceback.format_exception(error))
        return {"error": f"{type(error).__name__}: {error}", "traceback": where}
    return answer


def _reply(replies: IO[str], answer: dict[str, Any]) -> None:
    replies.write(json.dumps(answer) + "\n")
    replies.flush()


def _parts(table: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a suite of its own for each pair of a problem and a solver.

    One side may not know what the other brings; that costs the pair, and not the suite.
    """
    for problem in table.get("problem", []):
        for solver in table.get("solver", []):
            yield {**table, "problem": [problem], "solver": [solver]}


def _called(entry: Mapping[str, Any]) -> str:
    return str(entry.get("label") or entry.get("name"))


if __name__ == "__main__":
    main(sys.argv[1])
