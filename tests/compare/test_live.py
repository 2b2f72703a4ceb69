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
from orthobench.cli.comparing import compare as command
from orthobench.compare.cells import SUITE as SUITE_BY_DEFAULT
from orthobench.compare.options import Options, Question
from orthobench.compare.process import SideError, SideProcess
from orthobench.compare.run import compare
from orthobench.compare.sides import Side
from orthobench.errors import UsageError
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
def test_nothing_is_run_where_nothing_differs(suite):
    told = []
    found = compare(HERE, replace(HERE, name="HEAD"), Options(suite=suite), told.append)
    assert told == []
    assert {row.finding.change for row in found.rows} == {Change.SAME}
    assert (len(found.rows), found.rounds, found.exit_code) == (10, 0, 0)
    assert found.verdict() == "no regression (2 of 2 cells compared)"
    assert any(note.startswith("2 of 2 cells were neither run") for note in found.notes)


@pytest.mark.wide
def test_equal_code_shows_no_change_and_what_only_one_side_has_is_told(suite, tmp_path):
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


@pytest.mark.wide
def test_a_solver_that_does_not_exist_is_refused(suite):
    with pytest.raises(UsageError, match="did you mean 'oja'"):
        compared(HERE, HERE, suite, solvers=("ojo",))


@pytest.mark.slow
def test_defects_of_result_and_work_are_always_found(suite, tmp_path):
    worse = head(
        tmp_path / "worse",
        """
        def change(solvers):
            cls = solvers["oja"].item
            advance = cls.advance
            def timid(self, oracle, state, count):
                advance(scaled(self, 0.01), oracle, state, count)
            cls.advance = timid

        def scaled(solver, factor):
            import copy
            other = copy.copy(solver)
            object.__setattr__(other, "step_size", factor * solver.step_size)
            return other
        """,
    )
    _, changes = compared(HERE, worse, suite)
    assert changes["oja step=2.0"][Question.RESULT] is Change.WORSE
    assert changes["incremental-pca"][Question.RESULT] is Change.SAME
    dearer = head(
        tmp_path / "dearer",
        """
        def change(solvers):
            cls = solvers["oja"].item
            advance = cls.advance
            def dearer(self, oracle, state, count):
                flops = state.work.flops
                advance(self, oracle, state, count)
                state.work.flops += (state.work.flops - flops) // 20
            cls.advance = dearer
        """,
    )
    found, changes = compared(HERE, dearer, suite)
    assert changes["oja step=2.0"][Question.WORK] is Change.WORSE
    assert changes["oja step=2.0"][Question.RESULT] is Change.SAME
    assert [row.solver for row in found.found(Change.WORSE)] == ["oja step=2.0"]


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
def test_five_percent_more_work_is_found_of_every_solver_of_the_default_suite(tmp_path, defect):
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
def test_another_solution_is_found_of_every_solver_of_the_default_suite(tmp_path):
    found = compare(HERE, head(tmp_path, TURNED), Options(budget=0.0, every=True), lambda _: None)
    answers = results_of(found)
    for answer in answers:
        assert answer.change is (Change.WORSE if answer.ratio > 1 else Change.BETTER), (
            answer.explanation
        )
    assert sum(answer.change is Change.WORSE for answer in answers) > len(answers) / 2


@pytest.mark.slow
def test_runs_that_raise_hang_or_die_are_told_and_cost_no_other(suite, tmp_path):
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
        found, changes = compared(HERE, side, suite, run_limit=20.0)
        assert changes["oja step=2.0"][Question.RESULT] is Change.WORSE, what
        assert changes["incremental-pca"][Question.RESULT] is Change.SAME, what
        said = results_of(found)[0].explanation
        assert "broken" in said or "SIGKILL" in said or "took longer" in said
        assert "fails" in said


@pytest.mark.slow
def test_a_solver_that_contradicts_itself_is_a_regression_if_that_of_base_does_not(suite, tmp_path):
    defect = """
        def change(solvers):
            cls = solvers["oja"].item
            advance = cls.advance
            def random(self, oracle, state, count):
                import copy
                import numpy as np
                other = copy.copy(self)
                object.__setattr__(other, "step_size", 0.01 * np.random.default_rng().random())
                advance(other, oracle, state, count)
            cls.advance = random
        """
    side = head(tmp_path, defect)
    found, changes = compared(HERE, side, suite)
    assert changes["oja step=2.0"][Question.RESULT] is Change.WORSE
    assert "two runs of HEAD with the same seed differ" in results_of(found)[0].explanation
    both, neither = compared(side, side, suite)
    assert neither["oja step=2.0"][Question.RESULT] is Change.NONE
    assert both.exit_code == 2
    assert changes["incremental-pca"][Question.RESULT] is Change.SAME


@pytest.mark.slow
def test_a_solver_that_takes_twice_as_long_is_found(suite, tmp_path):
    defect = """
        def change(solvers):
            cls = solvers["oja"].item
            advance = cls.advance
            def slower(self, oracle, state, count):
                import time
                begin = time.process_time_ns()
                advance(self, oracle, state, count)
                end = 2 * time.process_time_ns() - begin
                while time.process_time_ns() < end:
                    pass
            cls.advance = slower
        """
    _, changes = compared(HERE, head(tmp_path, defect), suite, budget=60.0)
    assert changes["oja step=2.0"][Question.TIME] is Change.WORSE
    assert changes["oja step=2.0"][Question.RESULT] is Change.SAME
    assert changes["incremental-pca"][Question.TIME] is not Change.WORSE


POOLED = """
    from concurrent.futures import ThreadPoolExecutor

    POOL = ThreadPoolExecutor(2)

    def work(seed):
        return sum(i * i for i in range(ROUNDS))

    def change(solvers):
        cls = solvers["oja"].item
        advance = cls.advance
        def pooled(self, oracle, state, count):
            advance(self, oracle, state, count)
            list(POOL.map(work, range(2)))
        cls.advance = pooled
"""


@pytest.mark.slow
def test_solvers_with_threads_are_timed(suite, tmp_path):
    """Copies of their processes would have none of their threads, and wait for ever."""
    suite.write_text(suite.read_text().replace('[[solver]]\n    name = "incremental-pca"', ""))
    sides = [
        head(tmp_path / str(rounds), POOLED.replace("ROUNDS", str(rounds)))
        for rounds in (100, 100, 20_000)
    ]
    calm, _ = compared(sides[0], sides[1], suite, budget=20.0)
    assert not calm.regressions
    found, changes = compared(sides[0], sides[2], suite, budget=20.0)
    assert changes["oja step=2.0"][Question.TIME] is Change.WORSE
    assert found.seconds < 120


def test_a_process_tells_what_it_was_asked_in_vain():
    with SideProcess(HERE, Options()) as process:
        with pytest.raises(SideError, match="unknown suite 'nothing'"):
            process.ask("suite", name="nothing")
        assert "quickstart" not in process.ask("suite", name="quickstart")["text"][:5]
        assert process.alive


def test_the_command_has_the_same_budget_as_the_function():
    """It is written twice, so that ``--help`` need not load what compares."""
    (option,) = [one for one in command.params if one.name == "budget"]
    assert option.default == Options().budget
