"""Steps of times: none where nothing changed, and those that there are."""

import math
from contextlib import nullcontext

import numpy as np
import pytest

from orthobench.compare import timing
from orthobench.history import times
from orthobench.history.curves import curves
from orthobench.history.times import Ratio
from orthobench.stats.run_pairs import Change

PAIRS, CELLS = 29, 4
TESTS = 2 * PAIRS * CELLS
KEY = ("problem", "solver", 0)


def ratio(logs, pairs=3, tolerance=0.03):
    tolerances = {"time": tolerance}
    return Ratio(KEY, (1, 1), (1.0, 1.0), logs=logs, pairs={*range(pairs)}, tolerance=tolerances)


def timed(rng, change):
    """Return a ratio that is measured until it is certain, or for 24 rounds."""
    one = ratio([], 0)
    while len(one.logs) < 24 and not (len(one.logs) >= timing.ROUNDS and one.certain(TESTS)):
        one.logs.append(change + 0.05 * rng.standard_t(3))
        one.pairs.add(len(one.logs) // 2)
    return one


def test_no_step_is_found_in_thirty_commits_in_which_nothing_changed():
    rng = np.random.default_rng(5)
    found = [timed(rng, 0.0).finding(TESTS).change for _ in range(PAIRS * CELLS)]
    assert not {Change.WORSE, Change.BETTER} & set(found)


def test_a_step_needs_more_evidence_in_a_longer_history():
    one = ratio([0.09, 0.1, 0.12, 0.1])
    assert math.log(1 / times.RATE) < one.evidence < math.log(TESTS / times.RATE)
    assert one.finding(1).change is Change.WORSE
    assert one.finding(TESTS).change is Change.UNDECIDED


def test_one_pair_of_processes_shows_no_step_of_some_percent():
    """Places in memory make the same code some percent slower in a process."""
    logs = [0.1 + 1e-4 * i for i in range(9)]
    assert ratio(logs, 1).finding(TESTS).change is Change.UNDECIDED
    assert ratio(logs, 3).finding(TESTS).change is Change.WORSE
    assert ratio([x + 0.3 for x in logs], 1).finding(TESTS).change is Change.WORSE


@pytest.mark.parametrize(
    ("change", "answer"), [(math.log(1.2), Change.WORSE), (-math.log(1.2), Change.BETTER)]
)
def test_a_fifth_is_found_in_each_direction(change, answer):
    rng = np.random.default_rng(7)
    found = [timed(rng, change).finding(TESTS) for _ in range(20)]
    assert sum(one.change is answer for one in found) >= 16
    assert {one.change for one in found} <= {answer, Change.UNDECIDED}


def test_a_change_within_the_tolerance_is_no_step_however_certain():
    logs = [0.02 + 1e-4 * (-1) ** i for i in range(40)]
    assert ratio(logs).certain(TESTS)
    assert ratio(logs).finding(TESTS).change is Change.SAME
    assert ratio(logs, tolerance=0.01).finding(TESTS).change is Change.WORSE


def test_ratios_are_chained_and_identities_cost_no_timing(repository, fake, monkeypatch):
    """Neighbours that differ are timed once; the curve is the product of their ratios."""
    for final in (0.1, 0.1, 0.2, 0.3):
        repository.commit(final=final)
    history = fake("HEAD~3..HEAD")
    asked = []

    def measure(sides, cells, options, start, progress, unknown):
        asked.append(tuple(sides))
        (cell,), changed = cells, len(asked) == 1
        cell.pairs.add(1)
        cell.logs += [math.log(1.1 if changed else 1.0) + 1e-3 * i for i in range(6)]
        assert unknown(cells) == (cells if changed else [])
        cell.pairs |= {2, 3}
        assert unknown(cells) == []

    monkeypatch.setattr(times, "sides", lambda base, head, here, extras: nullcontext((base, head)))
    monkeypatch.setattr(times.timing, "measure", measure)
    found = times.ratios(history, lambda _: None)
    assert [(one.since, one.place) for one in found] == [(1, 2), (2, 3)]
    (curve,), steps = curves(history, found)
    assert curve.time == pytest.approx([1, 1, 1.1, 1.1], rel=0.01)
    assert [(s["place"], s["change"]) for s in steps if s["question"] == "time"] == [(2, "worse")]
    assert curve.low[-1] < curve.time[-1] < curve.high[-1] < 1.05 * curve.low[-1]
    times.ratios(history, lambda _: None)
    assert len(asked) == 2
