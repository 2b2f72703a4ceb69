"""The flops of steps on the Stiefel manifold, written out to the last operation.

Values, gradients and Hessian products of the oracle are said to take a million flops, a million
times that, and as often again, so that how many there were can be read from a count.
"""

import numpy as np
import pytest
from orthobench_stiefel.solvers.landing import Landing
from orthobench_stiefel.solvers.pogo import POGO
from orthobench_stiefel.solvers.random_submanifold import RandomSubmanifold
from orthobench_stiefel.solvers.riemannian_gradient import RiemannianGradient

import orthobench as ob
from orthobench.contract.solver import Status
from orthobench.tools.flops import qr
from orthobench.tools.geometry import random_point

N, P = 9, 3
NP, NPP, PP, PPP = N * P, N * P**2, P**2, P**3
VALUE, GRADIENT, HESSIAN = 10**6, 10**12, 10**18
A = np.random.default_rng(0).standard_normal((N, N))
A = A + A.T
WEIGHTS = np.array([3.0, 2.0, 1.0])


def oracle_of(hessian=False):
    """Return an oracle of tr(X'AXW)."""
    product = (lambda X, V: 2 * (A @ V) * WEIGHTS) if hessian else None
    oracle = ob.stiefel(
        lambda X: float(np.vdot(X * WEIGHTS, A @ X)), lambda X: 2 * (A @ X) * WEIGHTS,
        n=N, p=P, hessian=product,
    ).oracle  # fmt: skip
    oracle.cost_flops, oracle.gradient_flops, oracle.hessian_flops = VALUE, GRADIENT, HESSIAN
    oracle.start = random_point(N, P, np.random.default_rng(0))
    return oracle


def run(solver, steps=1, hessian=False):
    """Return the own flops of `init` and of each step, the last (values, gradients), and the state.

    The former are what is left without those of the oracle.
    """
    oracle = oracle_of(hessian)
    state = solver.init(oracle, np.random.default_rng(1))
    found, before = [state.work.flops], state.work.flops
    for _ in range(steps):
        solver.step(oracle, state)
        found.append(state.work.flops - before)
        before = state.work.flops
    calls = found[-1] % GRADIENT // VALUE, found[-1] % HESSIAN // GRADIENT
    return [each % VALUE for each in found], calls, state


NORM = 2 * NP
FIELD = 8 * NPP + NP + 7 * PP + 2 * NP + NORM
CORRECTION = 4 * NPP + 3 * PP


@pytest.mark.parametrize(
    ("solver", "first", "later"),
    [
        (Landing(relative=False), NORM + FIELD, FIELD),
        (Landing(), NP + NORM + FIELD, NP + FIELD),
        (POGO(relative=False), NORM + FIELD + CORRECTION, FIELD + CORRECTION),
        (POGO(relative=False, momentum=0.5),
         NORM + FIELD + CORRECTION + 2 * NP, FIELD + CORRECTION + 2 * NP),
        (POGO(relative=False, base="vector-adam"),
         NORM + FIELD + CORRECTION + 6 * NP, FIELD + CORRECTION + 6 * NP),
        (POGO(relative=False, best_normal=True),
         NORM + FIELD + CORRECTION + 4 * PPP + 13 * PP, FIELD + CORRECTION + 4 * PPP + 13 * PP),
    ],
)  # fmt: skip
def test_landing_step_flops_are_those_of_the_field(solver, first, later):
    found, calls, state = run(solver, 3)
    assert found == [0, first, later, later]
    assert calls == (0, 1)
    assert state.work.samples == 3


METRICS = {"euclidean": 2 * PP, "canonical": 0, "turning": 3 * PP}


@pytest.mark.parametrize("metric", METRICS)
def test_constant_step_flops_are_those_of_the_metric(metric):
    own = 4 * NPP + 3 * NP + METRICS[metric]
    constant = {"steps": "constant", "metric": metric, "relative": False, "step_size": 1e-3}
    found, calls, _ = run(RiemannianGradient(**constant), 2)
    step = qr(N, P) + 2 * NP + NP + own + NORM
    assert found == [NORM + own, step, step]
    assert calls == (0, 1)
    found, _, _ = run(RiemannianGradient(momentum=0.5, **constant), 2)
    assert found[2] == step + 4 * NPP + 3 * NP + 2 * PP


def test_submanifold_run_ends_after_enough_idle_steps():
    for case in [(N, 4), (5, 13), (3, 36)]:
        size, enough = case
        solver = RandomSubmanifold(size=size, tolerance=10.0)
        oracle, count = oracle_of(), 0
        state = solver.init(oracle, np.random.default_rng(0))
        while state.status is Status.RUNNING:
            solver.step(oracle, state)
            count += 1
        assert (state.status, count) == (Status.CONVERGED, enough), case
