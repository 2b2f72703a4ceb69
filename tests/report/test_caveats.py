"""Caveats that stand below a ranking."""

from dataclasses import replace

import pytest

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
