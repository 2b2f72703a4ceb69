"""Steps of times: none where nothing changed, and those that there are."""

import math
from contextlib import nullcontext

import numpy as np
import pytest

from orthobench.compare import timing
from orthobench.compare.comparison import Options, Question
from orthobench.history import times
from orthobench.history.curves import curves
from orthobench.history.record import Record
from orthobench.history.times import Ratio
from orthobench.stats.run_pairs import Change

PAIRS, CELLS = 29, 4
TESTS = 2 * PAIRS * CELLS
KEY = ("problem", "solver", 0)


def looked(rng, change, enough):
    """Return a ratio that is measured as by a comparison: until it seems certain, or 8 rounds."""
    one = Ratio(KEY, 0, 1)
    while not one.looks or times._open([one], TESTS):
        logs = []
        while len(logs) < 8:
            logs.append(change + 0.05 * rng.standard_t(3))
            if len(logs) >= timing.ROUNDS and Ratio(KEY, 0, 1, [logs]).evidence(1) >= enough:
                break
        one.looks.append(logs)
        one.pairs += 2
    return one


def test_no_step_is_found_in_thirty_commits_in_which_nothing_changed():
    rng = np.random.default_rng(5)
    found = [
        looked(rng, 0.0, math.log(1 / 0.01)).finding(TESTS, 0.03).change
        for _ in range(PAIRS * CELLS)
    ]
    assert not {Change.WORSE, Change.BETTER} & set(found)


def test_a_step_needs_more_evidence_in_a_longer_history():
    one = Ratio(KEY, 0, 1, [[0.09, 0.1, 0.12, 0.1]], 3)
    assert math.log(1 / times.RATE) < one.evidence(1) < math.log(TESTS / times.RATE)
    assert one.finding(1, 0.03).change is Change.WORSE
    assert one.finding(TESTS, 0.03).change is Change.UNDECIDED


def test_one_pair_of_processes_shows_no_step_of_some_percent():
    """Places in memory make the same code some percent slower in a process."""
    logs = [[0.1 + 1e-4 * i for i in range(9)]]
    assert Ratio(KEY, 0, 1, logs, 1).finding(TESTS, 0.03).change is Change.UNDECIDED
    assert Ratio(KEY, 0, 1, logs, 3).finding(TESTS, 0.03).change is Change.WORSE
    far = [[x + 0.3 for x in logs[0]]]
    assert Ratio(KEY, 0, 1, far, 1).finding(TESTS, 0.03).change is Change.WORSE


@pytest.mark.parametrize(
    ("change", "answer"), [(math.log(1.2), Change.WORSE), (-math.log(1.2), Change.BETTER)]
)
def test_a_fifth_is_found_in_each_direction(change, answer):
    rng = np.random.default_rng(7)
    found = [looked(rng, change, 5.0).finding(TESTS, 0.03) for _ in range(20)]
    assert sum(one.change is answer for one in found) >= 16
    assert {one.change for one in found} <= {answer, Change.UNDECIDED}


def test_a_change_within_the_tolerance_is_no_step_however_certain():
    one = Ratio(KEY, 0, 1, [[0.02 + 1e-4 * (-1) ** i for i in range(40)]], 3)
    assert one.evidence(1) > math.log(TESTS / times.RATE)
    assert one.finding(TESTS, 0.03).change is Change.SAME
    assert one.finding(TESTS, 0.01).change is Change.WORSE


def test_evidence_of_separate_measurements_adds_up():
    looks = [[0.1, 0.12, 0.11, 0.1], [0.11, 0.1, 0.12, 0.11]]
    apart = [Ratio(KEY, 0, 1, [look]).evidence(1) for look in looks]
    assert Ratio(KEY, 0, 1, looks).evidence(1) == pytest.approx(sum(apart))


def test_ratios_are_chained_and_identities_cost_no_timing(repository, fake, monkeypatch):
    """Neighbours that differ are timed once; the curve is the product of their ratios."""
    for final in (0.1, 0.1, 0.2, 0.3):
        repository.commit(final=final)
    history = fake("HEAD~3..HEAD")
    timed = []

    def measure(sides, cells, options, start, progress):
        timed.append(tuple(sides))
        for cell in cells:
            cell.pairs |= {1, 2, 3}
            cell.logs += [math.log(1.5 if len(timed) == 1 else 1.0) + 1e-3 * i for i in range(6)]
        return 6

    monkeypatch.setattr(times, "sides", lambda base, head, here, extras: nullcontext((base, head)))
    monkeypatch.setattr(times.timing, "measure", measure)
    record = Record(repository.root / "record.sqlite")
    asked = (repository.root, history, Options(), record, lambda _: None)
    found = times.ratios(*asked)
    assert [(one.first, one.second) for one in found] == [(1, 2), (2, 3)]
    (curve,) = curves(history, found, 0.03)
    assert curve.values[Question.TIME] == pytest.approx([1, 1, 1.5, 1.5], rel=0.01)
    assert [(s.second, s.change) for s in curve.steps if s.question is Question.TIME] == [
        (2, "worse")
    ]
    low, high = curve.low[-1], curve.high[-1]
    assert low < curve.values[Question.TIME][-1] < high < 1.05 * low
    before = len(timed)
    times.ratios(*asked)
    assert len(timed) == before
