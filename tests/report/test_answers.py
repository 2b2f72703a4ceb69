"""Answers of each regime: the winners and their numbers, recomputed with numpy from the traces."""

from dataclasses import replace

import numpy as np
import pytest
from records import altered

from orthobench.contract.solver import Work
from orthobench.harness.stopping import RunStatus
from orthobench.harness.trace import Checkpoint
from orthobench.report.answers import REACHED, answers
from orthobench.report.ranking import rank
from orthobench.results.tuning import choose
from orthobench.stats.targets import run_matrix


def answered(records):
    entries = choose(records)
    ranked = [r for r in rank(entries) if r.entry.finished]
    found = answers(entries, ranked, run_matrix(entries))
    return {one.regime: one for one in found}


def falling(runs, solver, rate, seconds, **more):
    """Return runs that fall from 1 by a factor each step, at so many seconds a step."""
    found = []
    for record in runs(solver, 1.0, **more):
        wobble = 1 + 0.01 * record.seed
        marks = [
            Checkpoint(seconds * at, 0.0, Work(at, at, 100 * at), {"gap": wobble * rate**at})
            for at in range(40)
        ]
        found.append(replace(record, trace=tuple(marks)))
    return found


def test_regimes_have_different_winners(runs):
    steep = falling(runs, "steep", 0.5, 1.0, seeds=8)
    cheap = falling(runs, "cheap", 0.6, 0.01, seeds=8)
    found = answered([*steep, *cheap])
    assert [one.solver for one in found.values()] == ["steep", "steep", "cheap", "steep"]
    assert list(found) == ["Lowest gap", "Fewest samples", "Least time", "Least flops"]
    assert found["Least time"].answer == "cheap"
    assert "Shown to be ahead of every other solver." in found["Least time"].sure
    assert found["Least time"].sure.endswith("8 seeds, 1 problem.")


def test_the_factor_is_the_median_ratio_of_cheapest(runs):
    found = answered(
        [*falling(runs, "a", 0.5, 1.0, seeds=8), *falling(runs, "b", 0.7, 1.0, seeds=8)]
    )
    firsts = {}
    for rate in (0.5, 0.7):
        values = rate ** np.arange(40)
        target = values[-1] if rate == 0.5 else (0.5**39)
        target += REACHED * (1 - target)
        firsts[rate] = int(np.argmax(values <= target))
    factor = firsts[0.7] / firsts[0.5]
    assert f"b, needs {factor:.3g} times as many samples (95 % interval {factor:.3g}" in (
        found["Fewest samples"].sure
    )


def test_over_problems_the_winners_are_counted(runs):
    records = []
    for problem, (one, other) in {"p": (0.5, 0.9), "q": (0.5, 0.9), "r": (0.9, 0.5)}.items():
        records += falling(runs, "a", one, 1.0, seeds=8, problem=problem)
        records += falling(runs, "b", other, 1.0, seeds=8, problem=problem)
    found = answered([altered(r, recipe=r.problem.label) for r in records])
    for one in found.values():
        assert one.answer == "No solver everywhere: a on 2 of 3 problems and b on 1"
        assert one.solver == "a"
        assert "ahead of every other solver on all of them" in one.sure
        assert one.sure.endswith("8 seeds, 3 problems.")


def test_solvers_that_win_equally_often_are_named_together_and_none_of_them_leads(runs):
    records = [
        r
        for i, p in enumerate("pqr")
        for j, s in enumerate("abc")
        for r in runs(s, 1.0 + (i + j) % 3, problem=p)
    ]
    found = answered([altered(r, recipe=r.problem.label) for r in records])["Lowest gap"]
    assert found.answer == "No solver everywhere: a, c and b on 1 of 3 problems each"
    assert "The next ends " in found.sure
    assert "first" not in found.sure


def test_what_failed_and_is_lower_is_said_to_be_and_is_not_next(runs):
    lower = runs("lower", 0.5, seeds=14, failed=1)
    found = answered([*lower, *runs("best", 1.0, seeds=14), *runs("next", 3.0, seeds=14)])
    (sure,) = (one.sure for one in found.values() if one.regime == "Lowest gap")
    assert sure.startswith("Shown to be ahead where they do not fail: lower. The next, next, ends")


def test_variants_of_a_problem_are_said_to_be_such(runs):
    records = [
        r
        for p in ("p k=1", "p k=2")
        for s, v in (("a", 1), ("b", 2))
        for r in runs(s, v, problem=p)
    ]
    found = answered([altered(r, recipe="p") for r in records])
    assert all("2 problems (variants of one)." in one.sure for one in found.values())


def test_a_target_that_is_missed_on_a_seed_is_a_failure(runs):
    slow = falling(runs, "slow", 0.98, 1.0, seeds=8)
    fast = falling(runs, "fast", 0.5, 1.0, seeds=8)
    fast[0] = altered(fast[0], status=RunStatus.DIVERGED, reason="broken")
    found = answered([*slow, *fast])
    assert found["Lowest gap"].solver == "slow"
    assert found["Least time"].answer.startswith("Nobody")


def test_where_all_runs_failed_there_is_one_answer(runs):
    records = [altered(r, status=RunStatus.DIVERGED) for s in "ab" for r in runs(s, 1.0)]
    (one,) = answered(records).values()
    assert one.answer == "Nobody: every solver has failed runs on each problem"


def test_few_seeds_are_said_to_decide_nothing(runs):
    found = answered([*runs("a", 1.0, seeds=2), *runs("b", 2.0, seeds=2)])
    assert "Not decidable: 2 seeds cannot show a difference" in found["Lowest gap"].sure


def test_without_a_finished_run_there_is_no_answer(runs):
    waiting = [altered(r, status=RunStatus.MISSING, trace=()) for r in runs("a", 1.0)]
    assert answered(waiting) == {}


@pytest.mark.parametrize("solvers", [["a"], ["a", "b"]])
def test_equal_solvers_are_no_order(runs, solvers):
    records = [altered(r, solver=s) for s in solvers for r in runs("x", 1.0, seeds=8)]
    records = [replace(r, key=f"{r.key} {r.solver.label}") for r in records]
    found = answered(records)
    expected = "a" if len(solvers) == 1 else "No difference: all solvers end equal, up to rounding"
    assert {one.answer for one in found.values()} == {expected}
