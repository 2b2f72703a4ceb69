"""Ten bugs of a first solver, found by `orthobench run` and by `plugin check`."""

import pytest

import orthobench as ob
from orthobench.harness.executors import Limits
from orthobench.report import caveats
from orthobench.testing.cases import Asked
from orthobench.testing.in_child import checked

HEAD = """
import threading
import time
from dataclasses import dataclass

import numpy as np

from orthobench.contract import SampleOracle, Solution, Solver, State


@dataclass(slots=True, kw_only=True)
class Iterate(State):
    U: np.ndarray


class Oja(Solver[SampleOracle, Iterate]):
    batch = 1
    sign = 1.0

    def init(self, oracle, rng):
        return Iterate(U=oracle.start.copy())

    def seen(self, x, state):
        return x

    def step(self, oracle, state):
        x = self.seen(oracle.take(1), state)
        state.work.steps += 1
        state.work.samples += 1
        step = self.sign / state.work.steps**0.5
        state.U = self.orthonormal(state.U + step * x.T @ (x @ state.U))

    def orthonormal(self, U):
        return np.linalg.qr(U)[0]

    def solution(self, state):
        return Solution(state.U.copy())


KEPT = []
"""

SEEN = "    def seen(self, x, state):\n        {}\n        return x\n"

BUGS = {
    "WrongSign": ("    sign = -1.0\n", "progress", "ends worse than its start"),
    "NotOrthonormal": (
        "    def orthonormal(self, U):\n        return U / np.linalg.norm(U, axis=0)\n",
        "orthonormal", "leaves the constraint",
    ),
    "NaNAfterTen": (
        SEEN.format("x = x * np.nan if state.work.steps > 10 else x"), "orthonormal", "not finite",
    ),
    "Endless": (SEEN.format("while True: pass"), "threads", "cut by the limit"),
    "Prints": (SEEN.format("print('step')"), "silent", "prints"),
    "WritesInput": (SEEN.format("x *= 2"), "inputs", "writes into its data"),
    "GlobalRandom": (SEEN.format("x = x * np.random.rand()"), "repeats", "global random generator"),
    "Threads": (
        SEEN.format("threading.Thread(target=time.sleep, args=(60,), daemon=True).start()"),
        "threads", "leaves threads running",
    ),
    "Leaks": (SEEN.format("KEPT.append(np.ones(2**17))"), "memory", "more memory with each step"),
    "WrongShape": (SEEN.format("x = x.T"), "runs", "bugs.py, line "),
}  # fmt: skip
"""The body of each class, the first check that finds the bug, and the words of a run."""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("planted") / "bugs.py"
    classes = [
        f'@dataclass(frozen=True)\nclass {name}(Oja):\n    name = "{name.lower()}"\n{body}'
        for name, (body, _, _) in BUGS.items()
    ]
    path.write_text("\n\n".join([HEAD, *classes]))
    return path


@pytest.mark.wide
def test_a_run_names_the_bug_of_each_solver(file, tmp_path):
    results = ob.run(
        None, tmp_path / "s.sqlite", problems=["digits k=4"],
        solvers=[f"{file}:{name}" for name in BUGS], seeds=1,
        budget=ob.Budget(samples=300), limits=Limits(timeout=20.0), quiet=True,
    )  # fmt: skip
    said = {run.solver.name: run.stop.reason for run in results.records}
    notes = caveats.conduct(results.entries)
    for name, (_, _, words) in BUGS.items():
        own = [text for text in notes if text.startswith(name.lower())]
        assert any(words in text for text in (said[name.lower()], *own)), (name, said, notes)


@pytest.mark.wide
def test_the_start_of_the_process_is_no_part_of_a_check(file):
    (result, *_) = checked(Asked(f"{file}:Prints"), limit=0.01)
    assert result["kind"] == "solver"


@pytest.mark.wide
def test_threads_left_behind_end_the_checks_of_their_solver_alone(file):
    found = list(checked(Asked(f"{file}:Threads"), limit=20.0))
    assert [row["check"] for row in found if row["status"] == "failed"] == ["threads"]
    assert {row["status"] for row in found[1:]} == {"not checkable"}
    assert "the check 'threads' fails, which comes first" in found[-1]["message"]


@pytest.mark.wide
@pytest.mark.parametrize("name", BUGS)
def test_a_check_finds_the_bug(file, name):
    found = list(checked(Asked(f"{file}:{name}"), limit=10.0))
    failed = [row["check"] for row in found if row["status"] == "failed"]
    assert failed[:1] == [BUGS[name][1]]
