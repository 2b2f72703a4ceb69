"""Real processes on both sides: this installation against itself, and against defects."""

import os
import subprocess
import sys
import textwrap
import venv
from dataclasses import replace
from pathlib import Path

import pytest

import orthobench as ob
from orthobench.compare.cells import SUITE as SUITE_BY_DEFAULT
from orthobench.compare.options import Options, Question
from orthobench.compare.run import compare
from orthobench.compare.sides import Side
from orthobench.registry.suite_file import load
from orthobench.stats.run_pairs import Change

HERE = Side("BASE", "environment", "here", Path(sys.executable))

SUITE = """
    seeds = 1
    [[problem]]
    name = "spiked-covariance"
    n = 20
    k = 2
    budget = { samples = 200 }
    [[solver]]
    name = "oja"
    step = 2.0
    [[solver]]
    name = "incremental-pca"
"""
"""Made-up data: for those of scikit-learn each process would import it, in a second."""


@pytest.fixture
def suite(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(textwrap.dedent(SUITE))
    return path


def head(tmp_path, defect=""):
    """An environment with this one's packages, in which a defect is injected into a solver."""
    folder = tmp_path / "head"
    venv.EnvBuilder(symlinks=os.name == "posix").create(folder)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    words = [python, "-c", "import site; print(site.getsitepackages()[0])"]
    packages = Path(subprocess.check_output(words, text=True).strip())
    paths = [path for path in sys.path if path and Path(path).is_dir()]
    (packages / "here.pth").write_text("\n".join(paths))
    (packages / "defect.py").write_text(DEFECT + textwrap.dedent(defect))
    (packages / "zz_defect.pth").write_text("import defect\n")
    return Side("HEAD", "environment", "there", python)


DEFECT = """
from orthobench.registry.plugins import Registry

known = Registry.installed

def installed():
    found = known()
    change(found.solvers)
    return found

Registry.installed = staticmethod(installed)
"""
"""Code that is run when a side's interpreter starts; `change` gets the solvers by name."""


def compared(base, head, suite, **options):
    settings = Options(suite=suite, budget=options.pop("budget", 0.0), every=True, **options)
    found = compare(base, head, settings, lambda _: None)
    return found, changes_of(found)


def changes_of(found):
    """The answers to the questions, by solver."""
    changes = {row.solver: {} for row in found.rows}
    for row in found.rows:
        changes[row.solver][row.question] = row.finding.change
    return changes


def results_of(found):
    """The findings about results."""
    return [row.finding for row in found.rows if row.question is Question.RESULT]


@pytest.mark.wide
def test_equal_sides_run_nothing(suite):
    told = []
    found = compare(HERE, replace(HERE, name="HEAD"), Options(suite=suite), told.append)
    assert told == []
    assert {row.finding.change for row in found.rows} == {Change.SAME}
    assert (len(found.rows), found.rounds, found.exit_code) == (10, 0, 0)
    assert found.verdict() == "no regression (2 of 2 cells compared)"
    assert any(note.startswith("2 of 2 cells were neither run") for note in found.notes)


@pytest.mark.wide
def test_lost_cell_is_worse_and_added_cell_is_new(suite, tmp_path):
    suite.write_text(suite.read_text() + '[[solver]]\nname = "ccipca"\n')
    base, new = (
        head(tmp_path / f"without-{name}", f"def change(solvers): del solvers['{name}']")
        for name in ("incremental-pca", "ccipca")
    )
    found, changes = compared(replace(base, name="BASE"), new, suite)
    assert changes == {
        "oja step=2.0": {
            Question.RESULT: Change.SAME,
            Question.WORK: Change.SAME,
            Question.TIME: Change.UNDECIDED,
        },
        "incremental-pca": {Question.RESULT: Change.NEW},
        "ccipca": {Question.RESULT: Change.WORSE},
    }
    assert [row.solver for row in found.found(Change.WORSE)] == ["ccipca"]
    assert found.machine["cores"] == os.cpu_count()


DEARER = """
def change(solvers):
    for plugin in solvers.values():
        plugin.item.advance = dearer(plugin.item.advance)

def dearer(advance):
    def counting(self, oracle, state, count):
        before = state.work.flops
        advance(self, oracle, state, count)
        state.work.flops += (state.work.flops - before) // 20
    return counting
"""
"""Every solver needs 5 % more flops for its steps."""

WASTEFUL = """
def change(solvers):
    for plugin in solvers.values():
        plugin.item.advance = wasteful(plugin.item.advance)

def wasteful(advance):
    def wasting(self, oracle, state, count):
        at = state.work.steps
        useful = (at + count) * 20 // 21 - at * 20 // 21
        if useful:
            advance(self, oracle, state, useful)
        if state.work.steps == at + useful:
            state.work.steps += count - useful
            state.work.samples += (count - useful) * self.batch
    return wasting
"""
"""One of 21 steps of every solver does nothing, first the first."""

TURNED = """
import dataclasses
import numpy as np

def change(solvers):
    for plugin in solvers.values():
        plugin.item.solution = turned(plugin.item.solution)

def turned(solution):
    def turning(self, state):
        found = solution(self, state)
        n = len(found.point)
        a = 1e-4 * np.random.default_rng(0).standard_normal((n, n))
        half = np.eye(n) - (a - a.T) / 2
        return dataclasses.replace(found, point=np.linalg.solve(half, half.T @ found.point))
    return turning
"""
"""Every solver's solutions are turned by a ten-thousandth, which most metrics feel squared."""


@pytest.mark.slow
@pytest.mark.parametrize("defect", [DEARER, WASTEFUL], ids=["flops", "steps"])
def test_five_percent_more_work_is_found_for_every_solver(tmp_path, defect):
    found = compare(HERE, head(tmp_path, defect), Options(budget=0.0, every=True), lambda _: None)
    suite = load(ob.catalogue().suite(SUITE_BY_DEFAULT), ob.catalogue())
    names = {planned.solver.name for planned in suite.solvers}
    assert {row.solver.split()[0] for row in found.rows} == names
    failed = {row.label for row in found.found(Change.WORSE, Question.RESULT)}
    for row in found.rows:
        if row.question is Question.WORK:
            # where a step is left out, a solver without a solution before it fails, and one that
            # sees other samples may be lucky
            lucky = row.finding.change is Change.BETTER or row.label in failed
            assert row.finding.change is Change.WORSE or (lucky and defect is WASTEFUL), row.label
            assert defect is not DEARER or 1 < row.finding.ratio <= 1.05, row.label
    assert len(found.found(Change.WORSE, Question.WORK)) > 0.8 * len(names)


@pytest.mark.slow
def test_turned_solution_is_found_for_every_solver(tmp_path):
    found = compare(HERE, head(tmp_path, TURNED), Options(budget=0.0, every=True), lambda _: None)
    answers = results_of(found)
    for answer in answers:
        assert answer.change is (Change.WORSE if answer.ratio > 1 else Change.BETTER), (
            answer.explanation
        )
    assert sum(answer.change is Change.WORSE for answer in answers) > len(answers) / 2


@pytest.mark.slow
def test_run_that_raises_hangs_or_dies_costs_no_other(suite, tmp_path):
    for what in (
        "raise ValueError('broken')",
        "import os; os.kill(os.getpid(), 9)",
        "while True: pass",
    ):
        defect = f"""
        def advance(self, oracle, state, count):
            {what}

        def change(solvers):
            solvers["oja"].item.advance = advance
        """
        side = head(tmp_path / what[:5], defect)
        found, changes = compared(HERE, side, suite)
        assert changes["oja step=2.0"][Question.RESULT] is Change.WORSE, what
        assert changes["incremental-pca"][Question.RESULT] is Change.SAME, what
        said = results_of(found)[0].explanation
        assert "broken" in said or "SIGKILL" in said or "took longer" in said
        assert "fails" in said
