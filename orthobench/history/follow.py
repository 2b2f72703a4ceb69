"""Builds the commits of a range, and runs the cells that are new in each."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import orthobench
from orthobench.compare.cells import Progress, planned, requested, run_cells
from orthobench.compare.environments import sides
from orthobench.compare.options import Options
from orthobench.compare.process import SideProcess, run_of
from orthobench.compare.sides import Side
from orthobench.errors import OrthobenchError, UsageError
from orthobench.history.commits import Commit
from orthobench.history.record import Record
from orthobench.results.runs import Run
from orthobench.stats.run_pairs import Key
from orthobench.tools.formatting import clean
from orthobench.tools.git import git

REASON = 300
"""Maximum number of characters of the reason why a commit has no results."""


@dataclass
class Followed:
    """A commit with the cells that it has.

    Attributes
    ----------
    commit : Commit
    failed : str
        Why it has no cells at all; empty if it has.
    content : dict
        A digest of everything that the result of a cell depends on, by cell.
    absent : list of (str, str, str)
        Problem, solver and reason of cells that it does not have.
    runs : dict
        The run of each cell.
    """

    commit: Commit
    failed: str = ""
    content: dict[Key, str] = field(default_factory=dict)
    absent: list[tuple[str, str, str]] = field(default_factory=list)
    runs: dict[Key, Run] = field(default_factory=dict)

    def finished(self, key: Key) -> Run | None:
        """Return the run of a cell; None if it is missing or failed."""
        run = self.runs.get(key)
        return run if run and run.trace and not run.failed else None


@dataclass
class History:
    """The commits of a range with their runs, oldest first.

    Attributes
    ----------
    folder : Path
        The project's, in its repository.
    commits : list of Followed
    options : Options
    record : Record
        Finished runs are read from it, and new ones added at once.
    extras : sequence of Path
        Folders of more projects of the repository, which are built too.
    request : mapping
        The arguments of the request ``plan``.
    made : int
        The number of new runs.
    """

    folder: Path
    commits: list[Followed]
    options: Options
    record: Record
    extras: Sequence[Path] = ()
    request: Mapping[str, Any] = field(default_factory=dict)
    made: int = 0

    def follow(self, progress: Progress) -> None:
        """Run the cells of a suite at each commit, the newest first, but equal cells only once.

        All commits run the suite of the newest one that can be built.

        Raises
        ------
        UsageError
            If no commit can be run.
        """
        for number, one in enumerate(reversed(self.commits), start=1):
            progress(f"{one.commit.short}, commit {number} of {len(self.commits)}")
            try:
                self.request = self.request or self._requested(one)
                self._follow(one, progress)
            except OrthobenchError as error:
                one.failed = _reason(error)
        if not any(one.content for one in self.commits):
            last = self.commits[-1]
            why = last.failed or "; ".join({reason for *_, reason in last.absent})
            raise UsageError(f"no commit has a cell that can be run; {last.commit.short}: {why}")

    def _requested(self, one: Followed) -> dict[str, Any]:
        if isinstance(self.options.suite, Path):
            return requested([], self.options)
        with sides(one.commit.hash, here=self.folder, extras=self.extras) as built:
            return requested(built, self.options)

    def _follow(self, one: Followed, progress: Progress) -> None:
        """Run the cells of a commit that are new in it; build it only if that is necessary."""
        place = ("plan", one.commit.tree, self._surroundings())
        plan = self.record.get(*place)
        if plan is None or not all(self.record.get("run", digest) for _, digest in plan["cells"]):
            with sides(one.commit.hash, here=self.folder, extras=self.extras) as (side,):
                self._run(side, one, progress)
            plan = {"cells": [*one.content.items()], "absent": one.absent}
            self.record.put(plan, *place)
            return
        one.absent = [(problem, solver, why) for problem, solver, why in plan["absent"]]
        one.content = {(problem, solver, seed): digest
                       for (problem, solver, seed), digest in plan["cells"]}  # fmt: skip
        one.runs = {key: run_of(key, self.record.get("run", digest))
                    for key, digest in one.content.items()}  # fmt: skip

    def _run(self, side: Side, one: Followed, progress: Progress) -> None:
        """Plan the cells of a side, and run those that are not in the record."""
        with ExitStack() as stack:
            worker = stack.enter_context(SideProcess(side, self.options, self.request))
            (cells,) = planned([side], [worker], self.request)
            cells.kinds.update(worker.ask("kinds", files=sorted(cells.facts["files"])))
            shared = sorted(cells.shared_code.items())
            content = {key: _digest([own, shared]) for key, own in cells.content.items()}
            known = {key: self.record.get("run", digest) for key, digest in content.items()}

            def keep(key: Key, reply: Mapping[str, Any]) -> None:
                self.made += 1
                if "trace" in reply:  # else the worker died, perhaps of the machine: tried again
                    self.record.put(reply, "run", content[key])

            for key, reply in known.items():
                if reply:
                    cells.runs[key] = run_of(key, reply)
                    cells.imported.update(reply["loaded"])
            missing = [key for key, reply in known.items() if not reply]
            name = one.commit.short
            run_cells([cells], [worker], missing, self.options,
                      lambda text: progress(f"{name}: {text}"), stack, keep=keep)  # fmt: skip
            cells.require_libraries()
        one.content, one.absent = content, [*cells.absent]
        one.runs = {key: cells.runs[key] for key in content}

    def _surroundings(self) -> str:
        """Return a digest of everything that a commit's plan depends on beside the commit.

        An orthobench in the repository itself is left out, since each commit has its own.
        """
        known: list[Any] = [dict(self.request), sys.version, *map(str, self.extras)]
        known += sorted({(d.name, d.version) for d in metadata.distributions()})
        root = Path(orthobench.__file__).parent
        top = Path(git(self.folder, "rev-parse", "--show-toplevel")).resolve()
        if not root.is_relative_to(top):
            known += sorted((str(x), x.stat().st_mtime_ns) for x in root.rglob("*.py"))
        tables = self.request["tables"]
        named = (str(one.get("name")) for kind in ("problem", "solver")
                 for one in tables.get(kind, ()))  # fmt: skip
        for file in (name.partition(":")[0] for name in named if ".py:" in name):
            known += sorted(
                (one.name, one.read_text("utf-8")) for one in Path(file).parent.glob("*.py")
            )
        return _digest(known)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _reason(error: Exception) -> str:
    """Return the message of an error, without the names of sides and temporary folders."""
    text = re.sub(r"HEAD '[0-9a-f]{40}'", "it", clean(str(error)))
    return re.sub(r"[^\s(]*orthobench-compare-[^\s/]*/(\S*site-packages/)?", "", text)[:REASON]
