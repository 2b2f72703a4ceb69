"""Clock, re-runs and budgets of peers that cannot be stepped.

Our clock beside the plain calls of `plain_calls`, and kernels beside what binds them, of
`roofline`; both print the tables of the documentation. Rows fitted for each row of the data, at
sizes above the window of prepared samples. All CPU seconds of a run with a budget, warm-up and
judge included, for each second of the budget; a run whose last call took longer than those before
it promised says so.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from time import process_time_ns

import numpy as np
import pytest
from clock import spent
from peers import imported
from plain_calls import CALLS, compared
from roofline import KERNELS, machine, measured
from smoke import usually

import orthobench as ob
from orthobench.harness.execution import CLOCK
from orthobench.harness.run import OVERSHOOT
from orthobench.tools.environment import limited

ROWS, WIDTH, RANK = usually((200_000, 300, 10), smoke=(400, 12, 3))
SECONDS = usually(4.0, smoke=0.05)
MOST_ROWS, MOST_WALL = usually((2.5, 1.5), smoke=(2.5, 1e9))
MOST_CLOCK_SMALL, MOST_CLOCK, LEAST = usually((1.3, 1.1, 0.6), smoke=(1e9, 1e9, 0.0))
SHAPES, TURNS = usually((3, 3), smoke=(1, 1))
EXTRA = ("tensorly", "pyttb", "pymanopt", "picard", "dask")
FITTING = ("block-krylov", "subspace-iteration", "sklearn-pca", "scipy-svds", "scipy-lobpcg")


@cache
def samples():
    rng = np.random.default_rng(0)
    return rng.standard_normal((ROWS, WIDTH)) * np.linspace(2, 0.5, WIDTH)


def smallest(size):
    """Return a size of the same number of parameters that takes no time."""
    return tuple(min(n, most) for n, most in zip(size, (200, 12, 4, 4), strict=False))


def verdict(value, bound):
    return f"at most {bound:g} {'met' if value <= bound else 'MISSED'}"


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.solver}-{call.made.__name__}")
def test_the_clock_beside_the_plain_call(benchmark, report, call):
    library = call.solver.partition("-")[0]
    imported(library if library in EXTRA else "numpy")
    for size in call.sizes[:SHAPES]:
        found = compared(call, size, TURNS)
        bound = MOST_CLOCK if size == call.sizes[-1] else MOST_CLOCK_SMALL
        row = f"{found.plain:.3g}", f"{found.clock:.3g}", f"{found.ratio:.2f}"
        report(f"clock {call.solver}", size, "", *row, verdict(found.ratio, bound), call.shown)
    benchmark.group = f"clock, {call.solver} {call.shown}"
    benchmark.pedantic(compared, args=(call, call.sizes[0], 1), rounds=1)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: f"{kernel.solver}-{kernel.size}")
def test_the_share_of_what_binds_a_kernel(benchmark, report, kernel):
    size, steps = usually((kernel.size, kernel.steps), smoke=(smallest(kernel.size), 20))
    kernel = replace(kernel, size=size, steps=steps)
    host = machine(*usually((), smoke=(50, 1000)))
    found = measured(kernel, host, TURNS)
    bound = max(found.by_products, found.by_reading)
    row = f"{bound:.3g}", f"{found.seconds:.3g}", f"{found.share:.2f}"
    report(f"{found.binding}: {kernel.solver}", kernel.size, "", *row, f"at least {LEAST:g}", "-")
    benchmark.group = f"roofline, {kernel.solver}"
    benchmark.pedantic(measured, args=(kernel, host, 1), rounds=1)


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
