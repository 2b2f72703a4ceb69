"""Flops and products of polar factors, ends of runs, and the judge."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from orthobench_polar.oracle import PolarSolution
from orthobench_polar.solvers import direct
from orthobench_polar.solvers.direct import PolarEigh, PolarSVD, ScipyPolar, TorchMuon
from orthobench_polar.solvers.newton_schulz import NewtonSchulz
from orthobench_polar.solvers.rational import halley_weights

import orthobench as ob
from orthobench.tools.flops import eigh, svd

N, P = 12, 5
TALL, SMALL = 2 * N * P**2, 2 * P**3
BOTH = pytest.mark.parametrize("batch", [1, 3])


def matrices(batch=1, n=N, p=P):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((batch, n, p))
    return A[0] if batch == 1 else A


def outcome(solver, A, budget=None):
    found = ob.solve(solver, ob.polar(A), budget)
    return found, found.trace[-1].metrics["products"]


def agree(solver, batch, first, total):
    """Check the flops before the first step and after the last, and the products."""
    found, products = outcome(solver, matrices(batch))
    assert found.trace[0].work.flops == batch * first
    assert found.work.flops == batch * total
    assert products == pytest.approx(total / TALL)


@BOTH
def test_newton_schulz_flops_are_those_of_its_polynomials(batch):
    five = NewtonSchulz(coefficients="quintic", count=3)
    agree(five, batch, 3 * N * P, 3 * N * P + 3 * (2 * TALL + SMALL + 5 * P**2))
    three = NewtonSchulz(coefficients="cubic", count=4)
    agree(three, batch, 3 * N * P, 3 * N * P + 4 * (2 * TALL + P**2))


@BOTH
def test_direct_flops_are_those_of_decompositions(batch):
    agree(PolarSVD(), batch, 0, svd(N, P) + TALL)
    agree(PolarEigh(), batch, 0, 2 * TALL + SMALL + eigh(P) + P**2)
    agree(ScipyPolar(), batch, 0, svd(N, P) + TALL + 2 * SMALL)


def test_muon_of_torch_costs_the_products_of_its_polynomials(monkeypatch):
    """A stand-in for torch, which need not be installed, returns the matrix."""
    factor = SimpleNamespace(double=lambda: SimpleNamespace(numpy=matrices))
    torch = SimpleNamespace(from_numpy=lambda A: A, __spec__=None)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(direct, "_muon", lambda: lambda *given: factor)
    oracle, solver = ob.polar(matrices()).oracle, TorchMuon(count=4)
    state = solver.init(oracle, np.random.default_rng(0))
    solver.step(oracle, state)
    assert state.work.flops == 4 * (2 * TALL + SMALL + 5 * P**2) + 3 * N * P


@pytest.mark.parametrize("low", [0.9, 0.1, 1e-4])
def test_halley_weights_map_the_bound_and_one_to_where_they_meet(low):
    """The best map is 1 at 1, and its least value is that of the bound and of a point inside."""
    a, b, c = halley_weights(low)
    x = np.geomspace(low, 1, 10_001)
    values = x * (a + b * x**2) / (1 + c * x**2)
    assert values[-1] == pytest.approx(1)
    assert values.max() <= 1 + 1e-12
    assert values.min() == pytest.approx(values[0], rel=1e-4)
    inner = values[1:-1]
    dips = inner[(inner < values[:-2]) & (inner < values[2:])]
    assert dips == pytest.approx([values[0]], rel=1e-4)


@pytest.mark.parametrize("batch", [1, 3])
def test_a_judge_measures_by_the_definitions(batch):
    A = matrices(batch)
    X = A + 0.5 * np.random.default_rng(1).standard_normal(A.shape)
    stack = A if batch > 1 else A[None]
    U, values, Vt = np.linalg.svd(stack, full_matrices=False)
    Y = X.reshape(stack.shape)
    H = stack.swapaxes(1, 2) @ Y
    least = np.linalg.eigvalsh((H + H.swapaxes(1, 2)) / 2)[:, 0]
    inner = np.linalg.svd(Y, compute_uv=False)
    instance = ob.polar(A)
    exact = instance.measure(PolarSolution((U @ Vt).reshape(-1, P)))
    assert {name: exact[name] for name in instance.best} == pytest.approx(instance.best, abs=1e-14)
    found = instance.measure(PolarSolution(X.reshape(-1, P), products=7.0))
    assert found == pytest.approx(
        {
            "distance": np.linalg.norm(Y - U @ Vt) / np.sqrt(batch * P),
            "orthogonality": max(np.linalg.norm(v**2 - 1) for v in inner),
            "smallest": inner.min(),
            "largest": inner.max(),
            "asymmetry": np.linalg.norm(H - H.swapaxes(1, 2)) / np.linalg.norm(A),
            "indefiniteness": max(0.0, (-least / values[:, 0]).max()),
            "gain": np.sum(stack * Y) / values.sum(),
            "products": 7.0,
        }
    )
    assert found["indefiniteness"] == 0
    turned = ob.polar(A).measure(PolarSolution(-X.reshape(-1, P)))
    most = np.linalg.eigvalsh((H + H.swapaxes(1, 2)) / 2)[:, -1]
    assert turned["indefiniteness"] == pytest.approx((most / values[:, 0]).max())
    small = ob.polar(A).measure(PolarSolution(0.25 * A.reshape(-1, P)))
    assert small["smallest"] == pytest.approx(values.min() / 4)
