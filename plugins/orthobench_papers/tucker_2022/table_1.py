"""Table 1: overhead before the first step, and memory."""

from __future__ import annotations

import tracemalloc
from math import log2
from typing import Any

import numpy as np

import orthobench as ob
from orthobench.contract import AnyInstance, Array
from orthobench_papers.reproduce import (
    Evidence,
    Measurement,
    Rows,
    always_within,
    catalogue,
    together,
)
from orthobench_papers.runs import begin
from orthobench_papers.tucker_2022 import dense

RANK, BATCH = 5, 50

FULL: dict[str, Any] = {"start": "random", "rule": "adagrad", "tolerance": 0}
"""Algorithm 1 with the steps of Algorithm 2."""


def skewed(rng: np.random.Generator, count: int, n: int = 50) -> Array:
    """Draw samples in rows, (count, n)."""
    return np.asarray(rng.exponential(size=(count, n)) - 1)


def overhead(n: int, p: int, form: str) -> int:
    """Return the flops of Algorithm 1 before its first step."""
    samples = skewed(np.random.default_rng(0), p, n)
    made = ob.symmetric_tucker(samples, order=3, rank=RANK)
    before, after = (
        state.work.flops for state in begin("pgd", made, 0, form=form, **FULL).states(1)
    )
    return int(before - (after - before))


def streaming_overhead(n: int) -> int:
    """Return the flops of Algorithm 2 before its first batch."""
    instance = ob.symmetric_tucker(skewed, order=3, rank=RANK, test=np.eye(n))
    return int(begin("spgd", instance, 0, batch=BATCH).state.work.flops)


def overheads(evidence: Evidence) -> Measurement:
    n, p = evidence.sized((50, 200), (50, 200), (30, 60))
    base, wider, longer = (overhead(*at, "explicit") for at in ((n, p), (2 * n, p), (2 * n, 2 * p)))
    in_n, in_p = log2(wider / base), log2(longer / wider)
    none = [streaming_overhead(n), overhead(n, p, "implicit")]
    return together([
        always_within(none, 0, 0, "flops of overhead, streaming and full implicit"),
        always_within([in_n], 2.9, 3.1, "power of n in the overhead of explicit methods, d = 3"),
        always_within([in_p], 0.99, 1.01, "power of p in it"),
    ])  # fmt: skip


def peak_memory(instance: AnyInstance, name: str, **options: Any) -> int:
    """Return the peak memory of ten steps, in numbers."""
    begin(name, instance, 0, **options).advance(10)
    oracle = instance.oracle
    solver = catalogue().solver(name, options, type(oracle))
    oracle.rewind(np.random.default_rng(0))
    oracle.prepare(10 * solver.batch)
    tracemalloc.start()
    try:
        solver.advance(oracle, solver.init(oracle, np.random.default_rng(0)), 10)
        return tracemalloc.get_traced_memory()[1] // 8
    finally:
        tracemalloc.stop()


def storage(evidence: Evidence) -> Rows:
    n, p, long = evidence.sized((80, 40_000, 20_000), (50, 10_000, 5000), (20, 500, 500))
    rng = np.random.default_rng(evidence.seeds[0])
    drawn = skewed(rng, 20 * BATCH, long)
    samples = skewed(rng, p, n)
    cases: dict[str, tuple[int, int, AnyInstance, str, dict[str, Any]]] = {
        "streaming": (
            long, long * BATCH, ob.symmetric_tucker(drawn, order=3, rank=RANK),
            "spgd", {"batch": BATCH, "hoevd_steps": 0},
        ),
        "full and implicit": (
            n, n * p, ob.symmetric_tucker(samples, order=3, rank=RANK),
            "pgd", {"form": "implicit", **FULL},
        ),
        "full and explicit": (
            n, n**3, ob.symmetric_tucker(tensor=dense.symmetric(n, 3, rng), rank=RANK),
            "pgd", {"form": "explicit", **FULL},
        ),
    }  # fmt: skip
    return {
        title: [(data + peak_memory(instance, name, **options)) / (rows * RANK + data)]
        for title, (rows, data, instance, name, options) in cases.items()
    }
