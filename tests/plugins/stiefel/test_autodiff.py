"""Costs that are written for torch or jax."""

import sys

import numpy as np
import pytest
from gpu_places import marked

import orthobench as ob
from orthobench.tools.geometry import random_point
from orthobench.tools.places import place_of

N, P = 7, 3
A = np.diag(np.arange(1.0, N + 1))
WEIGHTS = np.arange(P, 0, -1.0)
TURN = random_point(P, P, np.random.default_rng(3))


def plain(X):
    return float(np.vdot(X * WEIGHTS, A @ X))


def plain_gradient(X):
    return 2 * (A @ X) * WEIGHTS


def torch_cost():
    torch = pytest.importorskip("torch")
    matrix, weights = torch.tensor(A), torch.tensor(WEIGHTS)
    return lambda X: torch.trace(X.T @ matrix @ X @ torch.diag(weights))


def jax_cost():
    jnp = pytest.importorskip("jax.numpy")
    return lambda X: jnp.sum(X * WEIGHTS * (A @ X))


WRITTEN = pytest.mark.parametrize("written", [torch_cost, jax_cost])


@WRITTEN
def test_the_gradient_is_that_of_the_library(written):
    oracle = ob.stiefel(written(), n=N, p=P).oracle
    X = random_point(N, P, np.random.default_rng(1))
    value, G = oracle.value_and_gradient(X)
    assert value == pytest.approx(plain(X), rel=1e-14)
    assert oracle.value(X) == pytest.approx(plain(X), rel=1e-14)
    assert np.abs(G - plain_gradient(X)).max() < 1e-13
    assert np.array_equal(oracle.gradient(X), G)
    assert G.dtype == np.float64


@pytest.mark.parametrize(
    ("spoiled", "message"),
    [
        (lambda torch, X: X, "must be a real number, not float64 of shape"),
        (lambda torch, X: (1j * X).sum(), "must be a real number, not complex128"),
        (lambda torch, X: X.sum() * float("nan"), r"cost\(X\) is nan"),
        (lambda torch, X: X.detach().sum() * torch.ones(()), "gradient raised RuntimeError"),
        (lambda torch, X: X.sum() + 2 * X.detach().sum(), "not that of the cost"),
        (lambda torch, X: (torch.ones(2, N) @ X).sum(), "the cost raised"),
    ],
)
def test_bad_costs_are_refused_in_one_sentence(spoiled, message):
    torch = pytest.importorskip("torch")
    with pytest.raises(ob.UsageError, match=message):
        ob.stiefel(lambda X: spoiled(torch, X * torch.ones(())), n=N, p=P)


def test_no_library_is_loaded_that_was_not(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.delitem(sys.modules, "jax", raising=False)
    ob.stiefel(plain, n=N, p=P)
    assert not {"torch", "jax"} & set(sys.modules)


def torch_gradient():
    torch = pytest.importorskip("torch")
    matrix, weights = torch.tensor(A), torch.tensor(WEIGHTS)
    return lambda X: 2 * (matrix.to(X) @ X) * weights.to(X)


def test_a_gradient_of_the_library_goes_with_its_cost():
    oracle = ob.stiefel(torch_cost(), torch_gradient(), n=N, p=P).oracle
    X = random_point(N, P, np.random.default_rng(1))
    assert np.abs(oracle.gradient(X) - plain_gradient(X)).max() < 1e-13
    value, G = oracle.value_and_gradient(X)
    assert isinstance(value, float)
    assert np.array_equal(G, oracle.gradient(X))


def powers(X):
    return -(X**4).sum()


def gradient_of_powers(X):
    return -4 * X**3


@pytest.mark.parametrize("given", [(gradient_of_powers,), ()])
@pytest.mark.parametrize(
    "on", marked("torch:cpu", "torch:cpu/float32", "torch:cuda", "jax:cpu", "cupy")
)
def test_functions_get_arrays_of_the_place_and_nothing_is_moved(on, given):
    place = place_of(on)
    if why := place.missing():
        pytest.skip(why)
    pytest.importorskip(place.library)
    seen = []

    def noted(X):
        seen.append(X)
        if not given:  # written for the library, which differentiates it
            return powers(X * place.array(np.ones(())))
        return powers(X)

    moved = ob.stiefel(noted, *given, n=N, p=P).oracle.to(place)
    there = place.array(random_point(N, P, np.random.default_rng(1)))
    seen.clear()
    value, G = moved.value_and_gradient(there)
    assert moved.value(there) == value
    assert type(G) is type(there)
    assert G.dtype == value.dtype == there.dtype
    assert np.abs(place.to_numpy(G - gradient_of_powers(there))).max() < 1e-6
    assert not any(isinstance(X, np.ndarray) for X in seen)


@pytest.mark.parametrize("on", ["torch:cpu", "jax:cpu", "numpy/float32"])
@pytest.mark.parametrize("solver", ["riemannian-gradient", "pogo"])
def test_runs_elsewhere_are_those_of_numpy(solver, on):
    if why := place_of(on).missing():
        pytest.skip(why)
    function = ob.stiefel(powers, gradient_of_powers, n=N, p=P, start=np.eye(N)[:, :P] @ TURN)
    places = ("numpy", on)
    ours, theirs = (ob.solve(solver, function, ob.Budget(steps=15), on=p).solution for p in places)
    assert np.abs(ours - theirs).max() < (1e-4 if "float32" in on else 1e-10)


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        (
            (plain, plain_gradient),
            "calls the cost with arrays of torch, .* and it raised",
        ),
        (
            (lambda X: float(np.sum(np.asarray(X) ** 4)), lambda X: 4 * X**3),
            "must get such an array of shape",
        ),
        (
            (lambda X: (X**4).sum(), lambda X: 4 * np.asarray(X) ** 3),
            "calls the gradient .* not float64 of shape",
        ),
    ],
)
def test_functions_for_another_library_are_refused_before_the_run(functions, message):
    pytest.importorskip("torch")
    with pytest.raises(ob.UsageError, match=message):
        ob.solve("pogo", ob.stiefel(*functions, n=N, p=P), ob.Budget(steps=5), on="torch:cpu")
