"""Functions of orthonormal columns: what is judged, what is drawn, and what is refused."""

import numpy as np
import pytest
from orthobench_stiefel.functions import FunctionOracle
from orthobench_stiefel.judge import feasible, projected
from orthobench_stiefel.oracle import FiniteSumOracle

import orthobench as ob
from orthobench.contract.problem import Solution
from orthobench.harness.judging import FEASIBLE
from orthobench.tools.geometry import drift, polar, random_point

N, P = 6, 3
A = np.diag(np.arange(1.0, N + 1))
WEIGHTS = np.arange(P, 0, -1.0)
LEAST = float(np.arange(1, P + 1) @ WEIGHTS)


def cost(X):
    return float(np.vdot(X * WEIGHTS, A @ X))


def gradient(X):
    return 2 * (A @ X) * WEIGHTS


def point(seed=0, n=N, p=P):
    return random_point(n, p, np.random.default_rng(seed))


def test_the_metrics_in_their_order():
    X = point()
    full = ob.stiefel(cost, gradient, n=N, p=P, best=LEAST)
    metrics = full.measure(Solution(X))
    assert list(metrics) == [
        "objective_gap", "objective", "relative_gradient_norm", "orthogonality_defect",
    ]  # fmt: skip
    assert metrics["objective_gap"] == cost(X) - LEAST
    assert full.measure(Solution(np.eye(N, P)))["objective_gap"] == 0
    assert list(ob.stiefel(cost, n=N, p=P).measure(Solution(X))) == [
        "objective", "orthogonality_defect",
    ]  # fmt: skip


def test_relative_gradient_ignores_the_scale_of_the_cost():
    X = point(1)
    plain = ob.stiefel(cost, gradient, n=N, p=P).measure(Solution(X))
    scaled = ob.stiefel(lambda X: 1e6 * cost(X), lambda X: 1e6 * gradient(X), n=N, p=P)
    relative = scaled.measure(Solution(X))["relative_gradient_norm"]
    assert relative == pytest.approx(plain["relative_gradient_norm"], rel=1e-12)
    assert 0.01 < relative < 10


def test_projected_gradient_is_tangent_and_right():
    X, G = point(), gradient(point())
    R = projected(X, G)
    assert np.abs(X.T @ R + R.T @ X).max() < 1e-13
    D, step = projected(X, np.random.default_rng(2).standard_normal(X.shape)), 1e-5
    difference = (cost(polar(X + step * D)) - cost(polar(X - step * D))) / (2 * step)
    assert np.vdot(R, D) == pytest.approx(difference, rel=1e-8)


def test_an_infeasible_point_is_judged_at_the_nearest_feasible_one():
    """It lies below the least cost of feasible points, which must not count."""
    instance = ob.stiefel(cost, gradient, n=N, p=P, best=LEAST)
    X = np.eye(N, P) + 0.01 * np.random.default_rng(0).standard_normal((N, P)) - 0.1 * np.eye(N, P)
    assert cost(X) < LEAST
    metrics = instance.measure(Solution(X))
    assert metrics["objective_gap"] == pytest.approx(cost(polar(X)) - LEAST)
    assert metrics["objective_gap"] > 0
    assert metrics["orthogonality_defect"] == drift(X) > 0.1
    assert instance.violation(Solution(X)) <= FEASIBLE
    assert np.array_equal(instance.finish(Solution(X)).point, polar(X))


def test_a_feasible_point_keeps_its_bits():
    X = point()
    assert feasible(Solution(X)).point is X


def test_a_start_of_ones_own_is_where_solvers_begin():
    X = np.eye(N, P)
    oracle = ob.stiefel(cost, n=N, p=P, start=X).oracle
    oracle.start = point(5)
    assert np.array_equal(oracle.start, X)
    other = ob.stiefel(cost, n=N, p=P).oracle
    other.start = point(5)
    assert np.array_equal(other.start, point(5))


class Quadratic(FiniteSumOracle):
    """The mean of |a'X|² over rows a."""

    def __init__(self, rows):
        self.rows, self.terms, self.n, self.k = rows, len(rows), rows.shape[1], 2

    def value(self, X):
        return float(np.sum((self.rows @ X) ** 2)) / self.terms

    def gradient(self, X):
        return self.terms_gradient(X, np.arange(self.terms))

    def terms_gradient(self, X, chosen):
        return 2 * self.rows[chosen].T @ (self.rows[chosen] @ X) / len(chosen)


def test_epoch_of_batches_is_the_gradient():
    oracle = Quadratic(np.random.default_rng(0).standard_normal((12, 4)))
    oracle.rewind(np.random.default_rng(1))
    X = point(0, 4, 2)
    batches = [oracle.stochastic_gradient(X, 3) for _ in range(4)]
    assert np.allclose(np.mean(batches, axis=0), oracle.gradient(X), rtol=1e-13)
    assert oracle.taken == 12
    assert not np.allclose(batches[0], oracle.gradient(X), rtol=0.1)


def test_batches_beyond_an_epoch_take_terms_equally_often():
    oracle, drawn = Quadratic(np.eye(5)), []
    oracle.terms_gradient = lambda X, chosen: drawn.extend(chosen)
    oracle.rewind(np.random.default_rng(1))
    for batch in (3, 10):
        oracle.stochastic_gradient(None, batch)
    assert sorted(drawn[:5]) == sorted(drawn[5:10]) == list(range(5))
    assert drawn[:5] != drawn[5:10]
    assert len(set(drawn[10:])) == 3


@pytest.mark.parametrize("determinant", [1, -1])
def test_a_run_begins_on_the_component_that_is_asked_for(determinant):
    oracle = FunctionOracle(cost, 4, 4, determinant=determinant)
    for seed in range(8):
        U = point(seed, 4, 4)
        oracle.start = U
        assert np.linalg.det(oracle.start) == pytest.approx(determinant)
        np.testing.assert_array_equal(oracle.start[:, :-1], U[:, :-1])
        np.testing.assert_array_equal(np.abs(oracle.start[:, -1]), np.abs(U[:, -1]))


def test_restarts_take_both_components_in_turn():
    oracle = FunctionOracle(cost, 4, 4, determinant=0)
    oracle.start = point(0, 4, 4)
    begun = [oracle.start]
    for number in range(1, 5):
        oracle.start_again(number, np.random.default_rng(number))
        begun.append(oracle.start)
    signs = [np.sign(np.linalg.det(U)) for U in begun]
    assert signs[0] == -signs[1]
    assert signs[2] == -signs[3]
    np.testing.assert_array_equal(begun[1][:, :-1], begun[0][:, :-1])
    assert not np.array_equal(begun[2][:, 0], begun[0][:, 0])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"p": 0}, "p must be a whole number >= 1"),
        ({"n": 2.5}, "n must be a whole number >= 1"),
        ({"p": True}, "p must be a whole number >= 1"),
        ({"p": 7}, "p = 7 columns of n = 6 rows cannot be orthonormal"),
        ({"start": np.ones((N, P))}, "start is off the manifold"),
        ({"start": np.full((N, P), np.nan)}, "start is off the manifold"),
        ({"start": np.eye(N)}, r"start must be a matrix of shape \(6, 3\)"),
        ({"start": 1j * np.eye(N, P)}, "must be real numbers, not of dtype complex128"),
        ({"best": np.inf}, "best must be a finite number"),
        ({"cost": 3.0}, "cost must be a function"),
        ({"cost": lambda X: np.nan}, r"cost\(X\) is nan at a random orthonormal \(6, 3\)"),
        ({"cost": lambda X: np.nan, "start": np.eye(N, P)}, r"cost\(X\) is nan at the start"),
        ({"cost": lambda X: -np.inf}, "is -inf"),
        ({"cost": lambda X: X[0]}, r"must be a real number, not float64 of shape \(3,\)"),
        ({"cost": lambda X: 1j}, "must be a real number, not complex128"),
        ({"cost": lambda X: X.sort() or 1.0}, "cost writes into the matrix"),
        ({"gradient": lambda X: -gradient(X)}, "not that of the cost"),
        (
            {"cost": lambda X: cost(X) + 1e9, "gradient": lambda X: -gradient(X)},
            "not that of the cost",
        ),
        ({"gradient": lambda X: 1.01 * gradient(X)}, "not that of the cost"),
        ({"gradient": lambda X: gradient(X).T}, r"shape \(6, 3\), not float64 of \(3, 6\)"),
        ({"gradient": lambda X: 1j * gradient(X)}, "real matrix"),
        ({"gradient": lambda X: np.nan * gradient(X)}, "not finite"),
        ({"gradient": lambda X: 1 / 0}, "gradient raised ZeroDivisionError"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(settings, message):
    given = {"cost": cost, "gradient": gradient, "n": N, "p": P} | settings
    with pytest.raises(ob.UsageError, match=message):
        ob.stiefel(**given)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.nan, "the cost is nan"), (-np.inf, "the cost is -inf"), (1j, "real number"),
        (np.ones(2), "real number"),
    ],
)  # fmt: skip
def test_a_cost_that_breaks_later_is_refused_too(value, message):
    with pytest.raises(ob.DataError, match=message):
        FunctionOracle(lambda X: value, N, P).value(point())


def test_determinant_is_a_metric_of_square_matrices_only():
    square = ob.stiefel(lambda X: float(X[0, 0]), n=3, p=3)
    assert square.measure(Solution(np.eye(3)))["determinant"] == 1
    assert "determinant" not in ob.stiefel(cost, n=N, p=P).measure(Solution(point()))
    assert (square.oracle.components, square.oracle.determinant) == (2, 0)
    begun = ob.stiefel(lambda X: float(X[0, 0]), n=3, p=3, start=np.eye(3)).oracle
    assert (begun.components, begun.determinant) == (1, None)
