"""`ob.instance`: the instance of a problem, made once, on which runs are those of the problem."""

import pickle
import subprocess
import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest
from own_solver import MY_OJA

import orthobench as ob
from orthobench.harness.given import problem_of


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 12)) * np.linspace(3, 1, 12)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "S.npy", X.T @ X)
    return tmp_path


@pytest.mark.parametrize(
    ("solver", "problem", "budget"),
    [
        ("randomized-pca", "npy-pca path={}/X.npy k=3", None),
        ("oja step=0.1", "npy-stochastic-pca path={}/X.npy k=3", None),
        ("capped-msg step=0.5", "spiked-covariance k=3", ob.Budget(samples=200)),
        ("riemannian-gradient", "npy-brockett path={}/S.npy k=2", ob.Budget(steps=20)),
        ("givens-tensor", "odeco", None),
    ],
)
def test_runs_on_it_have_the_bits_of_runs_on_the_problem(files, solver, problem, budget):
    text = problem.format(files)
    for seed in (0, 3):
        instance = ob.instance(text, seed=seed)
        for _ in range(2):
            one = ob.solve(solver, instance, budget, seed=seed)
            other = ob.solve(solver, text, budget, seed=seed)
            assert np.array_equal(one.solution, other.solution)
            assert [m.metrics for m in one.trace] == [m.metrics for m in other.trace]
            assert one.work == other.work


def test_a_problem_is_built_once_for_all_runs(toys):
    built = []

    @dataclass(frozen=True)
    class Counted(toys.Problem):
        def build(self, rng):
            built.append(rng)
            return super().build(rng)

    problem = ob.instance(Counted())
    for seed in range(3):
        ob.solve(toys.Solver(), problem, ob.Budget(steps=3), seed=seed)
    assert len(built) == 1


def test_a_suite_runs_it_from_the_starts_of_its_problem(tmp_path):
    def metrics(problem, name):
        results = ob.run(
            problems=[problem], solvers=["oja step=0.5"], seeds=[0], quiet=True,
            budget=ob.Budget(samples=100), executor="inline", store=tmp_path / name,
        )  # fmt: skip
        assert not results.failures
        return [mark.metrics for mark in results.records[0].trace]

    assert metrics(ob.instance("digits k=2"), "a") == metrics("digits k=2", "b")


def test_the_streams_of_a_problem_identify_an_instance(toys):
    own = toys.Problem().build(None)
    assert "streams" not in own.__getstate__()
    assert pickle.loads(pickle.dumps(ob.polar(np.eye(3)))).streams == own.streams  # noqa: S301
    recipe = replace(own, streams="of a recipe")
    one, other = (problem_of(instance, toys.Problem) for instance in (own, recipe))
    assert one.checksum() != other.checksum()
    assert one.checksum() == problem_of(replace(own), toys.Problem).checksum()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("digitts",), "did you mean 'digits'"),
        (("digits k=0",), "k must be"),
        ((np.eye(3),), "problem must be a name or a problem"),
        (("digits", -1), "seed must be a whole number"),
    ],
)
def test_other_arguments_are_refused(given, said):
    with pytest.raises(ob.UsageError, match=said):
        ob.instance(*given)


SOLVER = (
    MY_OJA
    + """
import orthobench as ob
from orthobench_stochastic_pca import StochasticPCA


@dataclass(frozen=True)
class Noise(StochasticPCA):
    name = "noise-of-file"
    offers = SampleOracle
    k: int = parameter(2, help="components", low=1)

    def build(self, rng):
        X = rng.standard_normal((100, 5)) * np.linspace(2, 1, 5)
        return ob.stochastic_pca(X, k=self.k)
"""
)


def test_solvers_and_problems_of_a_file_are_named_by_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_own_file.py").write_text(SOLVER)
    one = ob.solve("my_own_file.py:MyOja rate=2.0", "my_own_file.py:Noise k=3", ob.Budget(steps=40))
    assert (one.solution.shape, one.work.steps) == ((5, 3), 40)
    problem = ob.instance("my_own_file.py:Noise k=3")
    other = ob.solve("my_own_file.py:MyOja", problem, ob.Budget(steps=40), rate=2.0)
    assert np.array_equal(one.solution, other.solution)
    with pytest.raises(ob.UsageError, match="rate must be > 0"):
        ob.solve("my_own_file.py:MyOja rate=-1", problem)
    with pytest.raises(ob.UsageError, match="did you mean 'MyOja'"):
        ob.solve("my_own_file.py:MyOjas", problem)
    with pytest.raises(ob.UsageError, match="there is no file"):
        ob.solve("my_other_file.py:MyOja", problem)


def test_repeated_solves_look_for_plugins_once():
    code = """
import numpy as np, orthobench as ob
from orthobench.registry import plugins
looked, entry_points = [], plugins.entry_points
plugins.entry_points = lambda **given: looked.append(given) or entry_points(**given)
problem = ob.pca(np.random.default_rng(0).standard_normal((50, 5)), k=2)
for _ in range(3):
    ob.solve("gram-pca", problem)
assert len(looked) == 1, looked
"""
    subprocess.run([sys.executable, "-c", code], check=True)
