"""Clock, re-runs and budgets of peers that cannot be stepped.

Our clock beside the plain call, which centres where we mirror rows so that it does not. Rows fitted
for each row of the data, at sizes above the window of prepared samples. All CPU seconds of a run
with a budget, warm-up and judge included, for each second of the budget; a run whose last call took
longer than those before it promised says so.
"""

from __future__ import annotations

from functools import cache
from time import process_time_ns

import numpy as np
import pytest
from clock import spent
from scipy.sparse.linalg import svds
from sklearn.decomposition import PCA
from smoke import usually

import orthobench as ob
from orthobench.harness.execution import CLOCK
from orthobench.harness.run import OVERSHOOT
from orthobench.tools.environment import limited

ROWS, WIDTH, RANK = usually((200_000, 300, 10), smoke=(400, 12, 3))
SECONDS = usually(4.0, smoke=0.2)
MOST_ROWS, MOST_WALL, MOST_CLOCK = usually((2.5, 1.5, 1.1), smoke=(2.5, 1e9, 1e9))
FITTING = ("block-krylov", "subspace-iteration", "sklearn-pca", "scipy-svds", "scipy-lobpcg")


PLAIN = {
    "sklearn-pca": lambda X, k: PCA(k, svd_solver="covariance_eigh").fit(X),
    "scipy-svds": lambda X, k: svds(X, k, return_singular_vectors="vh", random_state=0),
}


@cache
def samples():
    rng = np.random.default_rng(0)
    return rng.standard_normal((ROWS, WIDTH)) * np.linspace(2, 0.5, WIDTH)


def verdict(value, bound):
    return f"at most {bound:g} {'met' if value <= bound else 'MISSED'}"


@pytest.mark.parametrize("name", PLAIN)
def test_the_clock_beside_the_plain_call(benchmark, beside, report, name):
    instance = ob.stochastic_pca(samples(), RANK)
    token = CLOCK.set(process_time_ns)
    try:
        with limited(1):
            plain, _ = spent(lambda: PLAIN[name](samples(), RANK))
            mark = ob.solve(name, instance).trace[-1]
            benchmark.group = f"clock, {name}"
            benchmark.pedantic(ob.solve, args=(name, instance), rounds=1)
    finally:
        CLOCK.reset(token)
    beside({"plain call": [plain]})
    ours = mark.seconds + mark.readout_seconds
    row = f"{plain:.3g}", f"{ours:.3g}", f"{ours / plain:.2f}"
    report(f"clock {name}", samples().shape, RANK, *row, verdict(ours / plain, MOST_CLOCK), "-")


@pytest.mark.parametrize("name", FITTING)
def test_rows_fitted_grow_with_the_data(benchmark, beside, report, name):
    instance = ob.stochastic_pca(samples(), RANK)
    with limited(1):
        seconds, outcome = spent(lambda: ob.solve(name, instance, curve=True))
        benchmark.group = f"rows fitted, {name}"
        benchmark.pedantic(ob.solve, args=(name, instance), rounds=1)
    beside({"curve": [seconds]})
    fitted = sum(mark.work.samples for mark in outcome.trace) / ROWS
    row = f"{ROWS}", f"{fitted * ROWS:.0f}", f"{fitted:.2f}"
    report(f"rows fitted {name}", samples().shape, RANK, *row, verdict(fitted, MOST_ROWS), "-")
    assert outcome.work.samples == ROWS
    assert fitted <= MOST_ROWS


@pytest.mark.parametrize("name", FITTING)
def test_a_budget_in_seconds_is_what_a_run_takes(benchmark, beside, report, name):
    instance = ob.stochastic_pca(samples(), RANK)
    token = CLOCK.set(process_time_ns)
    try:
        with limited(1):
            budget = ob.Budget(seconds=SECONDS)
            seconds, outcome = spent(lambda: ob.solve(name, instance, budget, curve=True))
            benchmark.group = f"budget, {name}"
            benchmark.pedantic(ob.solve, args=(name, instance, budget), rounds=1)
    finally:
        CLOCK.reset(token)
    beside({"whole": [seconds]})
    share = seconds / SECONDS
    told = "says so" if "no call is interrupted" in outcome.stop.reason else f"{1 + OVERSHOOT:g}"
    row = f"{SECONDS:g}", f"{seconds:.3g}", f"{share:.2f}"
    report(f"budget {name}", samples().shape, RANK, *row, verdict(share, MOST_WALL), told)
