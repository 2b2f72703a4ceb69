"""Caveats that stand below a ranking."""

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
        (
            [(IDLE, BUSY), (Load(8, 9.5), IDLE)],
            "up to 3.5 threads for each core: 2 of 10 runs",
        ),
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


def test_a_tuned_parameter_without_effect_is_said_to_have_none(runs):
    (entry,) = choose(runs("a", 0.3))
    trials = [Trial({"step": step}, 0.1, entry.records, (0.1, 0.1)) for step in (1, 2)]
    idle = replace(entry, best_parameters={"step": 1}, trials=tuple(trials))
    assert "tuning had no effect on a (step)" in caveats.tuning([idle])
    works = replace(idle, trials=(trials[0], replace(trials[1], scores=(0.1, 0.2))))
    assert not any("no effect" in said for said in caveats.tuning([works]))


def test_how_parameters_were_chosen_is_told(runs):
    tuned = [r for step in (1.0, 2.0, 4.0) for r in runs("a", step, tuned={"step": step})]
    tuned += [r for step in (1.0, 2.0) for r in runs("b", step, tuned={"step": step})]
    entries = choose(tuned)
    first, *_ = caveats.tuning(entries)
    assert first == ("parameters were chosen by val at the end, from 2 to 3 trials of each solver")
    averaged = [replace(entry, score="path", tuned_on=(0, 1)) for entry in entries]
    assert caveats.tuning(averaged)[0].endswith(
        "by val averaged over the run, from 2 to 3 trials of each solver on 2 of the seeds"
    )
    some = [averaged[0], replace(averaged[1], tuned_on=(0, 1, 2))]
    assert caveats.tuning(some)[0].endswith(" on 2 to 3 of the seeds")
    assert caveats.tuning(choose(runs("a", 1.0))) == []


def test_a_score_falls_where_it_does_by_more_than_twice_its_standard_error():
    def trial(scores):
        return Trial({}, sum(scores) / max(1, len(scores)), (), scores)

    for before, after, falls in (
        ((2.0,), (1.0,), True), ((1.0,), (1.0,), False), ((), (1.0,), False),
        ((2.0,), (float("nan"),), False), ((2.0, 2.0), (1.0, float("inf")), False),
        ((2.0, 3.0, 4.0), (1.0, 2.0, 3.0), True), ((1.0, 2.0), (1.0, 2.0), False),
        ((0.0, 0.0, 0.0, 0.0), (-1.0, -1.0, -1.0, 1.0), False),
        ((0.0, 0.0, 0.0, 0.0), (-1.0, -1.0, -1.0, 0.8), False),  # by 1.2 of them
        ((0.0, 0.0, 0.0, 0.0), (-1.2, -1.0, -1.0, 0.2), True),
        ((float("inf"), 1.0), (1.0, 1.0), True),
    ):  # fmt: skip
        assert caveats._falls(trial(before), trial(after)) is falls, (before, after)


def test_a_choice_at_the_end_of_its_grid_is_told_where_the_score_still_falls(runs):
    (entry,) = choose(runs("a", 0.3))
    for scores, chosen, said in (
        ({1: 3.0, 2: 2.0, 4: 1.0}, 4, "step=4 is the largest tried"),
        ({1: 1.0, 2: 2.0, 4: 3.0}, 1, "step=1 is the smallest tried"),
        ({1: 3.0, 2: 1.0, 4: 3.0}, 2, None), ({1: 1.0, 2: 1.0, 4: 1.0}, 4, None),
        ({1: 2.0, 2: 1.0}, 2, "step=2 is the largest tried"), ({2: 1.0}, 2, None),
        ({True: 2.0, False: 1.0}, False, None), ({"a": 2.0, "b": 1.0}, "b", None),
    ):  # fmt: skip
        trials = tuple(Trial({"step": v}, s, entry.records, (s,)) for v, s in scores.items())
        found = [*caveats._edges(replace(entry, best_parameters={"step": chosen}, trials=trials))]
        assert found == ([f"a: {said}; a better one may lie beyond"] if said else []), scores


def test_who_runs_anew_or_says_wrongly_that_it_converged_is_named(runs):
    from_the_start = [altered(r, reruns=True) for r in runs("b", 1.0)]
    entries = choose([*runs("a", 1.0), *from_the_start])
    (said,) = caveats.reruns(entries)
    assert said.endswith(": b")
    assert caveats.stationarity(entries) == []
    first, *others = runs("c", 1.0, status=RunStatus.NOT_STATIONARY)
    mixed = choose([*runs("a", 1.0), first, *[altered(r, status=RunStatus.DONE) for r in others]])
    assert caveats.stationarity(mixed) == ["says that it converged, and has not: c"]


def test_what_is_not_run_yet_is_counted(runs):
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
