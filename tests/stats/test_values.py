"""Values at the end of runs; what tuning costs: the trials not chosen, each run once."""

import math

import numpy as np
import pytest
from records import record

from orthobench.contract.solver import Work
from orthobench.harness.stopping import RunStatus
from orthobench.harness.trace import Checkpoint
from orthobench.results.tuning import choose
from orthobench.stats.costs import COSTS
from orthobench.stats.values import (
    final,
    geometric_mean,
    metric_of,
    others_cost,
)


def run(step, seed, flops, val=0.0, **more):
    work = Work(2, 3, flops)
    trace = [Checkpoint(0.1, 0.0, Work(1, 1, 1), {"val": 1.0})]
    trace += [Checkpoint(flops / 100, 0.5, work, {"val": val, "gap": val})] if flops else []
    tuned = {"step": step}
    return record(f"{step} {seed}", solver="s", tuned=tuned, seed=seed, trace=trace, **more)


def test_the_trials_that_were_not_chosen_are_counted_once_each():
    runs = [run(1.0, seed, 100, val=0.1) for seed in range(4)]
    runs += [run(2.0, seed, 10 * (seed + 1), val=0.5) for seed in range(2)]
    runs += [run(3.0, seed, 7, val=0.9) for seed in range(2)]
    (entry,) = choose(runs)
    assert entry.best_parameters == {"step": 1.0}
    assert others_cost(entry, COSTS["flops"]) == pytest.approx(np.mean([10, 20]) + 7)
    assert others_cost(entry, COSTS["seconds"]) == pytest.approx(0.15 + 0.5 + 0.07 + 0.5)


def test_failed_trials_cost_what_they_took_and_missing_none():
    runs = [run(1.0, 0, 100), run(2.0, 0, 0, status=RunStatus.DIVERGED)]
    runs.append(record("3", solver="s", tuned={"step": 3.0}, seed=0, status=RunStatus.MISSING))
    (entry,), (alone,) = choose(runs), choose([run(1.0, seed, 100) for seed in range(3)])
    assert others_cost(entry, COSTS["flops"]) == 1
    assert others_cost(alone, COSTS["flops"]) == 0


VAL = metric_of("val")


def test_final_value_is_infinite_if_failed_and_nan_if_absent():
    for status, val, expected in (
        (RunStatus.DONE, 0.5, 0.5), (RunStatus.DONE, -3.0, -3.0),
        (RunStatus.DIVERGED, 0.5, math.inf),
        (RunStatus.DONE, math.nan, math.inf), (RunStatus.DONE, -math.inf, math.inf),
        (RunStatus.MISSING, 0.5, math.nan), (RunStatus.REFUSED, 0.5, math.nan),
    ):  # fmt: skip
        found = final(run(1.0, 0, 100, val=val, status=status), VAL)
        assert found == pytest.approx(expected, nan_ok=True), (status, val)


def test_factors_of_one_block_have_the_weight_of_one():
    assert geometric_mean([4.0, 9.0], "ab") == pytest.approx(6)
    assert geometric_mean([4.0, 4.0, 9.0], "aab") == pytest.approx(6)
