"""Expected utility and its weights: the formula, its gradient, and the conditions of optimality."""

import numpy as np
import pytest
from drawn import rng
from hypothesis import given
from hypothesis import strategies as st
from orthobench_tucker.problems import allocation
from orthobench_tucker.problems.allocation import Utility, cumulative, performance

from orthobench.errors import OrthobenchError
from orthobench.tools.geometry import random_point


def returns(seed=0, p=400, n=5):
    """Heavy-tailed, skewed, correlated, of very different variances."""
    rows = rng(seed).standard_t(5, (p, n)) + rng(seed + 1).exponential(0.7, (p, 1))
    rows = rows * np.linspace(0.5, 2, n)
    return rows - rows.mean(axis=0)


def weights(seed, n=5):
    return rng(seed).dirichlet(np.ones(n))


def moment(X, order):
    letters = "abcd"[:order]
    return np.einsum(",".join("i" + c for c in letters) + "->" + letters, *[X] * order) / len(X)


def contracted(T, w):
    for _ in range(T.ndim):
        T = T @ w
    return float(T)


def projected(T, P):
    for axis in range(T.ndim):
        T = np.moveaxis(np.tensordot(T, P, axes=(axis, 0)), -1, axis)
    return T


def equation_19(M2, M3, M4, w, mu):
    return (
        -mu / 2 * contracted(M2, w)
        + mu * (mu + 1) / 6 * contracted(M3, w)
        - mu * (mu + 1) * (mu + 2) / 24 * contracted(M4, w)
    )


@pytest.mark.parametrize("mu", [0.3, 1.0, 4.0])
def test_the_utility_is_that_of_the_moments(mu):
    X, w = returns(), weights(2)
    moments = [moment(X, d) for d in (2, 3, 4)]
    assert Utility(X, mu)(w) == pytest.approx(equation_19(*moments, w, mu))
    Q = random_point(5, 2, rng(3))
    low = [projected(M, Q @ Q.T) for M in moments]
    assert Utility(X, mu).of_rank(Q)(w) == pytest.approx(equation_19(*low, w, mu))


@given(st.integers(0, 20), st.floats(0.1, 10))
def test_the_gradient_is_that_of_finite_differences(seed, mu):
    U, w, step = Utility(returns(seed), mu), weights(seed), 1e-5
    value, g = U.with_gradient(w)
    assert value == U(w)
    for j, e in enumerate(step * np.eye(5)):
        assert (U(w + e) - U(w - e)) / (2 * step) == pytest.approx(g[j], rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("mu", [0.2, 1.0, 6.0])
@pytest.mark.parametrize("seed", range(4))
def test_best_weights_meet_the_karush_kuhn_tucker_conditions(seed, mu):
    U = Utility(returns(seed, n=8), mu)
    w = U.best_weights()
    value, g = U.with_gradient(w)
    assert w.min() >= 0
    assert w.sum() == pytest.approx(1)
    multiplier, held = w @ g, w > 1e-6
    assert g[held] == pytest.approx(np.full(held.sum(), multiplier), rel=1e-4)
    assert (g <= multiplier + 1e-5 * abs(multiplier)).all()
    assert U.gap(w) == g.max() - multiplier
    others = [U(weights(s, 8)) for s in range(200)]
    mixed = [U(0.999 * w + 0.001 * weights(s, 8)) for s in range(200)]
    assert value >= max(others + mixed)


def test_uncorrelated_gaussians_have_inverse_variances_as_weights():
    """If moments of orders 3 and 4 vanish beside the second, the variance is minimized."""
    X = np.kron(np.eye(3), [[1.0], [-1.0]]) * [1e-4, 2e-4, 4e-4]
    inverse = np.array([1, 1 / 4, 1 / 16])
    assert Utility(X).best_weights() == pytest.approx(inverse / inverse.sum(), rel=1e-4)


def test_weights_that_are_not_best_are_not_returned(monkeypatch):
    monkeypatch.setattr(allocation, "GAP", -1.0)
    with pytest.raises(OrthobenchError, match="were not found: the optimality gap is"):
        Utility(returns()).best_weights()


def test_annual_return_is_the_geometric_mean_of_returns():
    y = np.array([10.0, 10.0, -5.0, 1.0])
    found = performance(y, years=2)
    assert list(found) == ["annual_return", "m2", "m3", "m4"]
    growth = (1 + found["annual_return"] / 100) ** 2
    assert (growth - 1) * 100 == pytest.approx(cumulative(y)[-1])
    for d in (2, 3, 4):
        assert found[f"m{d}"] == pytest.approx(np.mean((y - 4) ** d))
