"""Optimizers of torch: their steps by the formulas, and their flops, which no counter sees."""

import numpy as np
import pytest
from orthobench_stiefel.solvers.torch_optimizers import (
    MAPS,
    GeooptAdam,
    GeooptSGD,
    PogoTorch,
    TorchOrthogonal,
)

import orthobench as ob
from orthobench.harness.cell import instance_of
from orthobench.harness.stopping import Budget
from orthobench.registry.plugins import catalogue
from orthobench.tools.geometry import drift, random_point

PACKAGES = ("torch", "geoopt", "pogo-torch")

N, P, ROWS = 8, 3, 20


def problem():
    return catalogue().problem("stiefel-procrustes", {"n": N, "p": P, "rows": ROWS})


def test_a_batch_needs_a_finite_sum_and_no_batch_does_not():
    cost = {"cost": lambda X: float(X[0, 0]), "gradient": lambda X: np.eye(1, N).T @ np.eye(1, P)}
    instance = ob.stiefel(**cost, n=N, p=P)
    assert ob.solve(GeooptSGD(), instance, Budget(steps=1)).work.steps == 1
    with pytest.raises(ob.UsageError, match="batch = 1 needs a cost that is a finite sum"):
        ob.solve(GeooptSGD(batch=1), instance, Budget(steps=1))


def begun(solver):
    oracle = instance_of(problem(), 0).oracle
    oracle.start = random_point(N, P, np.random.default_rng(0))
    oracle.rewind(np.random.default_rng(0))
    return oracle, solver.init(oracle, np.random.default_rng(0))


MOMENTA = [
    GeooptSGD(step_size=0.01, momentum=0.5),
    GeooptAdam(step_size=0.01),
    PogoTorch(step_size=0.01, momentum=0.5),
    PogoTorch(step_size=0.01, base="vector-adam"),
    *(TorchOrthogonal(map=name, step_size=0.01, momentum=0.5) for name in MAPS),
]


@pytest.mark.parametrize("solver", MOMENTA)
def test_means_go_from_one_call_to_the_next(solver):
    oracle, whole = begun(solver)
    first = solver.solution(whole).point
    np.testing.assert_array_equal(first, oracle.start)
    solver.advance(oracle, whole, 3)
    _, pieces = begun(solver)
    solver.advance(oracle, pieces, 1)
    solver.advance(oracle, pieces, 2)
    np.testing.assert_array_equal(whole.X, pieces.X)
    assert drift(whole.X) < 0.01
    assert np.abs(whole.X - first).max() > 1e-3


@pytest.mark.parametrize("name", MAPS)
def test_first_step_of_a_parametrization_descends(name):
    """At W = 0 the derivative of f is known: cost falls by at least a share of step times slope."""
    solver = TorchOrthogonal(map=name, step_size=1e-4)
    oracle, state = begun(solver)
    X, G = state.X, oracle.gradient(state.X)
    solver.advance(oracle, state, 1)
    assert drift(state.X) < 1e-12
    change = state.X - X
    assert np.vdot(G, change) < 0
    assert oracle.value(state.X) < oracle.value(X)
    tangent = X.T @ change
    assert np.abs(tangent + tangent.T).max() < 1e-2 * np.abs(change).max()
