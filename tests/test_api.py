"""The front door, through the entry points that are installed."""

import numpy as np
import pytest

import orthobench as ob
from orthobench.api import SolverError
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


def test_the_same_call_twice_is_equal_bit_for_bit(X):
    instance = ob.stochastic_pca(X, k=4)
    a, b = (
        ob.solve("capped-msg", instance, budget=ob.Budget(samples=777), seed=3, step=0.5)
        for _ in range(2)
    )
    assert np.array_equal(a.solution, b.solution)
    assert [m.metrics for m in a.trace] == [m.metrics for m in b.trace]
    assert [m.work for m in a.trace] == [m.work for m in b.trace]


def test_one_pass_ends_when_the_data_are_used_up(X):
    outcome = ob.solve("oja", ob.stochastic_pca(X, k=2), step=0.1)
    assert outcome.work.samples == 3000
    assert outcome.stop.status.value == "done"


def test_a_problem_may_be_named(X):
    outcome = ob.solve("incremental-pca", "digits", budget=ob.Budget(samples=100))
    assert outcome.solution.shape == (64, 4)


def test_a_generator_is_enough(X):
    rows = (row for row in X)
    outcome = ob.solve("batch-pca", ob.stochastic_pca(rows, k=2, test=X), ob.Budget(samples=500))
    C = X[:500].T @ X[:500]
    _, vectors = np.linalg.eigh(C)
    np.testing.assert_allclose(
        outcome.solution @ outcome.solution.T, vectors[:, -2:] @ vectors[:, -2:].T, atol=1e-10
    )


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda _: ob.solve("cappedmsg", "digits"), ob.UsageError, "did you mean 'capped-msg'"),
        (lambda _: ob.solve("msg", "digitts"), ob.UsageError, "did you mean 'digits'"),
        (lambda X: solve(X, step=-1.0), ob.UsageError, "step must be > 0"),
        (lambda X: solve(X, stepp=1.0), ob.UsageError, "did you mean 'step'"),
        (lambda X: solve(X, K=2), ob.OrthobenchError, "K"),
        (lambda X: ob.stochastic_pca(X, k=21), ob.UsageError, "between 1 and d = 20"),
        (lambda X: ob.stochastic_pca(X, k=0), ob.UsageError, "k must be"),
        (lambda X: ob.stochastic_pca(X[0], k=1), ob.OrthobenchError, "row|matrix|shape|judge"),
        (lambda _: ob.solve("oja", "spiked-covariance"), ob.UsageError, "nothing limits"),
    ],
)
def test_wrong_calls_say_what_is_right(X, call, error, said):
    with pytest.raises(error, match=said):
        call(X)


def test_a_row_that_is_not_finite_is_named(X):
    bad = X.copy()
    bad[1234, 7] = np.nan
    instance = ob.stochastic_pca(bad, k=2, test=X)
    with pytest.raises(ob.DataError, match=r"sample 1234 .*feature 7"):
        ob.solve("msg", instance, step=1.0)


def test_a_solver_that_fails_raises_with_its_curve(toys):
    problem = toys.Problem()
    with pytest.raises(SolverError, match="ZeroDivisionError") as caught:
        ob.solve(toys.Solver(fault="raise"), problem, ob.Budget(steps=9))
    assert len(caught.value.outcome.trace) == 5


def test_a_solver_refuses_what_it_cannot_take(toys):
    with pytest.raises(ob.UsageError, match="needs a MatrixOracle"):
        ob.solve(toys.Solver(), "digits", ob.Budget(steps=9))
    with pytest.raises(ob.UsageError, match="needs a SampleOracle"):
        ob.solve("msg", toys.Problem(), ob.Budget(steps=9))


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


def test_the_session_records_the_threads_that_cells_run_on(tmp_path):
    table = {
        "seeds": 1,
        "budget": {"samples": 10},
        "problem": [{"name": "digits"}],
        "solver": [{"name": "batch-pca"}],
    }
    ob.run(table, str(tmp_path / "s.sqlite"), executor="inline", quiet=True)
    with Store(tmp_path / "s.sqlite") as store:
        pools = store.session("suite")["environment"]["blas"]
    assert all(pool["num_threads"] == 1 for pool in pools)


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


def test_a_suite_in_which_nothing_can_run_is_refused_before_all_else(tmp_path):
    with pytest.raises(ob.UsageError, match=r"no solver can take these problems .*m = 2 of 30"):
        ob.run(sparse("givens-sparse-pca"), tmp_path / "s.sqlite", executor="inline", quiet=True)
    assert not list(tmp_path.iterdir())
