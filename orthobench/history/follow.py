"""Builds the commits of a range, and runs the cells that are new in each."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orthobench.compare.cells import Progress, planned, requested, run_cells
from orthobench.compare.environments import sides
from orthobench.compare.options import Options
from orthobench.compare.process import SideProcess, run_of
from orthobench.compare.sides import Side
from orthobench.errors import OrthobenchError, UsageError
from orthobench.history.commits import Commit
from orthobench.history.record import Record
from orthobench.stats.run_pairs import Key
from orthobench.tools.formatting import clean

REASON = 300
"""Maximum number of characters of the reason why a commit has no results."""


@dataclass
class History:
    """The commits of a range with their runs, oldest first.

    Attributes
    ----------
    folder : Path
        The project's, in its repository.
    commits : list of Commit
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
    commits: list[Commit]
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
            progress(f"{one.short}, commit {number} of {len(self.commits)}")
            try:
                with sides(one.hash, here=self.folder, extras=self.extras) as built:
                    self.request = self.request or requested(built, self.options)
                    self._run(built[0], one, progress)
            except OrthobenchError as error:
                one.failed = _reason(error)
        if not any(one.content for one in self.commits):
            last = self.commits[-1]
            why = last.failed or "; ".join({reason for *_, reason in last.absent})
            raise UsageError(f"no commit has a cell that can be run; {last.short}: {why}")

    def _run(self, side: Side, one: Commit, progress: Progress) -> None:
        """Plan the cells of a side, and run those that are not in the record."""
        with ExitStack() as stack:
            worker = stack.enter_context(SideProcess(side, self.options, self.request))
            (cells,) = planned([side], [worker], self.request)
            cells.kinds.update(worker.ask("kinds", files=sorted(cells.facts["files"])))
            shared = sorted(cells.shared_code.items())
            content = {key: _digest([own, shared]) for key, own in cells.content.items()}
            missing = []
            for key, digest in content.items():
                if reply := self.record.get(digest):
                    cells.runs[key] = run_of(key, reply)
                    cells.imported.update(reply["loaded"])
                else:
                    missing.append(key)

            def keep(key: Key, reply: Mapping[str, Any]) -> None:
                self.made += 1
                if "trace" in reply:  # otherwise the worker died, and the next call tries again
                    self.record.put(content[key], reply)

            run_cells([cells], [worker], missing, self.options,
                      lambda text: progress(f"{one.short}: {text}"), stack, keep=keep
                      )  # fmt: skip
            cells.require_libraries()
        one.content, one.absent = content, cells.absent
        one.runs = {key: cells.runs[key] for key in content}


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _reason(error: Exception) -> str:
    """Return the message of an error, without the names of sides and temporary folders."""
    text = re.sub(r"HEAD '[0-9a-f]{40}'", "it", clean(str(error)))
    return re.sub(r"[^\s(]*orthobench-compare-[^\s/]*/(\S*site-packages/)?", "", text)[:REASON]
