"""The choice of tuned parameters: hand-computed scores, ties, failures, and no look at the test."""

import math
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import altered
from records import record as made

from orthobench.contract.solver import Work
from orthobench.errors import UsageError
from orthobench.harness.stopping import RunStatus, Target
from orthobench.harness.trace import Checkpoint
from orthobench.results.tuning import average, choose, slice_of, varied


def record(values, step=None, seed=0, solver="msg", status=RunStatus.DONE, at=None, test=None):
    """A run whose validation metric takes `values` after `at` samples."""
    at = range(len(values)) if at is None else at
    test = values if test is None else test
    marks = tuple(
        Checkpoint(1e-3 * n, 1e-4, Work(n, n, 10 * n), {"test": t, "validation": v})
        for n, v, t in zip(at, values, test, strict=True)
    )
    tuned = {} if step is None else {"step": step}
    key = f"{solver} {tuned} {seed}"
    return made(
        key, problem="digits", family="PCA", primary="test", tuned_by="validation", solver=solver,
        parameters=tuned, tuned=tuned, seed=seed, status=status, trace=marks,
    )  # fmt: skip


class TestAverage:
    def test_agrees_with_numpy(self):
        values, at = [0.5, 0.3, 0.2, 0.05], [0, 1, 5, 40]
        exact = np.interp(np.linspace(0, 40, 400_001), at, values).mean()
        assert average(record(values, at=at), "validation") == pytest.approx(exact, rel=1e-5)

    def test_is_over_samples_or_over_steps_without_any(self):
        marks = record([4.0, 2.0, 1.0], at=[0, 1, 4]).trace
        for works in ([Work(i, m.work.samples) for i, m in enumerate(marks)],
                      [Work(m.work.steps) for m in marks]):  # fmt: skip
            trace = tuple(replace(m, work=w) for m, w in zip(marks, works, strict=True))
            assert average(replace(record([1.0]), trace=trace), "validation") == 7.5 / 4

    def test_metric_missing_at_a_checkpoint_is_no_number(self):
        whole = record([0.3, 0.2, 0.1])
        for lacks, found in ((0, math.inf), (1, math.inf), (2, math.nan)):
            marks = [*whole.trace]
            marks[lacks] = replace(marks[lacks], metrics={"test": 0.2})
            value = average(replace(whole, trace=tuple(marks)), "validation")
            assert value == pytest.approx(found, nan_ok=True), lacks

    def test_is_infinite_if_a_value_is_not_finite_or_the_run_failed(self):
        for bad in (math.nan, math.inf):
            assert average(record([0.2, bad, 0.1]), "validation") == math.inf
        for status in (s for s in RunStatus if not s.ok):
            assert average(record([0.2, 0.1], status=status), "validation") == math.inf, status


class TestChoose:
    def test_takes_the_smallest_mean_over_seeds(self):
        records = [record([v], step, seed) for step, pair in
                   {1.0: (0.1, 0.9), 2.0: (0.4, 0.4), 4.0: (0.3, 0.6)}.items()
                   for seed, v in enumerate(pair)]  # fmt: skip
        (entry,) = choose(records)
        assert entry.best_parameters == {"step": 2.0}
        assert [trial.score for trial in entry.trials] == pytest.approx([0.5, 0.4, 0.45])
        assert [r.seed for r in entry.records] == [0, 1]
        assert {r.solver.tuned["step"] for r in entry.records} == {2.0}

    def test_takes_the_end_or_averages_over_the_run(self):
        fast = record([1.0, 0.2, 0.2, 0.2], 1.0)
        late = record([1.0, 1.0, 1.0, 0.1], 2.0)
        assert choose([fast, late])[0].best_parameters == {"step": 2.0}
        assert choose([fast, late], score="average")[0].best_parameters == {"step": 1.0}

    def test_compares_runs_of_different_lengths_over_the_longer(self):
        short = record([1.0, 0.1], 1.0, at=[0, 1])  # 0.55, then 0.1 carried for nine samples
        full = record([0.5, 0.4], 2.0, at=[0, 10])  # 0.45
        (entry,) = choose([short, full], score="average")
        assert entry.best_parameters == {"step": 1.0}
        assert entry.trials[0].score == pytest.approx((0.55 + 9 * 0.1) / 10)

    def test_breaks_ties_by_the_smaller_value(self):
        records = [record([0.5], step) for step in (10.0, 2.0, 4.0)]
        assert choose(records)[0].best_parameters == {"step": 2.0}

    def test_takes_a_refused_trial_only_if_all_were(self):
        refused = [record([], 1.0, seed, status=RunStatus.REFUSED) for seed in range(3)]
        failed = [record([0.1], 2.0, seed, status=RunStatus.ERROR) for seed in range(3)]
        (entry,) = choose(refused + failed)
        assert entry.best_parameters == {"step": 2.0}
        assert not entry.refused
        assert not entry.refusal
        assert choose(refused)[0].refused

    def test_never_takes_a_trial_with_a_failed_run_over_one_without(self):
        good = [record([0.9], 1.0, seed) for seed in range(3)]
        bad = [record([0.1], 2.0, 0), record([0.1], 2.0, 1)]
        bad.append(record([0.1], 2.0, 2, status=RunStatus.INFEASIBLE))
        assert choose(good + bad)[0].best_parameters == {"step": 1.0}

    def test_counts_a_missing_run_as_failed(self):
        records = [record([0.9], 1.0, 0), record([0.9], 1.0, 1), record([0.1], 2.0, 0)]
        (entry,) = choose([*records, record([], 2.0, 1, status=RunStatus.MISSING)])
        assert entry.best_parameters == {"step": 1.0}
        assert entry.trials[1].score == math.inf

    def test_compares_trials_on_the_seeds_that_all_are_planned_on(self):
        tried = [record([v], step, seed) for step, v in ((1.0, 0.3), (2.0, 0.2)) for seed in (0, 1)]
        rest = [record([0.9] * 9, 2.0, seed) for seed in (2, 3)]
        (entry,) = choose(tried + rest)
        assert (entry.best_parameters, entry.tuned_on) == ({"step": 2.0}, (0, 1))
        assert [trial.score for trial in entry.trials] == pytest.approx([0.3, 0.2])
        assert [[r.seed for r in trial.records] for trial in entry.trials] == [[0, 1], [0, 1]]
        assert [r.seed for r in entry.records] == [0, 1, 2, 3]

    def test_knows_missing_seeds_from_the_other_solvers(self):
        entries = choose([record([0.1], seed=s) for s in (0, 1)] + [record([0.1], solver="oja")])
        assert [entry.seeds for entry in entries] == [(0, 1), (0, 1)]
        assert [entry.tuned_on for entry in entries] == [(0, 1), (0, 1)]
        assert len(entries[1].records) == 1

    def test_takes_the_fewest_failures_if_all_trials_have_some(self):
        records = [
            record(
                [0.1], step, seed, status=RunStatus.DIVERGED if seed < failed else RunStatus.DONE
            )
            for step, failed in ((1.0, 3), (2.0, 1), (4.0, 2))
            for seed in range(3)
        ]
        assert choose(records)[0].best_parameters == {"step": 2.0}

    def test_refuses_two_cells_of_one_name(self):
        keys = [character * 20 for character in "ab"]
        said = r"two different cells are both called 'msg on digits, seed 0' \(a{12} and b{12}\): "
        with pytest.raises(UsageError, match=said):
            choose([replace(record([0.3]), key=key) for key in keys])

    def test_refuses_trials_of_different_parameters(self):
        other = altered(record([0.2]), key="other", tuned={"K": 2})
        with pytest.raises(UsageError, match="'msg' on 'digits' tune different parameters"):
            choose([record([0.3], 1.0), other])

    def test_refuses_to_tune_without_a_validation_metric(self):
        records = [altered(record([0.3], step), tuned_by="held_out") for step in (1.0, 2.0)]
        with pytest.raises(UsageError, match="does not report 'held_out'; give the problem a val"):
            choose(records)


class TestEntries:
    def test_solver_takes_no_part_if_all_that_ran_was_refused(self):
        for statuses, refused in (
            ([RunStatus.REFUSED, RunStatus.REFUSED], True),
            ([RunStatus.REFUSED, RunStatus.MISSING], True),
            ([RunStatus.REFUSED, RunStatus.DONE], False),
            ([RunStatus.MISSING, RunStatus.MISSING], False),
            ([RunStatus.ERROR, RunStatus.ERROR], False),
        ):
            runs = [
                altered(record([0.5], None, seed, status=status), reason=f"why {seed}")
                for seed, status in enumerate(statuses)
            ]
            (entry,) = choose(runs)
            assert entry.refused is refused, statuses
            assert entry.refusal == ("why 0" if refused else "")
            ran = any(status is not RunStatus.MISSING for status in statuses)
            assert entry.takes_part is (ran and not refused), statuses

    def test_trials_are_chosen_by_the_end_at_a_level(self):
        for score, level, final in (
            ("end", None, True), ("average", None, False), ("average", Target("test", 9.0), True)
        ):  # fmt: skip
            levels = (level,) if level else ()
            runs = [altered(record([0.5], step), levels=levels) for step in (1.0, 2.0)]
            (entry,) = choose(runs, score=score)
            assert entry.tuned_on_final is final, (score, level)
            assert entry.problem_info.label == "digits"

    def test_a_slice_has_the_trials_that_differ_in_one_parameter(self):
        grid = [(step, k) for step in (1.0, 2.0) for k in (3, 4, 5)]
        runs = [
            altered(
                record([abs(step - 2) + abs(k - 4)], step), key=f"{step} {k}",
                tuned={"step": step, "k": k, "fixed": "x"},
            )
            for step, k in grid
        ]  # fmt: skip
        (entry,) = choose(runs)
        assert entry.best_parameters == {"step": 2.0, "k": 4, "fixed": "x"}
        assert varied(entry) == ["step", "k"]
        slices = {
            name: [(trial.tuned["step"], trial.tuned["k"]) for trial in slice_of(entry, name)]
            for name in ("step", "k", "fixed", "none")
        }
        assert slices == {
            "step": [(1.0, 4), (2.0, 4)], "k": [(2.0, 3), (2.0, 4), (2.0, 5)],
            "fixed": [], "none": [],
        }  # fmt: skip


class TestLevels:
    """Lower scores are bought with density: gamma, density, score."""

    TRADE = ((0.1, 0.9, 0.1), (0.2, 0.5, 0.3), (0.4, 0.2, 0.5))

    def trials(self, *levels, seeds=2):
        return [
            dense(record([score], seed=seed), score, density, gamma, levels)
            for gamma, density, score in self.TRADE
            for seed in range(seeds)
        ]

    def test_the_best_trial_that_keeps_the_level_is_chosen(self):
        entries = choose(self.trials(*(Target("density", most) for most in (0.3, 0.6, 0.95))))
        (exact,) = choose(self.trials(Target("density", 0.5)))
        assert (exact.best_parameters["gamma"], exact.refused) == (0.2, False)
        assert [(entry.problem, entry.best_parameters["gamma"]) for entry in entries] == [
            ("digits, density <= 0.3", 0.4),
            ("digits, density <= 0.6", 0.2),
            ("digits, density <= 0.95", 0.1),
        ]
        assert not any(entry.refused for entry in entries)

    def test_at_a_level_the_end_of_a_run_decides(self):
        level = (Target("density", 1.0),)
        fast = dense(record([0.2, 0.2, 0.2]), 0.2, 0.1, 1.0, level)
        late = dense(record([1.0, 1.0, 0.1]), 0.1, 0.1, 2.0, level)
        fast, late = (
            replace(r, trace=record(values).trace[:2] + r.trace)
            for r, values in ((fast, [0.2, 0.2]), (late, [1.0, 1.0]))
        )
        assert choose([fast, late])[0].best_parameters == {"gamma": 2.0}
        without = [altered(r, levels=()) for r in (fast, late)]
        assert choose(without, score="average")[0].best_parameters == {"gamma": 1.0}

    def test_the_mean_over_seeds_has_to_keep_it(self):
        one, two = self.trials(Target("density", 0.5))[:2]
        for density, refused in ((0.8, False), (0.81, True)):
            pair = [dense(one, 0.5, 0.2), dense(two, 0.5, density)]
            assert choose(pair)[0].refused is refused

    def test_a_failed_trial_never_keeps_it(self):
        records = [
            altered(r, status=RunStatus.ERROR) if r.solver.tuned["gamma"] == 0.1 else r
            for r in self.trials(Target("density", 0.95))
        ]
        assert choose(records)[0].best_parameters == {"gamma": 0.2}

    def test_no_trial_keeps_it(self):
        (entry,) = choose(self.trials(Target("density", 0.1)))
        assert entry.refused
        assert entry.best_parameters == {"gamma": 0.4}
        assert (
            entry.records[0].stop.reason == "no trial keeps density <= 0.1: the nearest ends at 0.2"
        )
        assert all(r.stop.status is RunStatus.DONE for t in entry.trials for r in t.records)

    def test_level_of_an_unknown_metric_names_those_known(self):
        (entry,) = choose(self.trials(Target("densty", 0.5)))
        assert entry.refused
        assert "does not report 'densty'; it reports" in entry.records[0].stop.reason

    def test_failed_run_in_every_trial_is_no_refusal(self):
        records = [
            altered(r, status=RunStatus.ERROR, reason="toy") if r.seed else r
            for r in self.trials(Target("density", 0.95))
        ]
        (entry,) = choose(records)
        assert not entry.refused
        assert [r.stop.status for r in entry.records] == [RunStatus.DONE, RunStatus.ERROR]


def dense(record, score, density=None, gamma=None, levels=None):
    """A run with another validation score, and with another density and gamma if they are given."""
    last = record.trace[-1]
    metrics = {**last.metrics, "validation": score}
    if density is not None:
        metrics["density"] = density
    tuned = record.solver.tuned if gamma is None else {"gamma": gamma}
    return altered(
        record,
        key=f"{tuned} {record.seed}",
        trace=(replace(last, metrics=metrics),),
        tuned=tuned,
        levels=record.problem.levels if levels is None else levels,
    )


values = st.floats(0, 10)


@given(st.lists(st.tuples(values, values), min_size=2, max_size=6), st.randoms())
def test_the_choice_ignores_test_metrics_and_order(pairs, rnd: random.Random):
    records = [record([v, w], float(i), s) for i, (v, w) in enumerate(pairs) for s in (0, 1)]
    other = [
        replace(r, trace=tuple(replace(m, metrics={**m.metrics, "test": rnd.random()})
                               for m in r.trace))
        for r in records
    ]  # fmt: skip
    rnd.shuffle(other)
    (first,), (second,) = choose(records), choose(other)
    assert first.best_parameters == second.best_parameters
    assert [t.score for t in first.trials] == [t.score for t in second.trials]
