"""A program for the interpreter of a side: plans the cells of a suite, runs them and times them."""

from __future__ import annotations

import hashlib
import json
import os
import random
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module, metadata
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

PROTOCOL = "orthobench.compare.protocol"
VERSION = 2  # of the protocol that can be served
REPAIR = "repair what is installed here"
FORKS = hasattr(os, "fork")
CLOCKS = {"cpu": time.process_time_ns, "wall": time.perf_counter_ns}


class RefusedError(Exception):
    """A side that cannot be compared live, for the reason in the message."""


@cache
def names() -> Any:
    """Return an object with the names of the protocol as attributes.

    Raises
    ------
    RefusedError
        Where the side's orthobench has no protocol, or another version of it.
    """
    try:
        protocol = import_module(PROTOCOL)
    except ModuleNotFoundError as error:
        if error.name not in (PROTOCOL, PROTOCOL.rpartition(".")[0]):
            raise
        protocol = None
    if getattr(protocol, "VERSION", None) == VERSION:
        return protocol
    raise RefusedError(
        f"its orthobench has not version {VERSION} of the comparison protocol, which this one "
        "knows: run the suite in both environments, and call orthobench report with both stores"
    )


class Worker:
    """What can be asked of a side; the requests are the names of its methods.

    Parameters
    ----------
    clock : {"cpu", "wall"}
        Whether `time` counts seconds of this process, or of the world.
    """

    def __init__(self, clock: str) -> None:
        self._clock = CLOCKS[clock]
        self._planned: dict[tuple[Any, ...], Any] = {}
        self._ratio = 1.0

    @property
    def copies(self) -> bool:
        """Whether a copy of this process can go on: GPUs and libraries' threads are not copied."""
        places = {str(getattr(cell.solver, "place", "numpy")) for cell in self._planned.values()}
        return FORKS and all(place.startswith("numpy") for place in places)

    def check(self, distribution: str) -> dict[str, Any]:
        """Return the place of orthobench; refuse an environment without the code of its side.

        Parameters
        ----------
        distribution : str
            One that was installed in this environment itself; empty where none was.
        """
        points = list(metadata.distribution(distribution).entry_points if distribution else ())
        points = [point for point in points if point.group == "orthobench"]
        if distribution and not points:
            raise RefusedError(f"{distribution} is no plugin of orthobench")
        for module in {point.module.partition(".")[0] for point in points}:
            place = _place(module)
            if not place or not Path(place).is_relative_to(Path(sys.prefix).resolve()):
                raise RefusedError(f"{module} would be imported from {place}, not from what was "
                                   f"built of it; {REPAIR}")  # fmt: skip
        if not (found := _place("orthobench")):
            raise RefusedError("its Python cannot import orthobench; install it there, without "
                               "PYTHONPATH and the user's own site-packages")  # fmt: skip
        broken = names().catalogue().broken
        for name in (point.name for point in points if point.name in broken):
            raise RefusedError(f"its plugin {name!r} does not load: {broken[name]}; {REPAIR}")
        return {"orthobench": found}

    def suite(self, name: str) -> dict[str, Any]:
        """Return the text of a suite that the side knows by name."""
        return {"text": names().catalogue().suite(name).read_text(encoding="utf-8")}

    def plan(self, tables: Mapping[str, Any], name: str, ratio: float) -> dict[str, Any]:
        """Plan every cell of a suite that can be planned here, and say why the others cannot.

        Each pair of a problem and a solver is a suite of its own: a side that does not know one of
        the two lacks the pair, and not the whole suite.
        """
        self._ratio = ratio
        known = names().catalogue()
        cells: list[Any] = []
        absent: list[Any] = []
        for problem, solver in product(tables.get("problem", []), tables.get("solver", [])):
            pair = {**tables, "problem": [problem], "solver": [solver]}
            try:
                for cell in names().from_table(pair, name, known).cells():
                    tuned = "".join(f" {key}={value}" for key, value in cell.tuned.items())
                    key = (cell.problem_label, cell.solver_label + tuned, cell.seed)
                    if refusal := cell.solver.refuses(cell.problem):
                        absent.append((*key[:2], refusal))
                    else:
                        self._planned[key] = cell
                        cells.append((key, _digest(cell.content)))
            except Exception as error:
                labels = [str(one.get("label") or one.get("name")) for one in (problem, solver)]
                absent.append((*labels, str(error)))
        return {"cells": cells, "absent": absent, "broken": known.broken}

    def run(self, key: list[Any]) -> dict[str, Any]:
        """Run a cell, with checkpoints in the planned ratio, and return its curve.

        A solver that runs anew for each checkpoint has those of any run.
        """
        with self._cell(key) as (cell, instance):
            ratio = names().RATIO if getattr(cell.solver, "reruns", False) else self._ratio
            outcome = names().run(
                instance, cell.solver, cell.budget, cell.streams, cell.until, ratio=ratio
            )
        primary = cell.problem.primary
        trace = [(m.work.steps, m.work.samples, m.work.flops, m.metrics[primary])
                 for m in outcome.trace]  # fmt: skip
        return {
            "status": outcome.stop.status.value, "reason": outcome.stop.reason, "trace": trace,
            "primary": primary, "budget": cell.budget.limits,
            "on": str(getattr(cell.solver, "place", "numpy")),
        }  # fmt: skip

    def time(self, key: list[Any], steps: int, runs: int) -> dict[str, Any]:
        """Run a cell some times without judging it, and return the seconds of each run.

        They are those of ``init``, of `steps` steps and of reading the solution.
        """
        with self._cell(key) as (cell, instance):
            token = names().CLOCK.set(self._clock)
            try:
                seconds = [
                    float(names().timed(instance, cell.solver, steps, cell.streams))
                    for _ in range(runs)
                ]
            finally:
                names().CLOCK.reset(token)
        return {"seconds": seconds}

    @contextmanager
    def _cell(self, key: list[Any]) -> Iterator[tuple[Any, Any]]:
        """Give a cell and its instance, with the libraries held to its threads."""
        cell = self._planned[tuple(key)]
        with names().limited(cell.threads):
            if place := getattr(cell.solver, "place", None):
                place.limit(cell.threads)
            yield cell, names().built(cell)


def main(channel: Any, clock: str) -> None:
    """Answer requests until the parent closes the channel.

    Beside the methods of `Worker` there are two requests: from ``begin`` to ``end`` a copy of this
    process answers, and the reply to ``end`` is the copy's exit code.

    Parameters
    ----------
    channel : Channel
        To and from the parent.
    clock : {"cpu", "wall"}
    """
    worker = Worker(clock)
    while (request := channel.receive()) is not None:
        match request.pop("do"):
            case "begin":
                channel.send(_continue_in_copy(worker.copies))
            case "end" if worker.copies:
                os._exit(0)
            case "end":
                channel.send({})
            case do:
                channel.send(_answer(worker, do, request))


def _answer(worker: Worker, do: str, request: dict[str, Any]) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = getattr(worker, do)(**request)
    except Exception as error:
        what = "" if isinstance(error, RefusedError) else f"{type(error).__name__}: "
        return {"error": f"{what}{error}"}
    return answer


def _continue_in_copy(copies: bool) -> dict[str, Any]:
    """Go on in a copy of this process; in the process itself wait for the copy to end.

    The copy has all that is imported and compiled, and its memory in another order: where its
    arrays lie, which alone makes the same code some percent faster or slower, is drawn anew.
    Where there are no copies, only what is allocated from now on lies elsewhere.
    """
    process = os.fork() if copies else 0
    if process == 0:
        chance = random.SystemRandom()
        for most, least, largest in ((200, 1, 20_000), (5, 100_000, 4_000_000)):
            sizes = (chance.randrange(least, largest) for _ in range(chance.randrange(most)))
            _ballast.extend(map(bytearray, sizes))
        return {}
    _, status = os.waitpid(process, 0)
    return {"ended": os.waitstatus_to_exitcode(status)}


def _digest(content: Mapping[str, Any]) -> str:
    """Return a digest of what a cell depends on, and of what that leaves out of its interpreter.

    Versions are but names where the sources are equal, and a side that was built has its own.
    """
    known = {name: value for name, value in content.items() if name != "versions"}
    return hashlib.sha256(json.dumps([known, _packages()], sort_keys=True).encode()).hexdigest()


@cache
def _packages() -> list[tuple[str, ...]]:
    """Return Python and the packages beside plugins, whose sources are in no digest, by version."""
    others = (d for d in metadata.distributions() if not d.entry_points.select(group="orthobench"))
    return [(sys.version,), *sorted({(d.name, d.version) for d in others})]


_ballast: list[bytearray] = []  # memory that a copy holds and does not use


def _place(module: str) -> str | None:
    """Return the file of a module or the folder of a package; None where it is not found."""
    spec = find_spec(module)
    if spec is None:
        return None
    found = [*(spec.submodule_search_locations or ()), spec.origin][0]
    return str(Path(found).resolve()) if found else None
