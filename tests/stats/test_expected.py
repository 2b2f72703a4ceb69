"""Expected costs with restarts, against sums by hand and a simulation of restarts."""

import math
from dataclasses import replace

import numpy as np
import pytest
from records import record

from orthobench.contract.solver import Work
from orthobench.harness.stopping import RunStatus
from orthobench.harness.trace import Checkpoint
from orthobench.results.tuning import SolverResult, Trial
from orthobench.stats.targets import expected_costs, run_matrix

HIT, MISS = 0.0, 4.0


def run(steps, end, status=RunStatus.DONE):
    """A run that ends after some steps with gap `end`; before, the gap is 8."""
    marks = tuple(
        Checkpoint(float(x), 0.0, Work(x, x, x), {"gap": y}) for x, y in [(0, 8.0), (steps, end)]
    )
    return record("r", status=status, trace=marks)


def entry(solver, *runs, problem="p"):
    records = tuple(replace(one, seed=i) for i, one in enumerate(runs))
    return SolverResult(
        problem, solver, {}, records, (Trial({}, 0.0, records),), tuple(range(len(runs)))
    )


def steps(*entries, cost="steps"):
    """The costs beside a solver that reaches the best value with every seed."""
    sure = entry("sure", *(run(1, HIT) for _ in entries[0].records))
    return expected_costs(run_matrix([*entries, sure]), cost, 0.1)


class TestExpectedCosts:
    def test_are_all_that_was_spent_for_each_success(self):
        found = steps(entry("a", run(3, HIT), run(10, MISS), run(5, HIT)))
        estimate, _, _, reached, runs = found["a", "p"]
        assert (estimate, reached, runs) == ((3 + 10 + 5) / 2, 2, 3)

    def test_count_a_failed_run_with_what_it_took(self):
        found = steps(entry("a", run(4, HIT), run(100, HIT, RunStatus.DIVERGED)))
        assert found["a", "p"][::3] == (104, 1)

    def test_are_infinite_where_no_run_succeeds(self):
        found = steps(entry("bad", run(9, MISS)))
        assert found["bad", "p"][:3] == (math.inf,) * 3

    def test_are_what_restarts_take_on_average(self):
        runs = [(3, True), (10, False), (5, True), (20, False)]
        found = steps(entry("a", *(run(cost, HIT if hit else MISS) for cost, hit in runs)))
        rng = np.random.default_rng(0)
        taken = []
        for _ in range(20_000):
            total, done = 0, False
            while not done:
                cost, done = runs[rng.integers(len(runs))]
                total += cost
            taken.append(total)
        error = np.std(taken) / math.sqrt(len(taken))
        assert abs(np.mean(taken) - found["a", "p"][0]) < 4 * error

    def test_interval_cuts_as_much_from_either_side(self):
        spent = np.random.default_rng(2).integers(1, 50, 20)
        _, low, high, *_ = steps(entry("a", *(run(int(x), HIT) for x in spent)))["a", "p"]
        means = np.random.default_rng(0).choice(spent, (100_000, 20)).mean(axis=1)
        shares = [np.mean(means < low), np.mean(means > high)]
        assert shares == pytest.approx([0.025] * 2, abs=0.01)

    @pytest.mark.wide
    def test_interval_holds_the_truth_about_as_often_as_it_says(self):
        rng = np.random.default_rng(1)
        held = 0
        for _ in range(200):
            drawn = [(int(rng.integers(1, 20)), bool(rng.random() < 0.7)) for _ in range(30)]
            found = steps(entry("a", *(run(c, HIT if hit else MISS) for c, hit in drawn)))
            truth = 10 / 0.7
            held += found["a", "p"][1] <= truth <= found["a", "p"][2]
        assert 0.88 <= held / 200 <= 0.99


def test_runs_not_run_yet_are_no_runs():
    unrun = replace(run(1, HIT), trace=(), stop=replace(run(1, HIT).stop, status=RunStatus.MISSING))
    found = steps(entry("a", run(2, HIT), unrun))
    assert found["a", "p"][::4] == (2, 1)
