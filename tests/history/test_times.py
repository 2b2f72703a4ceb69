"""Steps of times: none without a change, and the planted ones."""

import math
from contextlib import nullcontext

import numpy as np
import pytest
from kinds import one_of

from orthobench.compare.cells import SideError
from orthobench.history import times
from orthobench.history.curves import curves, facts, lines
from orthobench.history.times import Ratio
from orthobench.report.page.history import write_history
from orthobench.stats.run_pairs import Change

PAIRS, CELLS = 29, 4
TESTS = 2 * PAIRS * CELLS


def ratio(logs, pairs=3, tests=TESTS):
    key = ("problem", "solver", 0)
    return Ratio(key, (1, 1), (1.0, 1.0), logs=logs, pairs={*range(pairs)}, tests=tests)


def timed(rng, change, noise=0.05):
    """Return a ratio that is measured until it is settled, or for 24 rounds."""
    one = ratio([], 0)
    while len(one.logs) < 24 and not one.settled:
        one.logs.append(change + noise * rng.standard_t(3))
        one.pairs.add(len(one.logs) // 2)
    return one


@pytest.mark.parametrize(
    ("change", "answer", "count"),
    [
        (1.0, None, PAIRS), (1.2, Change.WORSE, PAIRS),
        *(
            pytest.param(change, answer, PAIRS * CELLS, marks=pytest.mark.wide)
            for change, answer in ((1.0, None), (1.2, Change.WORSE), (1 / 1.2, Change.BETTER))
        ),
    ],
)  # fmt: skip
def test_changes_are_found_and_no_others(change, answer, count):
    rng = np.random.default_rng(5)
    found = [timed(rng, math.log(change)).finding().change for _ in range(count)]
    assert {Change.WORSE, Change.BETTER} & set(found) == ({answer} if answer else set())
    assert not answer or found.count(answer) >= 0.8 * len(found)


@pytest.mark.parametrize(("noise", "count"), one_of(3, [(0.01, 60), (0.01, 600), (0.03, 600)]))
def test_chain_without_a_change_does_not_drift(noise, count):
    rng = np.random.default_rng(8)
    found = [timed(rng, 0.0, noise) for _ in range(count)]
    logs = np.array([math.log(one.finding().ratio) for one in found])
    assert any(one.settled for one in found)
    assert abs(logs.mean()) < 3 * logs.std() / math.sqrt(len(logs))


@pytest.mark.parametrize("change", [1.03, 1.3])
def test_inverse_ratio_is_timed_as_long(change):
    slower, faster = (timed(np.random.default_rng(3), sign * math.log(change), sign * 0.02)
                      for sign in (1, -1))  # fmt: skip
    assert slower.logs == pytest.approx([-log for log in faster.logs])


def test_step_needs_more_evidence_in_a_longer_history():
    logs = [0.09, 0.1, 0.12, 0.1]
    assert ratio(logs, tests=1).finding().change is Change.WORSE
    assert ratio(logs).finding().change is Change.UNDECIDED
    assert ratio(logs, tests=1).settled
    assert not ratio(logs).settled


def test_ratios_of_changed_neighbours_are_chained(repository, fake, monkeypatch, tmp_path):
    for final in (0.1, 0.1, 0.2, 0.3):
        repository.commit(final=final)
    history = fake("HEAD~3..HEAD")
    asked = []

    def measure(sides, cells, options, plan, progress, choose):
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
    assert "time worse" in "\n".join(lines(plain))
    assert "work and times" in write_history(plain, tmp_path).read_text("utf-8")
    times.ratios(history, lambda _: None)
    assert len(asked) == 2


@pytest.mark.parametrize("raised", [True, False])
def test_failed_timing_is_not_kept(repository, fake, monkeypatch, raised):
    for final in (0.1, 0.2):
        repository.commit(final=final)
    history = fake("HEAD~1..HEAD")

    def measure(sides, cells, options, plan, progress, choose):
        cells[0].logs.append(0.5)
        if raised:
            raise SideError("it died")
        cells[0].failed = "cannot be timed: it died"

    monkeypatch.setattr(times, "sides", lambda base, head, here, extras: nullcontext((base, head)))
    monkeypatch.setattr(times.timing, "measure", measure)
    (one,) = found = times.ratios(history, lambda _: None)
    assert (one.logs, "it died" in one.failed) == ([], True)
    (curve,), _ = curves(history, found)
    assert curve.time == pytest.approx([1.0, math.nan], nan_ok=True)
    measured = []
    monkeypatch.setattr(times.timing, "measure", lambda *words, **more: measured.append(words))
    times.ratios(history, lambda _: None)
    assert measured
