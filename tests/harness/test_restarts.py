"""Starting again: the best end is the solution, all work counts, both components are tried."""

import itertools

import numpy as np
import pytest
from features import of_features

import orthobench as ob
from orthobench.contract.problem import Solution
from orthobench.contract.solver import Status, Work
from orthobench.harness.identity import describe, label
from orthobench.harness.restarts import restarted

A = np.random.default_rng(0).standard_normal((5, 5))
LEAST = -np.linalg.svd(A, compute_uv=False).sum()
TENSOR = np.random.default_rng(0).standard_normal((7, 7, 7))
TENSOR = sum(TENSOR.transpose(order) for order in itertools.permutations(range(3)))


def linear(**settings):
    return ob.orthogonal_group(
        lambda U: -float(np.vdot(A, U)), lambda U: -A.copy(), n=5, **settings
    )


def final(outcome, metric):
    return outcome.trace[-1].metrics[metric]


@pytest.mark.parametrize(
    "solver", ["givens", "riemannian-gradient", "wen-yin", "pymanopt-trust-regions"]
)
@pytest.mark.wide
def test_convergence_on_the_group_tried_both_components(solver):
    for seed in range(3):
        outcome = ob.solve(solver, linear(best=LEAST), seed=seed)
        assert outcome.stop.converged
        assert final(outcome, "objective_gap") < 1e-9
        assert final(outcome, "determinant") == np.sign(np.linalg.det(A))


@pytest.mark.parametrize("component", ["+1", "-1"])
@pytest.mark.parametrize("solver", ["givens", "riemannian-gradient", "wen-yin"])
def test_the_component_asked_for_is_kept(solver, component):
    sign, (P, values, R) = float(component), np.linalg.svd(A)
    values[-1] *= sign * np.linalg.det(P @ R)
    instance = linear(component=component, best=-values.sum())
    for seed in range(2):
        outcome = ob.solve(solver, instance, seed=seed)
        assert final(outcome, "determinant") == sign
        assert final(outcome, "objective_gap") < 1e-9
        assert "start" not in outcome.stop.reason
    other = np.diag([1.0, 1, 1, 1, -sign])
    assert instance.violation(Solution(other)) == 2.0


@pytest.mark.parametrize("solver", ["pymanopt-trust-regions", "riemannian-gradient", "givens"])
def test_a_start_that_needs_no_step_is_followed_by_the_next(solver):
    cost = {"cost": lambda U: float(U[0, 0]), "gradient": lambda U: np.ones((1, 1))}
    outcome = ob.solve(solver, ob.orthogonal_group(**cost, n=1), ob.Budget(steps=9))
    assert outcome.solution.item() == -1


def test_a_square_point_of_the_stiefel_manifold_has_components_too():
    cost = {"cost": lambda X: -float(np.vdot(A, X)), "gradient": lambda X: -A.copy()}
    instance = ob.stiefel(**cost, n=5, p=5, best=LEAST)
    for seed in range(4):
        outcome = ob.solve("riemannian-gradient", instance, seed=seed)
        assert final(outcome, "objective_gap") < 1e-9
    start = np.eye(5)
    begun = ob.stiefel(**cost, n=5, p=5, start=start)
    assert ob.solve("riemannian-gradient", begun).trace[-1].metrics["determinant"] == 1


def test_best_of_several_starts_is_kept_and_all_work_counts():
    tensor = ob.orthogonal_tensor(TENSOR)
    once = [ob.solve("givens-tensor", tensor, seed=seed) for seed in range(8)]
    many = [ob.solve("givens-tensor", tensor, seed=seed, restarts=10) for seed in range(8)]
    for one, ten in zip(once, many, strict=True):
        assert final(ten, "residual") <= final(one, "residual") + 1e-12
        assert ten.work.flops > 5 * one.work.flops
        assert ten.work.steps > 5 * one.work.steps
    ends = [final(one, "residual") for one in once]
    assert min(ends) < max(ends) - 1e-3
    assert all(final(ten, "residual") < min(ends) + 1e-9 for ten in many)


CASES = [
    ("givens-tensor", lambda: ob.orthogonal_tensor(TENSOR)),
    ("hoqri", lambda: ob.symmetric_tucker(tensor=TENSOR, rank=2)),
    ("pymanopt-conjugate-gradient", lambda: ob.symmetric_tucker(tensor=TENSOR, rank=2)),
    ("gpower", lambda: of_features(np.random.default_rng(1).standard_normal((30, 6)), 2)),
    ("riemannian-gradient", lambda: linear(component="+1")),
]


@pytest.mark.parametrize(("solver", "make"), CASES)
def test_one_start_is_the_plain_run_and_chunks_do_not_matter(solver, make):
    plain, one = ob.solve(solver, make()), ob.solve(solver, make(), restarts=1)
    assert np.array_equal(plain.solution, one.solution)
    assert plain.work.steps == one.work.steps
    two = ob.solve(solver, make(), restarts=2)
    assert two.stop.converged
    assert two.work.steps > one.work.steps
    assert np.array_equal(two.solution, ob.solve(solver, make(), restarts=2).solution)


def test_a_suite_has_restarts_and_a_run_is_told_apart_by_them(tmp_path):
    suite = {
        "seeds": 2,
        "budget": {"steps": 200},
        "problem": [{"name": "odeco", "d": 4}],
        "solver": [{"name": "givens-tensor", "restarts": [1, 3]}],
    }
    results = ob.run(suite, tmp_path / "r.sqlite", quiet=True, executor="inline")
    assert {r.solver.label for r in results.records} == {
        "givens-tensor restarts=1", "givens-tensor restarts=3",
    }  # fmt: skip
    assert not results.failures
    solver = ob.catalogue().solver("givens-tensor", {"restarts": 3, "start": "identity"})
    assert describe(solver)["parameters"]["start"] == "identity"
    assert "restarts=3" in label(solver)


@pytest.mark.parametrize(
    ("solver", "restarts", "message"),
    [
        ("oja", 3, "takes samples"),
        ("landing", 3, "does not end by itself"),
        ("givens-tensor", 0, "integer >= 1"),
        ("givens-tensor", 1.5, "integer >= 1"),
        ("givens-tensor", True, "integer >= 1"),
    ],
)
def test_restarts_that_mean_nothing_are_refused(solver, restarts, message):
    with pytest.raises(ob.UsageError, match=message):
        ob.catalogue().solver(solver, {"restarts": restarts})


@pytest.fixture
def begun(toys):
    """A function that does nine steps of a solver of toys from three starts."""

    class Compared(toys.Oracle):
        def objective(self, solution):
            return -float(np.trace(solution.point.T @ self.A @ solution.point)), Work(flops=5)

    oracle = Compared(np.diag([6.0, 5, 4, 3, 2, 1]), 2)

    def begin(end, reason="", **parameters):
        class Ending(toys.Solver):
            converges = True

            def step(self, oracle, state):
                super().step(oracle, state)
                state.status, state.reason = end, reason

        oracle.start = np.eye(6)[:, 4:]
        solver = restarted(Ending(**parameters), 3)
        state = solver.init(oracle, np.random.default_rng(0))
        solver.advance(oracle, state, 9)
        return state

    return begin


def test_a_run_fails_where_all_starts_do_and_says_why_the_last_did(begun):
    failed = begun(Status.FAILED, "no way")
    assert (failed.status, failed.reason, failed.work) == (
        Status.FAILED, "no way", Work(3, 0, 300)
    )  # fmt: skip
    ended = begun(Status.CONVERGED, "no more")
    assert (ended.status, ended.reason) == (Status.CONVERGED, "")
    assert ended.work == Work(3, 0, 3 * (100 + 5))  # comparing ends is work too
    stuck = begun(Status.RUNNING, fault="stall")
    assert (stuck.status, stuck.work.steps) == (Status.RUNNING, 0)


def test_ends_that_no_objective_compares_are_refused(toys):
    solver = restarted(ob.catalogue().solver("givens-tensor"), 2)
    with pytest.raises(ob.UsageError, match="solver givens-tensor: MatrixOracle has no objective"):
        solver.init(toys.Problem().build(None).oracle, np.random.default_rng(0))
    X = np.random.default_rng(0).standard_normal((20, 3))
    with pytest.raises(ob.UsageError, match="no objective to compare"):
        ob.solve("cca-als", ob.cca(X, X[:, :2] + 0.1, 1), restarts=2)
