"""A repository of plain commits, and sides that stand for their environments."""

import json
from contextlib import contextmanager
from pathlib import Path

import pytest

from orthobench.compare.cells import SideError
from orthobench.compare.options import Options
from orthobench.compare.sides import Side
from orthobench.errors import UsageError
from orthobench.history import follow as following
from orthobench.history.follow import History, Record, commits_of
from tests.compare.conftest import git

CELLS = [["problem", "solver", seed] for seed in range(3)]


class Repository:
    """A repository in which each commit says in a file what its cells give.

    The file has the final value of the solver, its work, whether a cell fails, and so on.
    """

    def __init__(self, root):
        self.root, self.number = Path(root), 0
        git(root, "init", "-q")

    def commit(self, subject="change", **says):
        self.number += 1
        (self.root / "says.json").write_text(json.dumps(says))
        (self.root / "number").write_text(str(self.number))
        git(self.root, "add", ".")
        git(self.root, "commit", "-qm", subject)
        return git(self.root, "rev-parse", "HEAD")

    def says(self, commit):
        return json.loads(git(self.root, "show", f"{commit}:says.json"))


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "repository"
    root.mkdir()
    return Repository(root)


def curve(final, work=1.0, start=1.0):
    """Return the trace of a run that gets from `start` to `final` in ten steps."""
    return [(i, 0, 100.0 * work * i, start * (final / start) ** (i / 10)) for i in range(11)]


class Worker:
    """Stands for the process of a side, and does what its commit says."""

    def __init__(self, side, options, request=None):
        self.says, self.alive, self.asked = self.repository.says(side.detail), True, []
        self.side = side
        if request:
            self.request("plan")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def ask(self, do, **words):
        """Reply to a request."""
        return {
            "suite": {"text": f'description = "{words.get("name")}"'}, "kinds": {},
        }[do]  # fmt: skip

    def request(self, do, key=None, **words):
        self.asked.append((do, key))

    def reply(self):
        do, key = self.asked.pop(0)
        return getattr(self, do)(*(key or ()))

    def plan(self):
        absent = [] if self.cells() else [["problem", "solver", "no such solver"]]
        return {"absent": absent}

    def describe(self):
        """The identity of a cell is what its commit says."""
        known = {name: value for name, value in self.says.items() if name != "cells"}
        return {
            "files": {}, "libraries": self.says.get("libraries", []),
            "modules": {"library": ["library"]},
            "content": [(key, f"{key}{known}") for key in self.cells()],
        }  # fmt: skip

    def cells(self):
        return CELLS[: self.says.get("cells", 3)]

    def begin_run(self, key):
        self.request("run", key)

    def outcome(self):
        try:
            return self.reply()
        except SideError as error:
            return {"status": "error", "reason": str(error)}

    def run(self, *key):
        self.ran.append(key)
        if self.says.get("dies") == key[2]:
            self.alive = False
            raise SideError("it was killed")
        if self.says.get("interrupted") == len(self.ran):
            raise KeyboardInterrupt
        trace = curve(self.says.get("final", 0.1) * (1 + key[2]), self.says.get("work", 1.0))
        return {
            "status": "budget", "reason": "", "trace": trace, "primary": "gap",
            "budget": {"steps": 10}, "on": "numpy", "loaded": self.says.get("loaded", []),
        }  # fmt: skip


@pytest.fixture
def fake(repository, monkeypatch):
    """Call `follow` without environments and processes; its lists say what was built and run."""
    built = []

    @contextmanager
    def sides(commit, here=None, extras=(), progress=None):
        built.append(commit)
        if "broken" in (says := repository.says(commit)):
            raise UsageError(f"cannot build HEAD '{commit}'; it said: {says['broken']}")
        yield [Side(commit, "revision", commit)]

    monkeypatch.setattr(Worker, "repository", repository, raising=False)
    monkeypatch.setattr(Worker, "ran", [], raising=False)
    monkeypatch.setattr(following, "sides", sides)
    monkeypatch.setattr(following, "SideProcess", Worker)
    monkeypatch.setattr("orthobench.compare.cells.SideProcess", Worker)

    def follow(*revisions, every=1, suite="toy"):
        commits = commits_of(repository.root, revisions, every)
        record = Record(repository.root / "record.sqlite")
        history = History(repository.root, commits, Options(suite=suite), record)
        history.follow(lambda _: None)
        return history

    follow.built, follow.ran = built, Worker.ran
    return follow
