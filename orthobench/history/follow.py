"""A history as a whole: builds the commits of a range and runs the cells that are new in each."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import orthobench
from orthobench.compare.cells import DENSE, SideCells
from orthobench.compare.cells import _require_own as require_own
from orthobench.compare.cells import _suite as suite_tables
from orthobench.compare.comparison import Options
from orthobench.compare.environments import sides
from orthobench.compare.process import SideError, SideProcess, run_of
from orthobench.compare.sides import Side, states_of
from orthobench.errors import OrthobenchError, UsageError
from orthobench.history.commits import Commit
from orthobench.history.record import Record
from orthobench.results.runs import Run
from orthobench.stats.run_pairs import Key
from orthobench.tools.formatting import clean
from orthobench.tools.git import git

HERE = sys.executable
"""The other side of a build: an environment that is there, so that only the commit is built."""

REASON = 300
"""The maximum number of characters of the reason why a commit has no results."""

KINDS = ("problem", "solver")

Progress = Callable[[str], None]


@dataclass
class Followed:
    """A commit with the cells that it has.

    Attributes
    ----------
    commit : Commit
    failed : str
        Why it has no cells at all; empty if it has.
    content : dict
        The digest of all that the result of each cell depends on.
    absent : list of (str, str, str)
        Problem, solver and the reason why it does not have their cells.
    runs : dict
        The run of each cell.
    """

    commit: Commit
    failed: str = ""
    content: dict[Key, str] = field(default_factory=dict)
    absent: list[tuple[str, str, str]] = field(default_factory=list)
    runs: dict[Key, Run] = field(default_factory=dict)


@dataclass
class History:
    """The commits of a range with their runs, oldest first.

    Attributes
    ----------
    commits : list of Followed
    request : mapping
        The name and the tables of the suite, and the ratio of checkpoints.
    made : int
        The number of runs that were made now, and not at another commit or by another call.
    """

    commits: list[Followed]
    request: Mapping[str, Any] = field(default_factory=dict)
    made: int = 0


def follow(
    folder: Path, commits: Sequence[Commit], options: Options, record: Record, progress: Progress,
    extras: Sequence[Path] = (),
) -> History:  # fmt: skip
    """Run the cells of a suite at each commit, the newest first, but each identity only once.

    All commits run the suite of the newest one that can be built.

    Parameters
    ----------
    folder : Path
        The project's, in its repository.
    commits : sequence of Commit
        Oldest first.
    options : Options
    record : Record
        What is there already is not done again; what is done is added at once.
    progress : callable
        Called with what is being done.
    extras : sequence of Path
        Folders of more projects of the repository, which are built too.

    Raises
    ------
    UsageError
        If no commit can be run.
    """
    history = History([Followed(commit) for commit in commits])
    for number, one in enumerate(reversed(history.commits)):
        progress(f"{one.commit.short}, commit {number + 1} of {len(commits)}")
        try:
            history.request = history.request or _request(folder, one.commit, options, extras)
            _run_cells(folder, one, history, options, record, extras, progress)
        except OrthobenchError as error:
            one.failed = _reason(error)
    if not any(one.content for one in history.commits):
        last = history.commits[-1]
        why = last.failed or "; ".join({reason for *_, reason in last.absent})
        raise UsageError(f"no commit has a cell that can be run; {last.commit.short}: {why}")
    return history


def _reason(error: Exception) -> str:
    """Return what is wrong with a commit, without the name that the comparison gives it."""
    text = re.sub(r"HEAD '[0-9a-f]{40}'", "it", clean(str(error)))
    return re.sub(r"[^\s(]*orthobench-compare-[^\s/]*/(\S*site-packages/)?", "", text)[:REASON]


@contextmanager
def built(folder: Path, commit: str, extras: Sequence[Path] = ()) -> Iterator[Side]:
    """Give the side of a commit, built and checked."""
    with sides(HERE, commit, here=folder, extras=extras) as (_, side):
        yield side


def _request(
    folder: Path, commit: Commit, options: Options, extras: Sequence[Path]
) -> dict[str, Any]:
    """Return what workers are asked to plan; a suite that has a name is that of the commit."""
    if isinstance(options.suite, Path):
        name, tables = suite_tables([], options)
    else:
        with built(folder, commit.hash, extras) as side:
            name, tables = suite_tables([side], options)
    tables.get("tuning", {}).pop("seeds", None)  # nothing is chosen: trials run on all seeds
    return {"tables": tables, "name": name, "ratio": DENSE}


def _run_cells(
    folder: Path, one: Followed, history: History, options: Options, record: Record,
    extras: Sequence[Path], progress: Progress,
) -> None:  # fmt: skip
    """Run the cells of a commit that are new in it; build it only if that is necessary."""
    at = ("plan", one.commit.tree, _surroundings(folder, history.request, extras))
    plan = record.get(*at)
    replies = {digest: record.get("run", digest) for _, digest in plan["cells"]} if plan else {}
    if plan is None or None in replies.values():
        with built(folder, one.commit.hash, extras) as side:
            plan, replies = _made(side, one, history, options, record, progress)
        record.put(plan, *at)
    one.absent = [(problem, solver, why) for problem, solver, why in plan["absent"]]
    for (problem, solver, seed), digest in plan["cells"]:
        one.content[problem, solver, seed] = digest
        one.runs[problem, solver, seed] = run_of((problem, solver, seed), replies[digest])


def _made(
    side: Side, one: Followed, history: History, options: Options, record: Record,
    progress: Progress,
) -> tuple[dict[str, Any], dict[str, Any]]:  # fmt: skip
    """Plan the cells of a side, and run those that are not in the record.

    A run is kept as soon as the libraries of the side are known to be imported from it.
    """
    replies: dict[str, Any] = {}
    fresh: dict[str, Any] = {}
    imported: dict[str, str] = {}
    runs: dict[Key, Run] = {}

    def keep() -> None:
        for digest in list(fresh):
            replies[digest] = record.put(fresh.pop(digest), "run", digest)

    with ExitStack() as stack:
        worker = stack.enter_context(SideProcess(side, options, history.request))
        plan = worker.reply()
        facts = worker.ask("describe", distributions=side.distributions)
        cells = _identities(facts, worker.ask("kinds", files=sorted(facts["files"])))
        modules = [facts["modules"][library] for library in facts["libraries"]]
        checked = SideCells(side, runs, facts=facts, imported=imported)
        for number, (key, digest) in enumerate(cells, start=1):
            if (known := record.get("run", digest)) is not None:
                replies[digest] = known
                continue
            progress(f"{one.commit.short}: {key[1]} on {key[0]}, cell {number} of {len(cells)}")
            if not worker.alive:
                worker = stack.enter_context(SideProcess(side, options, history.request))
                worker.reply()
            worker.request("run", key=key, watched=[name for names in modules for name in names])
            history.made += 1
            try:
                reply = worker.reply()
            except SideError as error:  # perhaps of the machine, so it is tried again
                replies[digest] = {"status": "error", "reason": str(error)}
                runs[tuple(key)] = run_of(tuple(key), replies[digest])
                continue
            imported.update(reply.pop("loaded", {}))
            fresh[digest], runs[tuple(key)] = reply, run_of(tuple(key), reply)
            tops = {name.partition(".")[0] for name in imported}
            if all(tops & set(names) for names in modules):
                require_own(checked)
                keep()
        if len(runs) == len(cells):  # else what ran earlier has shown it
            require_own(checked)
        keep()
    return {"cells": cells, "absent": plan["absent"]}, replies


def _identities(facts: Mapping[str, Any], kinds: Mapping[str, Any]) -> list[tuple[Any, str]]:
    """Return the cells of a side with a digest of all that their results depend on.

    It has the code that runs when the projects are imported, and all code of a library, which cells
    may reach in ways that nobody sees.
    """
    everywhere = sorted((name, acting) for name, (_, acting) in kinds.items())
    if facts["libraries"]:
        everywhere += sorted((name, code) for name, (code, _) in kinds.items())
    return [
        (key, hashlib.sha256(json.dumps([content, everywhere]).encode()).hexdigest())
        for key, content in facts["content"]
    ]


def _surroundings(folder: Path, request: Mapping[str, Any], extras: Sequence[Path]) -> str:
    """Return a digest of all that a commit's plan depends on beside the commit.

    That is the suite, Python and its packages, the folders of solvers and problems in files, and
    the orthobench that is here: unless it is of the repository itself, so that each commit brings
    its own.
    """
    known: list[Any] = [dict(request), sys.version, *map(str, extras)]
    known += sorted({(d.name, d.version) for d in metadata.distributions()})
    root = Path(orthobench.__file__).parent
    if not root.is_relative_to(Path(git(folder, "rev-parse", "--show-toplevel")).resolve()):
        known += sorted((path, *state[:2]) for path, state in states_of(root).items())
    tables = request["tables"]
    named = (str(one.get("name")) for kind in KINDS for one in tables.get(kind, ()))
    for file in (name.partition(":")[0] for name in named if ".py:" in name):
        known += sorted(
            (one.name, one.read_text("utf-8")) for one in Path(file).parent.glob("*.py")
        )
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()
