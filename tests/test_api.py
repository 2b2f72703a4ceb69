"""The main functions, through the installed entry points."""

import subprocess
import sys
import threading
from dataclasses import dataclass

import numpy as np
import pytest
from own_solver import MY_OJA

import orthobench as ob
from orthobench.api import SolverError
from orthobench.contract import Solver
from orthobench.registry import plugins, suite_file
from orthobench.registry.plugins import catalogue
from orthobench.results.store import Store


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).standard_normal((3000, 20)) * np.linspace(2, 0.5, 20)


def solve(X, **settings):
    given = {"budget": ob.Budget(samples=1000), "seed": 0, "step": 1.0, **settings}
    return ob.solve("capped-msg", ob.stochastic_pca(X, k=4), **given)


def test_a_solution_is_orthonormal_and_near_the_best(X):
    outcome = solve(X / np.sqrt(np.mean(np.sum(X**2, axis=1))))
    U = outcome.solution
    assert U.shape == (20, 4)
    np.testing.assert_allclose(U.T @ U, np.eye(4), atol=1e-12)
    assert outcome.work.samples == 1000
    assert (
        outcome.trace[-1].metrics["suboptimality"] < 0.2 * outcome.trace[0].metrics["suboptimality"]
    )


@pytest.mark.parametrize("name", ["capped-msg", "block-krylov", "sklearn-pca"])
def test_a_solve_records_start_and_end_or_its_curve(X, name):
    instance = ob.stochastic_pca(X, k=4)
    plain, curve = (ob.solve(name, instance, curve=curve) for curve in (False, True))
    assert [m.work.samples for m in plain.trace] == [0, len(X)]
    assert np.array_equal(plain.solution, curve.solution)
    assert [m.metrics for m in plain.trace] == [curve.trace[i].metrics for i in (0, -1)]
    assert len(curve.trace) > 3


def test_the_same_call_twice_is_equal_bit_for_bit(X):
    instance = ob.stochastic_pca(X, k=4)
    a, b = (
        ob.solve(
            "capped-msg", instance, budget=ob.Budget(samples=777), seed=3, curve=True, step=0.5
        )
        for _ in range(2)
    )
    assert np.array_equal(a.solution, b.solution)
    assert [m.metrics for m in a.trace] == [m.metrics for m in b.trace]
    assert [m.work for m in a.trace] == [m.work for m in b.trace]


def test_one_pass_ends_when_the_data_are_used_up(X):
    outcome = ob.solve("oja", ob.stochastic_pca(X, k=2), step=0.1)
    assert outcome.work.samples == 3000
    assert outcome.stop.status.value == "done"


def test_parameters_may_stand_in_the_specification(X):
    instance = ob.stochastic_pca(X, k=2)
    one, other = ob.solve("oja step=0.1", instance), ob.solve("oja", instance, step=0.1)
    assert np.array_equal(one.solution, other.solution)
    assert ob.solve("batch-pca", "digits k=2").solution.shape[1] == 2


def test_a_generator_is_enough(X):
    rows = (row for row in X)
    outcome = ob.solve("batch-pca", ob.stochastic_pca(rows, k=2, test=X), ob.Budget(samples=500))
    C = X[:500].T @ X[:500]
    _, vectors = np.linalg.eigh(C)
    np.testing.assert_allclose(
        outcome.solution @ outcome.solution.T, vectors[:, -2:] @ vectors[:, -2:].T, atol=1e-10
    )


def test_wrong_calls_say_what_is_right(X):
    for call, error, said in (
        (lambda _: ob.solve("cappedmsg", "digits"), ob.UsageError, "did you mean 'capped-msg'"),
        (lambda _: ob.solve("msg", "digitts"), ob.UsageError, "did you mean 'digits'"),
        (lambda X: solve(X, step=-1.0), ob.UsageError, "step must be > 0"),
        (lambda X: solve(X, stepp=1.0), ob.UsageError, "did you mean 'step'"),
        (lambda X: solve(X, K=2), ob.OrthobenchError, "K"),
        (lambda X: ob.stochastic_pca(X, k=21), ob.UsageError, "between 1 and 20"),
        (lambda X: ob.stochastic_pca(X, k=0), ob.UsageError, "k must be"),
        (lambda X: ob.stochastic_pca(X[0], k=1), ob.OrthobenchError, "row|matrix|shape|judge"),
        (lambda _: ob.solve("oja", "spiked-covariance"), ob.UsageError, "nothing limits"),
    ):
        with pytest.raises(error, match=said):
            call(X)


def test_a_solver_that_fails_raises_with_its_curve(toys):
    problem = toys.Problem()
    with pytest.raises(SolverError, match="ZeroDivisionError") as caught:
        ob.solve(toys.Solver(fault="raise"), problem, ob.Budget(steps=9), curve=True)
    assert len(caught.value.outcome.trace) == 5


def test_a_solver_refuses_what_it_cannot_take(toys):
    with pytest.raises(ob.UsageError, match="needs a MatrixOracle"):
        ob.solve(toys.Solver(), "digits", ob.Budget(steps=9))
    with pytest.raises(ob.UsageError, match="needs a SampleOracle"):
        ob.solve("msg", toys.Problem(), ob.Budget(steps=9))


def test_an_instance_is_for_one_thread_at_a_time():
    began, may_go_on = threading.Event(), threading.Event()

    def sampler(rng, count):
        began.set()
        may_go_on.wait(60)
        return rng.standard_normal((count, 4)) * [4, 3, 2, 1]

    instance = ob.stochastic_pca(sampler, k=2, covariance=np.diag([16.0, 9, 4, 1]))
    found = []

    def solved():
        return ob.solve("history-pca", instance, ob.Budget(steps=20)).solution

    thread = threading.Thread(target=lambda: found.append(solved()))
    thread.start()
    began.wait(60)
    try:
        with pytest.raises(ob.UsageError, match="make an instance for each thread"):
            solved()
    finally:
        may_go_on.set()
        thread.join()
    np.testing.assert_array_equal(found[0], solved())


def test_data_that_changed_are_read_again(tmp_path, X):
    path, store = tmp_path / "x.npy", tmp_path / "s.sqlite"
    table = {
        "seeds": 1,
        "budget": {"samples": 500},
        "problem": [{"name": "npy-stochastic-pca", "path": str(path), "k": 2}],
        "solver": [{"name": "batch-pca"}],
    }

    def explained():
        (record,) = ob.run(table, store, executor="inline", quiet=True).records
        return record.trace[-1].metrics["explained_variance_ratio"]

    np.save(path, X)
    before = explained()
    np.save(path, X * np.linspace(9, 0.1, 20))
    assert explained() > before + 0.1


def test_a_run_of_tables_gives_results(tmp_path):
    table = {
        "seeds": 2,
        "budget": {"samples": 200},
        "problem": [{"name": "digits", "k": 2}],
        "solver": [{"name": "oja", "step": {"tune": [0.1, 1]}}, {"name": "incremental-pca"}],
    }
    store = tmp_path / "s.sqlite"
    results = ob.run(table, store, executor="inline", quiet=True)
    assert not results.failures
    assert len(results.records) == 6
    frame = results.to_pandas()
    assert set(frame.query("chosen").solver) == {"oja", "incremental-pca"}
    assert frame.groupby(["solver", "seed", "solver.step"], dropna=False).ngroups == 6
    again = ob.run(table, store, executor="inline", quiet=True)
    assert [r.trace for r in again.records] == [r.trace for r in results.records]


def sparse(*solvers):
    return {
        "seeds": 1,
        "budget": {"flops": 1e7},
        "problem": [{"name": "planted-sparse", "m": 2, "d": 40, "samples": 30, "nonzeros": 5}],
        "solver": [{"name": name} for name in solvers],
    }


def test_a_refusal_is_recorded_and_no_failure(tmp_path):
    results = ob.run(
        sparse("givens-sparse-pca", "gpower"), tmp_path / "s.sqlite", executor="inline", quiet=True
    )
    assert not results.failures
    (refused,) = results.refused
    assert refused.solver.label == "givens-sparse-pca"
    assert "needs as many components as samples, not m = 2 of 30" in refused.stop.reason


SCRIPT = (
    MY_OJA
    + """
import orthobench as ob

X = np.random.default_rng(0).standard_normal((300, 6)) * np.linspace(2, 1, 6)
results = ob.run(
    problems=[ob.stochastic_pca(X, k=2), "digits k=4"],
    solvers=[MyOja, MyOja(rate=2.0), "batch-pca"],
    seeds=2, budget=ob.Budget(samples=200), store="s.sqlite", quiet=True, **SETTINGS,
)
assert not results.failures, results.failures
"""
)


def ran(folder, script, **settings):
    """Return the last metrics and the key of each run that a script asks for."""
    (folder / "script.py").write_text(script.replace("**SETTINGS", f"**{settings}"))
    words = [sys.executable, "script.py"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with Store(folder / "s.sqlite") as store:
        records = store.records("python")
    return {
        (r.problem.label, r.solver.label, r.seed): (r.trace[-1].metrics, r.key) for r in records
    }


def again(first, second):
    """Return the labels of the solvers whose runs are new."""
    return {key[1] for key in second if first.get(key) != second[key]}


@pytest.mark.wide
def test_classes_and_objects_of_a_script_run_in_guarded_processes(tmp_path):
    first = ran(tmp_path, SCRIPT, workers=1)
    assert {key[:2] for key in first} == {
        (problem, solver)
        for problem in ("stochastic PCA n=6 k=2", "digits k=4")
        for solver in ("my-oja", "my-oja rate=2.0", "batch-pca")
    }
    text = SCRIPT.replace("np.linalg.qr(M)[0]", "np.linalg.qr(M)[0] + 0.0")
    assert again(first, ran(tmp_path, text, executor="inline")) == {"my-oja", "my-oja rate=2.0"}
    (tmp_path / "s.sqlite").unlink()
    text = SCRIPT.replace("def orthonormal(M):", '# more\n\n\ndef orthonormal(M):\n    """Q."""')
    inline = ran(tmp_path, text, executor="inline")
    for key, (metrics, identity) in inline.items():
        assert identity == first[key][1]
        assert metrics == pytest.approx(first[key][0], rel=1e-12, abs=1e-12)


def of_two(tmp_path, **given):
    settings = {"seeds": 1, "budget": ob.Budget(steps=5), "executor": "inline", "quiet": True}
    return ob.run(store=tmp_path / "s.sqlite", **{**settings, **given})


def test_an_instance_of_functions_is_what_they_compute(tmp_path):
    def cost(weight):
        A = np.diag(np.arange(6.0))
        value = lambda X: float(weight * np.sum(X * (A @ X)))  # noqa: E731
        return ob.stiefel(value, lambda X: 2 * weight * A @ X, n=6, p=2)

    solvers = ["riemannian-gradient", "landing"]
    runs = [of_two(tmp_path, problems=[cost(w)], solvers=solvers) for w in (1.0, 1.0, 2.0)]
    keys = [[r.key for r in results.records] for results in runs]
    assert keys[0] == keys[1]
    assert not set(keys[0]) & set(keys[2])
    assert {r.problem.label for r in runs[0].records} == {"Stiefel manifold n=6 k=2"}
    assert not runs[0].failures


def test_an_instance_starts_as_in_a_single_run_whatever_its_data(X, tmp_path):
    instances = [ob.stochastic_pca(X * c, k=2) for c in (1, 1024)]
    results = of_two(
        tmp_path, problems=instances, solvers=["batch-pca"], budget=ob.Budget(samples=500)
    )
    one = ob.solve("batch-pca", instances[0], ob.Budget(samples=500), seed=0)
    first, second = (r.trace for r in results.records)
    assert first[0].metrics == one.trace[0].metrics
    assert second[0].metrics["subspace_error"] == pytest.approx(first[0].metrics["subspace_error"])
    assert len({r.problem.label for r in results.records}) == 2


def test_a_generator_is_never_taken_for_another(X, tmp_path):
    runs = [
        of_two(
            tmp_path, problems=[ob.stochastic_pca((row for row in X), k=2, test=X)],
            solvers=["batch-pca"], budget=ob.Budget(samples=100),
        )
        for _ in range(2)
    ]  # fmt: skip
    assert runs[0].records[0].key != runs[1].records[0].key
    with pytest.raises(ob.UsageError, match="cannot be sent to another process"):
        of_two(
            tmp_path, problems=[ob.stochastic_pca((row for row in X), k=2, test=X)],
            solvers=["batch-pca"], executor="local",
        )  # fmt: skip


def test_problems_and_solvers_of_any_kind_stand_side_by_side(tmp_path, toys):
    results = of_two(
        tmp_path,
        problems=[toys.Problem, toys.Problem(n=5)],
        solvers=[toys.Solver, toys.Solver(fault="converge")],
    )
    labels = [(r.problem.label, r.solver.label) for r in results.records]
    assert labels == [
        (problem, solver)
        for problem in ("leading-subspace", "leading-subspace n=5")
        for solver in ("power", "power fault=converge")
    ]


def test_a_registered_class_has_a_name(toys, monkeypatch):
    known = catalogue().extended()
    monkeypatch.setattr(plugins, "catalogue", lambda: known)
    assert ob.register(toys.Solver) is toys.Solver
    assert known.solver("power") == toys.Solver()
    again = dataclass(frozen=True)(type("Again", (toys.Solver,), {}))
    ob.register(again)  # as a cell of a notebook that is executed once more
    assert type(known.solver("power")) is again
    with pytest.raises(ob.UsageError, match="has the name of solver 'oja' of plugin"):
        ob.register(dataclass(frozen=True)(type("Taken", (toys.Solver,), {"name": "oja"})))
    with pytest.raises(ob.OrthobenchError, match="Half lacks the methods init, solution"):
        ob.register(type("Half", (Solver,), {"name": "half"}))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"solvers": ["ojaa"]}, "solver: unknown solver 'ojaa'|did you mean 'oja'"),
        ({"solvers": [3]}, "3 is no table, class, object or specification"),
        ({"problems": [np.eye(3)]}, "is no table, class, object or specification"),
        ({"suite": {"problem": ["digits"]}, "seeds": 2}, "leave these out"),
    ],
)
def test_a_suite_of_nonsense_is_refused(given, said, tmp_path):
    with pytest.raises(ob.UsageError, match=said):
        of_two(tmp_path, **{"problems": ["digits"], **given})


def test_classes_take_the_place_of_the_solvers_of_a_suite(tmp_path, toys, monkeypatch):
    monkeypatch.setattr(suite_file, "catalogue", lambda: toys.registry)
    (tmp_path / "small.toml").write_text(
        'budget = { steps = 50 }\nproblem = "leading-subspace n=5"\nsolver = "power"\n'
    )
    again = dataclass(frozen=True)(
        type("Again", (toys.Solver,), {"name": "again", "__module__": __name__})
    )
    results = of_two(tmp_path, suite=tmp_path / "small.toml", solvers=[again, "power"], seeds=[3])
    found = [
        (r.problem.label, r.solver.label, r.seed, r.trace[-1].work.steps) for r in results.records
    ]
    assert found == [("leading-subspace n=5", name, 3, 5) for name in ("again", "power")]
