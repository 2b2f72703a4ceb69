"""The texts of a race while it runs and at its end."""

from __future__ import annotations

import math

import numpy as np
import pytest
from trials import made_trial

from orthobench.decide.rule import Comparison, Decision, Verdict
from orthobench.racing import wording
from orthobench.racing.halving import Halving
from orthobench.racing.standing import Rules, Trial


def run(
    name: str, end: float, cost: float, seed: int = 0, ended: bool = True, failed: str = ""
) -> Trial:
    at = np.array([] if failed else [0.0, cost])
    values = np.array([] if failed else [1.0, end])
    return made_trial(name, seed, 10.0, values, at, ended and not failed, failed)


def race(*trials: Trial, tolerance: float = 0.01) -> Halving:
    return Halving(Rules({"a": "a", "a x=1": "a", "b": "b", "c": "c"}, 100.0, tolerance), trials)


RACED = (run("a", 0, 2.0), run("a x=1", 0, 3.0), run("b", 0, 4.0), run("b", 0, 5.0, seed=1))
"""Both of a lead, and b has two seeds, so that it is the leader."""


def test_standing_has_the_leader_and_the_counts() -> None:
    field = race(run("a", 0, 2.0), run("b", 0, 4.0), run("c", 0.9, 1.0))
    *rows, now = wording.standing(field, "b", 12.0, -1.0).splitlines()
    assert now == "  12.0 s  a leads with 2.00 s; 3 of 4 raced, 1 dropped; 0.00 µs left"
    assert rows == [
        "a     2.00 s     1/1 seed  leads",
        "b     4.00 s     1/1 seed",
        "1 more cost more, or end higher; 1 not run",
    ]


def test_the_leader_is_on_top_of_a_table_then_the_cheapest() -> None:
    field = race(*RACED)
    assert field.leader == "b"
    rows = wording.rows(field, None, None, "b", {})
    assert [row["configuration"] for row in rows] == ["b", "a", "a x=1", "c"]
    assert [row["verdict"] for row in rows] == ["leads", "", "", "not run"]
    assert [row["cost"] for row in rows] == [5.0, 2.0, 3.0, math.inf]
    assert [row["seeds"] for row in rows] == [2, 1, 1, 0]
    assert [row["solver"] for row in rows] == ["b", "a", "a", "c"]


@pytest.mark.parametrize(
    ("trials", "why"),
    [
        ((), "no run came to an end: give it more time"),
        ((run("a", math.inf, 1.0, ended=False),), "no run came to an end: give it more time"),
        ((run("a", math.inf, 1.0),), "all runs end outside the level"),
        ((run("a", 0, 0, failed="it raised"), run("b", 0, 0, failed="so did this")), "it raised."),
    ],
)
def test_a_race_without_a_leader_says_why(trials: tuple[Trial, ...], why: str) -> None:
    trials = tuple(
        made_trial(
            t.configuration, t.seed, t.cap, t.values + math.inf, t.seconds, t.ended, t.failed
        )
        for t in trials
    )
    said = wording.provisional(race(*trials), None)
    assert said.startswith(f"No solver yet: {why}")


def test_failure_on_half_of_the_seeds_is_the_reason_without_a_leader() -> None:
    field = race(run("a", 0, 2.0), run("a", 0, 0, seed=1, failed="it raised"))
    assert field.leader is None
    assert wording.provisional(field, None) == "No solver yet: it raised."


def test_a_dip_below_all_ends_is_no_value_to_race_for() -> None:
    dips = made_trial("a", 0, 9.0, np.array([1.0, 0.0, 0.9]), np.arange(3.0), True)
    falls = made_trial("b", 0, 9.0, np.array([1.0, 0.5, 0.3]), np.arange(3.0), True)
    field = race(dips, falls)
    said = wording.provisional(field, field.leading)
    assert said.startswith("Use b for now, 2.00 s: untested on 1 seed. It is the cheapest of 2")
    assert "ends 86 % of the gap above b" in field.dropped["a"]


def test_runs_without_an_end_are_named_with_a_number_of_steps() -> None:
    values = np.array([1.0, 0.5, 0.31, 0.305, 0.302, 0.301, 0.3])
    cut = made_trial("a", 0, 9.0, values, np.arange(7.0))
    field = race(cut, made_trial("b", 0, 9.0, np.array([1.0, 0.9]), np.arange(2.0)))
    said = wording.provisional(field, field.leading)
    assert said.startswith("Use a with 3 steps for now, 3.00 s: untested on 1 seed.")


def test_a_leader_that_misses_on_the_first_seed_is_named_for_now() -> None:
    field = race(*[run("a", end, 2.0, seed) for seed, end in enumerate((0.1, 0, 0))],
                 *[run("b", 0, 2000.0, seed) for seed in range(2)])  # fmt: skip
    assert field.leader == "a"
    said = wording.provisional(field, field.leading)
    assert said.startswith("Use a for now, 2.00 s: untested on 3 seeds. ")


def test_a_leader_that_is_not_shown_to_be_as_good_is_named_for_now() -> None:
    field = race(*RACED[:2], run("b", 0, 5.0), run("c", 0, 7.0))
    said = wording.provisional(field, field.leading)
    assert said.startswith("Use a for now, 2.00 s: untested on 1 seed. ")
    assert "the cheapest of 4 of 4 configurations within 1 % of the gap" in said
    assert "more time" in said


def test_more_time_is_asked_for_only_if_it_would_help() -> None:
    for trials, helps in (((), True), ((run("a", math.inf, 1.0),), False),
                          ((run("a", 0, 0, failed="it raised"),), False)):  # fmt: skip
        said = wording.provisional(race(*trials), None, " Too short.")
        assert said.endswith(" Too short.") is helps


def test_untested_calls_say_so_with_their_seeds() -> None:
    field = race(*[run("a", end, 2.0, seed) for seed, end in enumerate((0, 0, 0.9))],
                 *[run("b", 0, 9.0, seed) for seed in range(3)])  # fmt: skip
    call = field.leading
    assert call is not None
    assert (call.reached, call.seeds) == (2, 3)
    assert "the one named untested, on 3 seeds" in wording.evidence(field, call, True, 1, False)
    told = Comparison("p", "p", "f", "gap", None, (Decision("a", Verdict.UNTESTED),))
    rows = wording.rows(field, told, call, "a", {"a": 2.0})
    assert next(wording.lines(rows, "seconds")).endswith(" 3 seeds  untested")


def test_the_table_at_the_end_has_the_calls() -> None:
    field = race(*[run(n, 0, c, seed) for seed in range(5) for n, c in (("a", 2.0), ("b", 9.0))])
    decided = field.decisions()
    told = Comparison("p", "p", "f", "gap", "a", tuple(decided))
    call = told.of("a").call
    first, second, *rest = wording.rows(field, told, call, "a", {"a": 7.0, "b": 9.5})
    assert (first["solver"], first["cost"], first["first_cost"]) == ("a", 2.0, 7.0)
    assert (first["reached"], first["seeds"], first["factor"]) == (5, 5, 1.0)
    assert (second["solver"], second["factor"]) == ("b", 4.5)
    assert {row["verdict"] for row in rest} == {"not run"}
    lines = [*wording.lines([first, second, *rest], "seconds")]
    assert "5/5 seeds" in lines[0]
    assert "first call 7.00 s" in lines[0]  # more than twice its cost
    assert "first call" not in lines[1]
    assert lines[-1] == "2 not run"
