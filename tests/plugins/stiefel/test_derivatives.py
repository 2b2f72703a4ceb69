"""Derivatives are checked by their Taylor errors: wrong ones are refused, right ones never."""

from itertools import product as product_of

import numpy as np
import pytest
from cases import case
from kinds import one_of

import orthobench as ob
from orthobench.tools.geometry import random_point

N, P = 7, 3
RNG = np.random.default_rng(0)
B = RNG.standard_normal((N, N))
A = B + B.T
C = RNG.standard_normal((N, P))
WEIGHTS = np.array([1.0, 0.6, 0.3])


def quadratic(X):
    return float(np.vdot(X * WEIGHTS, A @ X))


def slope(X):
    return 2 * A @ X * WEIGHTS


def product(X, V):
    return 2 * A @ V * WEIGHTS


SMOOTH = {
    "quadratic": (quadratic, slope, product),
    "linear": (lambda X: float(np.vdot(C, X)), lambda X: C.copy(), lambda X, V: np.zeros_like(V)),
    "quartic": (lambda X: float(np.sum(X**4)), lambda X: 4 * X**3, lambda X, V: 12 * X**2 * V),
    "steep": (
        lambda X: float(np.sum(np.exp(8 * X))), lambda X: 8 * np.exp(8 * X),
        lambda X, V: 64 * np.exp(8 * X) * V,
    ),
    "wavy": (
        lambda X: float(np.sum(np.sin(30 * X))), lambda X: 30 * np.cos(30 * X),
        lambda X, V: -900 * np.sin(30 * X) * V,
    ),
    "logarithmic": (
        lambda X: float(np.sum(np.log(X**2 + 1e-3))), lambda X: 2 * X / (X**2 + 1e-3),
        lambda X, V: 2 * (1e-3 - X**2) / (X**2 + 1e-3) ** 2 * V,
    ),
}  # fmt: skip


def given_in(unit, offset, name, seed):
    cost, gradient, hessian = SMOOTH[name]
    ob.stiefel(
        lambda X: unit * (cost(X) + offset), lambda X: unit * gradient(X), n=N, p=P,
        hessian=lambda X, V: unit * hessian(X, V),
        start=random_point(N, P, np.random.default_rng(seed)),
    )  # fmt: skip


@pytest.mark.parametrize("name", one_of(3, SMOOTH))
def test_right_derivatives_are_taken(name):
    for unit, offset, seed in product_of((1.0, 1e-100, 1e100), (0.0, 1e9), range(5)):
        with case(unit, offset, seed):
            given_in(unit, offset, name, seed)


def given_times(factor, name, seed):
    cost, gradient, hessian = SMOOTH[name]
    start = random_point(N, P, np.random.default_rng(seed))
    with pytest.raises(ob.UsageError, match="gradient is not that of the cost"):
        ob.stiefel(cost, lambda X: factor * gradient(X), n=N, p=P, start=start)
    if name == "linear":
        return
    with pytest.raises(ob.UsageError, match="Hessian is not that of the cost"):
        ob.stiefel(
            cost, gradient, n=N, p=P, start=start, hessian=lambda X, V: factor * hessian(X, V)
        )


@pytest.mark.parametrize("name", one_of(3, SMOOTH))
def test_wrong_derivatives_are_refused(name):
    for factor, seed in product_of((-1.0, 0.0, 0.5, 1.01), range(5)):
        with case(factor, seed):
            given_times(factor, name, seed)


def test_costs_with_kinks_or_of_single_precision_are_taken():
    ob.stiefel(lambda X: float(np.abs(X).sum()), np.sign, n=N, p=P)
    ob.stiefel(lambda X: float(np.float32(quadratic(X))), slope, n=N, p=P)
    ob.stiefel(lambda X: quadratic(np.float32(X)), slope, n=N, p=P)


@pytest.mark.parametrize(
    ("hessian", "message"),
    [
        (3.0, "the hessian must be a function"),
        (lambda X, V: V[0], r"hessian\(X, V\) must be a real matrix of shape \(7, 3\)"),
        (lambda X, V: np.nan * V, r"hessian\(X, V\) is not finite"),
        (lambda X: X, "the hessian raised TypeError"),
        (lambda X, V: X.sort() or V, "the hessian writes into"),
    ],
)
def test_a_hessian_that_is_none_is_refused(hessian, message):
    with pytest.raises(ob.UsageError, match=message):
        ob.stiefel(quadratic, slope, n=N, p=P, hessian=hessian)
    with pytest.raises(ob.UsageError, match="pass the gradient too"):
        ob.stiefel(quadratic, n=N, p=P, hessian=product)


def test_trust_regions_use_the_product_in_place_of_two_gradients():
    calls = []

    def counted(X, V):
        calls.append(1)
        return product(X, V)

    least = float(np.sort(np.linalg.eigvalsh(A))[:P] @ WEIGHTS)
    own = ob.stiefel(quadratic, slope, n=N, p=P, hessian=counted, best=least)
    made = len(calls)
    found = ob.solve("pymanopt-trust-regions", own)
    plain = ob.solve("pymanopt-trust-regions", ob.stiefel(quadratic, slope, n=N, p=P, best=least))
    assert made == 1 < len(calls)
    for outcome in (found, plain):
        assert outcome.trace[-1].metrics["objective_gap"] < 1e-12
    assert found.work.samples < plain.work.samples
