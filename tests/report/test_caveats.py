"""Caveats below a ranking."""

from dataclasses import replace

import pytest
from records import altered

from orthobench.harness.stopping import RunStatus, Termination
from orthobench.report import caveats
from orthobench.results.tuning import Trial, choose
from orthobench.tools.machine import Load

IDLE, BUSY = Load(2, 0.8), Load(2, 7.0)


@pytest.mark.parametrize(
    ("loads", "said"),
    [
        ([], None),
        ([(IDLE, IDLE)], None),
        ([(Load(2, None), Load(2, 3.0))], None),
        ([(BUSY, IDLE)], "up to 3.5 threads for each core: 1 of 10 runs"),
        ([(IDLE, BUSY), (Load(8, 9.5), IDLE)], "up to 3.5 threads for each core: 2 of 10 runs"),
    ],
)
def test_runs_that_were_timed_on_a_busy_machine_are_counted(runs, loads, said):
    records = runs("a", 0.3) + runs("b", 0.1)
    loaded = [replace(r, load=load) for r, load in zip(records, loads, strict=False)]
    found = caveats.busy(choose(loaded + records[len(loaded) :]))
    assert len(found) == (said is not None)
    assert said is None or said in found[0]


def test_runs_that_measured_something_have_no_times_to_compare(runs):
    records = runs("a", 0.3) + runs("b", 0.1)
    assert caveats.measured(choose(records)) == []
    (said,) = caveats.measured(choose([replace(r, measure="memory") for r in records]))
    assert said == "run to measure memory, which takes time: compare no times"


def test_missing_runs_are_counted(runs):
    entries = choose(runs("a", 1.0) + runs("b", 1.0))
    waiting = [altered(r, status=RunStatus.MISSING, trace=()) for r in runs("b", 1.0)]
    some = choose([*runs("a", 1.0), *runs("b", 1.0)[:3], *waiting[3:]])
    assert caveats.missing(entries) == []
    assert caveats.missing(some) == ["not run yet, and not counted: b 2 of 5 runs"]
    assert caveats.missing(choose(waiting)) == ["no run is finished yet"]
    refused = [altered(r, status=RunStatus.REFUSED, trace=()) for r in waiting]
    assert caveats.missing(choose(refused)) == []


def test_runs_that_a_limit_cut_are_named_with_the_way_on(runs):
    records = runs("a", 0.3) + runs("b", 0.1)
    assert caveats.cut(choose(records)) == []
    cut = [replace(r, stop=Termination.cut(60.0)) for r in runs("b", 0.1)]
    (said,) = caveats.cut(choose([*runs("a", 0.3), *cut]))
    assert f"b {len(cut)} runs, after 60 s" in said
    assert "--timeout" in said
    assert said in caveats.notes([], choose([*runs("a", 0.3), *cut]))


def test_runs_ended_in_a_call_are_named_apart_from_a_limit(runs):
    ended = [replace(r, stop=Termination.in_call(2.2, recorded=True)) for r in runs("b", 0.1)]
    (said,) = caveats.cut(choose([*runs("a", 0.3), *ended]))
    assert f"b {len(ended)} runs" in said
    assert "budget" in said
    assert "--timeout" not in said


def test_note_says_how_parameters_were_chosen(runs):
    tuned = [r for step in (1.0, 2.0, 4.0) for r in runs("a", step, tuned={"step": step})]
    (entry,) = choose(tuned)
    first, edge = caveats.tuning([entry])
    assert first == "parameters were chosen by val at the end, from up to 3 trials of each solver"
    assert edge == "a: step=1 is the smallest tried; a better one may lie beyond"
    averaged = replace(entry, score="path", tuned_on=(0, 1))
    assert "averaged over the run" in caveats.tuning([averaged])[0]
    assert caveats.tuning([averaged])[0].endswith(" on 2 of the seeds")
    assert caveats.tuning(choose(runs("a", 1.0))) == []


@pytest.mark.parametrize(
    ("before", "after", "falls"),
    [
        ((1.0,), (1.0,), False),
        ((0.0,) * 4, (-1.0, -1.0, -1.0, 0.8), False),  # by 1.2 standard errors
        ((0.0,) * 4, (-1.2, -1.0, -1.0, 0.2), True),
    ],
)
def test_an_edge_is_told_if_scores_fall_by_two_errors(runs, before, after, falls):
    (entry,) = choose(runs("a", 0.3))
    scores = {1: before, 2: after, 4: before}
    trials = tuple(Trial({"step": v}, 0.0, entry.records, own) for v, own in scores.items())
    best = replace(entry, best_parameters={"step": 2}, trials=trials[:2])
    assert bool(caveats.tuning([best])[1:]) is falls
    assert caveats.tuning([replace(best, trials=trials)])[1:] == []
    three = (*trials[:1], replace(trials[0], tuned={"step": 1.5}), trials[1])
    assert bool(caveats.tuning([replace(best, trials=three)])[1:]) is falls


def test_reruns_and_false_convergence_are_named(runs):
    again = [altered(r, reruns=True) for r in runs("b", 1.0)]
    entries = choose([*runs("a", 1.0), *again, *runs("c", 1.0, status=RunStatus.NOT_STATIONARY)])
    assert caveats.notes(entries, []) == [
        "run anew for each point, for want of single steps: b",
        "says that it converged, and has not: c",
    ]
