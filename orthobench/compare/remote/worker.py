"""A program for the interpreter of a side: plans the cells of a suite, runs them and times them."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module, metadata
from itertools import product
from pathlib import Path
from typing import Any

from .reach import GROUP, Project, entries, loaded, modules, place, plugins

PROTOCOL = "orthobench.compare.protocol"
VERSION = 3  # of the protocol that can be served
REPAIR = "repair what is installed here"
DENSE = 1.02  # ratio of checkpoints, so that work is found to two percent
FORKS = hasattr(os, "fork")
CLOCKS = {"cpu": time.process_time_ns, "wall": time.perf_counter_ns}


class RefusedError(Exception):
    """A side that cannot be compared, with the reason."""


@cache
def names() -> Any:
    """Return the side's protocol; refuse a side without it, or with another version."""
    try:
        protocol = import_module(PROTOCOL)
    except ModuleNotFoundError as error:
        if not f"{PROTOCOL}.".startswith(f"{error.name}."):
            raise
        protocol = None
    if getattr(protocol, "VERSION", None) == VERSION:
        return protocol
    raise RefusedError(
        f"its Python has no orthobench with version {VERSION} of the comparison protocol: install "
        "one there that has it"
    )


class Worker:
    """Answers requests, the names of its methods, by the clock ``cpu`` or ``wall``."""

    def __init__(self, clock: str) -> None:
        self._clock = CLOCKS[clock]
        self._planned: dict[tuple[Any, ...], Any] = {}
        self._own: Sequence[str] = ()
        self._watched: set[str] = set()  # modules of libraries
        self._project = Project(())

    @property
    def copies(self) -> bool:
        """Whether a copy of this process can go on: it has no threads and no GPU."""
        places = {str(getattr(cell.solver, "place", "numpy")) for cell in self._planned.values()}
        return FORKS and not threaded() and all(one.startswith("numpy") for one in places)

    def suite(self, name: str, distributions: Sequence[str]) -> dict[str, Any]:
        """Return the text of a suite with a name."""
        known = names().catalogue()
        check(distributions, known.broken)
        return {"text": known.suite(name).read_text(encoding="utf-8")}

    def plan(
        self, tables: Mapping[str, Any], name: str, distributions: Sequence[str]
    ) -> dict[str, Any]:
        """Plan the cells of a suite, say why others cannot be planned, and check the side."""
        known, self._own = names().catalogue(), distributions
        self._watched = {name for one in distributions if not entries(one) for name in modules(one)}
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
            except Exception as error:
                labels = [str(one.get("label") or one.get("name")) for one in (problem, solver)]
                absent.append((*labels, str(error)))
        check(distributions, known.broken)  # after solvers of files imported what they use
        return {"absent": absent}

    def describe(self) -> dict[str, Any]:
        """Return facts about planned cells and projects, by default all plugins."""
        own = list(self._own) or plugins()
        self._project, packages, cells = Project(own), _packages(), self._planned.items()
        others = {name: v for name, v in packages.items() if name not in map(normal, own)}
        required = (metadata.distribution(one).requires or () for one in own)
        return {
            "content": [(key, _digest(cell.content, others)) for key, cell in cells],
            "packages": others if self._own else packages,
            "installed": packages,
            "requires": sorted({x for one in required for x in one if "extra ==" not in x}),
            "files": self._project.digests(),
            "reached": [(key, self._project.names_of(names().files(cell))) for key, cell in cells],
            "defaults": {name: values for _, cell in cells
                         for name, values in names().defaults(cell).items()},
            "libraries": [one for one in self._own if not entries(one)],
            "modules": {one: sorted(entries(one)) or modules(one) for one in self._own},
        }  # fmt: skip

    def kinds(self, files: Sequence[str]) -> dict[str, Any]:
        """Return digests of the code of files, and of the part that runs at import."""
        return dict(self._project.kinds(files))

    def imported(self, modules: Sequence[str]) -> dict[str, Any]:
        """Return the seconds to import modules, without waiting for a processor."""
        begin = awake()
        for module in modules:
            import_module(module)
        return {"seconds": awake() - begin}

    def run(self, key: list[Any]) -> dict[str, Any]:
        """Run a cell; return its curve, and the modules of libraries that are imported."""
        with self._cell(key) as (cell, instance):
            ratio = names().RATIO if getattr(cell.solver, "reruns", False) else DENSE
            outcome = names().run(
                instance, cell.solver, cell.budget, cell.streams, cell.until, ratio=ratio
            )
        primary = cell.problem.primary
        trace = [(m.work.steps, m.work.samples, m.work.flops, m.metrics[primary])
                 for m in outcome.trace]  # fmt: skip
        return {
            "status": outcome.stop.status.value, "reason": outcome.stop.reason, "trace": trace,
            "primary": primary, "budget": cell.budget.limits,
            "on": str(getattr(cell.solver, "place", "numpy")), "loaded": loaded(self._watched),
        }  # fmt: skip

    def time(self, key: list[Any], steps: int, runs: int) -> dict[str, Any]:
        """Return the seconds of each of several runs of a cell, without the judge.

        ``awake`` is the time of all, warm-up included, without waiting for a processor.
        """
        with self._cell(key) as (cell, instance):
            token, begin = names().CLOCK.set(self._clock), awake()
            try:
                seconds = [float(names().timed(instance, cell.solver, steps, cell.streams))
                           for _ in range(runs)]  # fmt: skip
            finally:
                names().CLOCK.reset(token)
            return {"seconds": seconds, "awake": awake() - begin, "copies": self.copies}

    def peak(self, key: list[Any], steps: int) -> dict[str, Any]:
        """Return the bytes that a run of a cell needs; None if they are unknown."""
        with self._cell(key) as (cell, instance):
            return {"bytes": names().peak(instance, cell.solver, steps, cell.streams)}

    @contextmanager
    def _cell(self, key: list[Any]) -> Iterator[tuple[Any, Any]]:
        """Give a cell and its instance, with libraries limited to its threads."""
        cell = self._planned[tuple(key)]
        with names().limited(cell.threads):
            if place := getattr(cell.solver, "place", None):
                place.limit(cell.threads)
            yield cell, names().built(cell)


def check(distributions: Sequence[str], broken: Mapping[str, str]) -> None:
    """Refuse distributions that are imported from elsewhere, or whose plugins are broken."""
    for one in distributions:
        if not (own := modules(one)):
            raise RefusedError(f"{one} has no module that could be imported")
        for module, found in zip(own, map(place, own), strict=True):
            if not Path(str(found)).is_relative_to(Path(sys.prefix).resolve()):
                raise RefusedError(
                    f"{module} would be imported from {found}, not from what was built of it "
                    f"in {sys.prefix}; {REPAIR}"
                )
        for point in metadata.distribution(one).entry_points.select(group=GROUP):
            if why := broken.get(point.name):
                raise RefusedError(f"its plugin {point.name!r} does not load: {why}; {REPAIR}")


def main(channel: Any, clock: str) -> None:
    """Answer requests until the parent closes the channel.

    From ``begin`` to ``end``, a copy of this process answers. The reply to ``end`` is its exit
    code.
    """
    worker = Worker(clock)
    while (request := channel.receive()) is not None:
        match request.pop("do"):
            case "begin":
                channel.send(_continue_in_copy())
            case "end":
                os._exit(0)
            case do:
                channel.send(_answer(worker, do, request))


def _answer(worker: Worker, do: str, request: dict[str, Any]) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = getattr(worker, do)(**request)
    except Exception as error:
        what = "" if isinstance(error, RefusedError) else f"{type(error).__name__}: "
        return {"error": f"{what}{error}"}
    return answer


def _continue_in_copy() -> dict[str, Any]:
    """Go on in a copy of this process, which waits for it to end.

    Allocations of random sizes change addresses.
    """
    process = os.fork()
    if process == 0:
        chance = random.SystemRandom()
        for most, least, largest in ((200, 1, 20_000), (5, 100_000, 4_000_000)):
            sizes = (chance.randrange(least, largest) for _ in range(chance.randrange(most)))
            _ballast.extend(map(bytearray, sizes))
        return {}
    _, status = os.waitpid(process, 0)
    return {"ended": os.waitstatus_to_exitcode(status)}


def threaded() -> bool:
    """Return whether this process has threads, or used numba's, which refuse copies."""
    numba = sys.modules.get("numba.np.ufunc.parallel")
    try:
        tasks = len(os.listdir("/proc/self/task"))  # noqa: PTH208 - of libraries, too
    except OSError:
        tasks = 1
    return max(tasks, threading.active_count()) > 1 or bool(getattr(numba, "_is_initialized", 0))


def awake() -> float:
    """Return a clock that stands still while this thread waits for a processor, if that is known.

    It is in seconds.
    """
    queued = 0
    with suppress(OSError, IndexError):
        queued = int(Path("/proc/self/schedstat").read_text(encoding="utf-8").split()[1])
    return time.perf_counter() - queued * 1e-9


def _digest(content: Mapping[str, Any], packages: Mapping[str, str]) -> str:
    """Return a digest of a cell's content without versions, and of other packages."""
    known = {name: value for name, value in content.items() if name != "versions"}
    return hashlib.sha256(json.dumps([known, packages], sort_keys=True).encode()).hexdigest()


@cache
def _packages() -> dict[str, str]:
    """Return the versions of Python and of the installed packages."""
    found = {"python": sys.version.split()[0]}
    for one in metadata.distributions():
        found.setdefault(normal(one.name), one.version)
    return dict(sorted(found.items()))


def normal(name: str) -> str:
    """Return the normalized name of a distribution."""
    return re.sub(r"[-_.]+", "-", name).lower()


_ballast: list[bytearray] = []  # unused memory of a copy
