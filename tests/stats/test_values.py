"""What tuning costs: the trials that were not chosen, each run once."""

import numpy as np
import pytest
from records import record

from orthobench.contract.solver import Work
from orthobench.harness.stopping import RunStatus
from orthobench.harness.trace import Checkpoint
from orthobench.results.tuning import choose
from orthobench.stats.costs import COSTS
from orthobench.stats.values import others_cost


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


def test_a_trial_that_failed_costs_what_it_took_and_one_that_did_not_run_nothing():
    runs = [run(1.0, 0, 100), run(2.0, 0, 0, status=RunStatus.DIVERGED)]
    runs.append(record("3", solver="s", tuned={"step": 3.0}, seed=0, status=RunStatus.MISSING))
    (entry,) = choose(runs)
    assert others_cost(entry, COSTS["flops"]) == 1


def test_without_tuning_nothing_is_added():
    (entry,) = choose([run(1.0, seed, 100) for seed in range(3)])
    assert others_cost(entry, COSTS["flops"]) == 0
