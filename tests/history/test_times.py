"""Steps of times: none without a change, and the planted ones."""

import math
from contextlib import nullcontext

import numpy as np
import pytest

from orthobench.compare import timing
from orthobench.history import times
from orthobench.history.curves import curves
from orthobench.history.outputs import facts, lines
from orthobench.history.times import Ratio
from orthobench.report.page.history import write_history
from orthobench.stats.run_pairs import Change

PAIRS, CELLS = 29, 4
TESTS = 2 * PAIRS * CELLS


def ratio(logs, pairs=3, tests=TESTS):
    key = ("problem", "solver", 0)
    return Ratio(key, (1, 1), (1.0, 1.0), logs=logs, pairs={*range(pairs)}, tests=tests)


def timed(rng, change):
    """Return a ratio that is measured until it is certain, or for 24 rounds."""
    one = ratio([], 0)
    while len(one.logs) < 24 and not (len(one.logs) >= timing.ROUNDS and one.certain):
        one.logs.append(change + 0.05 * rng.standard_t(3))
        one.pairs.add(len(one.logs) // 2)
    return one


@pytest.mark.parametrize(
    ("change", "answer"), [(1.0, None), (1.2, Change.WORSE), (1 / 1.2, Change.BETTER)]
)
def test_changes_are_found_and_no_others(change, answer):
    rng = np.random.default_rng(5)
    found = [timed(rng, math.log(change)).finding().change for _ in range(PAIRS * CELLS)]
    assert {Change.WORSE, Change.BETTER} & set(found) == ({answer} if answer else set())
    assert not answer or found.count(answer) >= 0.8 * len(found)


def test_step_needs_more_evidence_in_a_longer_history():
    logs = [0.09, 0.1, 0.12, 0.1]
    assert ratio(logs, tests=1).finding().change is Change.WORSE
    assert ratio(logs).finding().change is Change.UNDECIDED
    assert ratio(logs).unsure


def test_ratios_of_changed_neighbours_are_chained(repository, fake, monkeypatch, tmp_path):
    for final in (0.1, 0.1, 0.2, 0.3):
        repository.commit(final=final)
    history = fake("HEAD~3..HEAD")
    asked = []

    def measure(sides, cells, options, start, progress):
        asked.append(sides)
        (cell,), change = cells, 1.1 if len(asked) == 1 else 1.0
        cell.logs += [math.log(change) + 1e-3 * i for i in range(6)]
        cell.pairs |= {1, 2, 3}

    monkeypatch.setattr(times, "sides", lambda base, head, here, extras: nullcontext((base, head)))
    monkeypatch.setattr(times.timing, "measure", measure)
    found = times.ratios(history, lambda _: None)
    assert [(one.since, one.place) for one in found] == [(1, 2), (2, 3)]
    (curve,), steps = curves(history, found)
    assert curve.time == pytest.approx([1, 1, 1.1, 1.1], rel=0.01)
    assert [(s["place"], s["change"]) for s in steps if s["question"] == "time"] == [(2, "worse")]
    assert curve.low[-1] < curve.time[-1] < curve.high[-1] < 1.05 * curve.low[-1]
    plain = facts(history, [curve], steps, ["HEAD~3..HEAD"])
    assert plain["timed"]
    assert "time x 1.1" in "\n".join(lines(plain))
    assert "work and times" in write_history(plain, {}, tmp_path).read_text("utf-8")
    times.ratios(history, lambda _: None)
    assert len(asked) == 2
