"""Calls that are timed in a process of their own."""

from __future__ import annotations

from typing import Any

import orthobench as ob
from orthobench.racing.timing import time_calls
from orthobench.stats.calls import Stop


def test_each_call_is_timed_on_each_seed_until_one_fails() -> None:
    known = ob.catalogue()
    problem = known.problem("spiked-covariance", {"n": 6, "k": 2})
    streaming, exact = known.solver("oja", {}), known.solver("batch-pca", {})
    stop = Stop.at(samples=50)
    calls = [(seed, solver, stop) for seed in (0, 3) for solver in (streaming, exact)]
    took = list(time_calls(problem, calls, 120.0))
    assert len(took) == 4
    assert all(usual > 0 and first > 0 for usual, first in took)
    refused = 0, known.solver("gpower", {}), Stop()
    assert len(list(time_calls(problem, [calls[0], refused, calls[1]], 120.0))) == 1


def test_problem_of_a_script_is_timed() -> None:
    known = ob.catalogue()
    base: Any = type(known.problem("spiked-covariance", {}))
    own = type("Own", (base,), {"name": "own", "__module__": "__main__", "__qualname__": "Own"})
    calls = [(0, known.solver("batch-pca", {}), Stop.at(samples=50))]
    assert len(list(time_calls(own(n=6, k=2), calls, 120.0))) == 1
