"""What a store may hold, and what was not written by orthobench, at its bounds."""

import json
import math

import pytest

from orthobench.harness.stopping import Target
from orthobench.results import checks
from orthobench.results.checks import MisfitError
from orthobench.tools.machine import Load

LARGEST = 2**63 - 1
DEEP = "[" * 100_000


def test_single_values_are_parameters():
    for value in (0, -1, LARGEST, -LARGEST - 1, 0.5, math.inf, math.nan, "a", None, True):
        assert checks.scalars({"a": value}, "it") == {"a": value}


def test_other_values_and_numbers_beyond_64_bits_are_none():
    for value in (LARGEST + 1, -LARGEST - 2, [], {}, b"a"):
        with pytest.raises(MisfitError, match="it are not single values by name"):
            checks.scalars({"b": 1, "a": value}, "it")
        with pytest.raises(MisfitError, match="it are not single values by name"):
            checks.scalars([value], "it")


def test_texts_by_name_have_those_that_are_needed():
    assert checks.texts({"a": "x", "b": ""}, "they", "a") == {"a": "x", "b": ""}
    assert checks.texts({"a": "x"}, "they", "a") == {"a": "x"}
    assert checks.texts({}, "they") == {}
    for value in ({"b": "x"}, {"a": 1}, {"a": "x", "b": None}, ["a"], None):
        with pytest.raises(MisfitError, match="they are not texts by name with a, c, but"):
            checks.texts(value, "they", "a", "c")
    with pytest.raises(MisfitError, match="they are not texts by name, but"):
        checks.texts({"a": 1}, "they")


SETTINGS = {"budget": {"steps": 3}, "versions": {"orthobench": "1"}, "until": None}


def test_settings_are_read():
    until = {"until": {"metric": "gap", "value": 0.1}}
    for part in ({}, until, {"measure": "memory"}, {"budget": {}}):
        assert checks.settings({**SETTINGS, **part}) == {**SETTINGS, **part}


def test_other_settings_are_refused():
    for part, reason in (
        ({"budget": None}, "the budget are not single values"),
        ({"budget": {"steps": "3"}}, "the budget is not of numbers"),
        ({"budget": {"flops": 1, "steps": math.inf}}, "the budget is not of numbers"),
        ({"versions": {"orthobench": 1}}, "the versions are not texts"),
        ({"until": {"metric": 1}}, "the target is not one of a metric"),
        ({"until": {}}, "the target is not one of a metric"),
        ({"until": "gap"}, "the target is not one of a metric"),
        ({"measure": 1}, "what was measured is 1"),
    ):
        with pytest.raises(MisfitError, match=reason):
            checks.settings({**SETTINGS, **part})


def test_what_is_not_in_a_catalogue_is_refused():
    for value, reason in (
        ("p", "the solver is not a name with parameters"),
        ({"parameters": {}}, "the solver is not a name with parameters"),
        ({"name": "s", "parameters": {"a": []}}, "the parameters of the solver are"),
    ):
        with pytest.raises(MisfitError, match=reason):
            checks.catalogued(value, "solver")


def test_what_is_no_json_is_refused():
    for text in ("", "{", DEEP, "\ud800"):
        with pytest.raises(MisfitError, match="is not JSON"):
            checks.document(text)


def test_metrics_are_as_many_numbers_as_names():
    assert checks.metrics("[0.5, null, Infinity]", 3) == [0.5, None, math.inf]
    for text in ("[]", "[1]", '["a"]', "{}", "[[1.0]]"):
        with pytest.raises(MisfitError, match="metrics are"):
            checks.metrics(text, 1)


def test_a_load_is_of_processors_before_and_after():
    before, after = checks.load("[[1, 0.5], [2, null]]")
    assert (before, after) == (Load(1, 0.5), Load(2, None))
    assert checks.load(None) is None
    for text in ("[[0, 1], [0, 1]]", '[[1, "a"], [1, 1]]', "[[1, 1]]", "1"):
        with pytest.raises(checks.ERRORS):
            checks.load(text)


def test_levels_are_a_metric_with_a_number_each():
    assert checks.levels([["gap", 0.5], ["loss", 2]]) == (Target("gap", 0.5), Target("loss", 2))
    assert checks.levels([]) == ()
    for value in ("gap", [["gap"]], [["gap", 1, 2]], [[1, 1]], [["gap", "1"]], [["gap", 1], {}]):
        with pytest.raises(MisfitError, match="the levels are not metrics with numbers"):
            checks.levels(value)


def test_names_are_all_different():
    assert checks.names(["a", "b"]) == ("a", "b")
    assert checks.names([]) == ()
    for value in (["a", "b", "a"], ["a", 1], "ab", None, {"a": 1}):
        with pytest.raises(MisfitError, match="the metrics are not different names"):
            checks.names(value)


STARTED, RAN_ON = "2026-01-02T03:04:05+00:00", {"python": "3.11"}


def session(text="", environment=RAN_ON, started=STARTED, ended=None):
    row = {"text": text, "environment": json.dumps(environment), "started": started, "ended": ended}
    return checks.session(row)["environment"]


def test_a_session_has_a_short_suite_and_two_dates_of_which_the_second_may_be_missing():
    assert session("x" * 2**20) == session(ended=STARTED) == RAN_ON
    with pytest.raises(MisfitError, match="the suite of a session has 1048577 characters"):
        session("x" * (2**20 + 1))
    for dates in ({"started": "today"}, {"ended": "today"}):
        with pytest.raises(ValueError, match="Invalid isoformat"):
            session(**dates)


def test_what_a_session_ran_on_has_single_values_in_each_part():
    pools = [{"name": "openblas"}, {"threads": 1}]
    for part in ("packages", "run", "git", "blas"):
        known = pools if part == "blas" else {"a": 1}
        for found in (known, None, {}):
            assert session(environment={part: found}) == {part: found}
        for wrong in ({"a": [1]}, [{"a": 1}, {"b": {}}], "a"):
            with pytest.raises(MisfitError, match="of a session are not single values"):
                session(environment={part: wrong})
    with pytest.raises(MisfitError, match="the environment of a session is"):
        session(environment=["python"])
