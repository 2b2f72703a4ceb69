"""Estimates that decide claims: intervals between bounds, and what they are of."""

from functools import partial
from types import SimpleNamespace

import pytest
from orthobench_papers.reproduce.claims import Measurement, Verdict
from orthobench_papers.reproduce.estimates import (
    Estimate,
    always_within,
    decided,
    mean_within,
    share_within,
    together,
)


def test_the_whole_interval_decides_by_either_bound():
    verdicts = {
        (1.0, 2.0): Verdict.HOLDS,  # the bounds count as between
        (0.9, 2.0): Verdict.UNDECIDED, (1.0, 2.1): Verdict.UNDECIDED,
        (0.5, 1.0): Verdict.UNDECIDED, (2.0, 3.0): Verdict.UNDECIDED,
        (0.5, 0.9): Verdict.FAILS, (2.1, 3.0): Verdict.FAILS, (0.0, 9.0): Verdict.UNDECIDED,
    }  # fmt: skip
    assert {ends: decided(ends, 1.0, 2.0) for ends in verdicts} == verdicts


def test_a_mean_has_students_interval():
    values = [1.0, 2.0, 3.0, 4.0]
    half = 3.182446305284263 * (5 / 3) ** 0.5 / 2
    found = mean_within(values, 0.0, 2.5 + half)
    assert found.value == 2.5
    assert found.interval == pytest.approx((2.5 - half, 2.5 + half))
    assert mean_within(values, 2.4).verdict is Verdict.UNDECIDED
    assert mean_within(values, high=0.4).verdict is Verdict.FAILS
    for one_sided in ({"low": 2.4 - half}, {"high": 2.6 + half}):
        assert mean_within(values, **one_sided).verdict is Verdict.HOLDS


def test_a_share_has_wilsons_interval():
    found = share_within([True] * 5 + [False] * 4)
    p, n, z = 5 / 9, 9, 1.959963984540054
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    assert found.interval == pytest.approx((centre - half, centre + half))
    assert (found.value, found.verdict) == (pytest.approx(p), Verdict.HOLDS)


def test_one_value_outside_refutes_what_is_said_of_all():
    assert always_within([1.0, 2.0, 3.0], 1, 3).verdict is Verdict.HOLDS
    assert always_within([1.0, 2.0, 3.0], 0, 4).verdict is Verdict.HOLDS
    assert always_within([1.0, 2.0, 3.0], high=2.9).verdict is Verdict.FAILS
    assert always_within([1.0, 2.0, 3.0], low=1.1).verdict is Verdict.FAILS
    assert always_within([1.0, float("nan")], 0, 3).verdict is Verdict.FAILS
    assert always_within([1.0, 2.0, 3.0], 0, 4).interval == (1, 3)
    assert always_within([0.1, 2.0], low=0.5).value == 0.1
    assert always_within([0.1, 2.0], high=3.0).value == 2.0


def test_several_hold_together():
    good = Measurement(Verdict.HOLDS, 1.0, (1, 1), "a")
    bad = Measurement(Verdict.FAILS, 2.0, (2, 2), "b")
    assert together([good, bad]).verdict is Verdict.FAILS
    assert together([good, bad]).value == 2
    assert together([good, good]).verdict is Verdict.HOLDS
    assert together([good, bad]).text == "a: 1; b: 2"
    assert together([good], "both").text == "both"


def test_an_estimate_judges_the_values_of_a_check():
    found = Estimate(
        lambda evidence: (x + evidence for x in (1.0, 2.0)), always_within, "sum", {"high": 3}
    )
    assert (found(1).value, found(1).text, found(1).verdict) == (3, "sum", Verdict.HOLDS)
    assert found(2).verdict is Verdict.FAILS


@pytest.mark.parametrize(
    ("misses", "verdict"), [(0, Verdict.HOLDS), (4, Verdict.UNDECIDED), (40, Verdict.FAILS)]
)
def test_one_of_400_trials_that_fails_is_too_many_to_be_sure(misses, verdict):
    every = SimpleNamespace(seeds=range(1000))
    succeeds = partial(lambda seed, low: seed >= low, low=misses)
    found = Estimate(succeeds, share_within, "good", {"low": 0.99}, trials=400)(every)
    assert (found.value, found.verdict) == (1 - misses / 400, verdict)


def test_a_check_adds_words_to_the_text_of_its_estimate():
    found = Estimate(
        lambda _: ([1.0], {"most": 2.5}), always_within, "{name}, {most:g}", words={"name": "a"}
    )
    assert found(None).text == "a, 2.5"


def test_an_estimate_of_settings_holds_if_each_does():
    rows = {"small": [1.0], "large": [5.0]}
    found = Estimate(lambda _: rows, always_within, "error", {"high": 3})(None)
    assert (found.value, found.verdict) == (5, Verdict.FAILS)
    assert found.text == "error: small: 1; large: 5 ✗"
