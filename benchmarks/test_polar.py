"""Polar factors: products of matrices in a step against the library's own product of that size."""

from __future__ import annotations

import numpy as np
import pytest
from clock import spent
from smoke import usually

import orthobench as ob
from orthobench.registry.plugins import catalogue

N = usually(1024, smoke=32)
STEPS, TURNS = usually((5, 4), smoke=(1, 1))
SHARE = usually(0.8, smoke=0.0)
"""The least share of the library's rate."""


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("newton-schulz", {"coefficients": "polar-express"}),
        ("gram-newton-schulz", {"coefficients": "polar-express"}),
        ("turbo-newton-schulz", {}),
    ],
)
def test_products_are_as_fast_as_those_of_the_library(benchmark, beside, report, name, parameters):
    rng = np.random.default_rng(0)
    oracle, square = ob.polar(rng.standard_normal((N, N))).oracle, rng.standard_normal((N, N))
    solver = catalogue().solver(name, parameters)
    state = solver.init(oracle, rng)
    plain, ours = [], []
    for _ in range(TURNS):
        plain.append(spent(lambda: square @ square)[0] / (2 * N**3))
        state = solver.init(oracle, rng)
        before = state.work.flops
        seconds, _ = spent(lambda state=state: solver.advance(oracle, state, STEPS))
        ours.append(seconds / (state.work.flops - before))
    share = min(plain) / min(ours)
    benchmark.group = f"{name} {N}"
    benchmark.pedantic(solver.init, args=(oracle, rng), rounds=1)
    beside({"product": [second * 2 * N**3 for second in plain]})
    met = "met" if share >= SHARE else "MISSED"
    row = f"{1e-9 / min(plain):.3g} Gflop/s", f"{1e-9 / min(ours):.3g} Gflop/s", f"{share:.2f}"
    report(name, (N, N), N, *row, f"at least {SHARE:g} {met}", "-")
