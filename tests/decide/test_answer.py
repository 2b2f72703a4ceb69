"""Answers over problems: standings, factors and families, by hand."""

import math
from dataclasses import replace

import pytest
from decisions import good, other

from orthobench.decide.answer import MISS, answer, plain_answer, standings
from orthobench.decide.rule import Comparison, Verdict

OPEN, WORSE = Verdict.UNDECIDED, Verdict.WORSE


def on(problem, *decisions, block=""):
    return Comparison(problem, block or problem, "f", "gap", None, decisions, seeds=6)


def test_standings_are_geometric_means_with_ten_for_a_miss():
    found = standings([
        on("p", good("a", 1.0), good("b", 4.0, 4.0)), on("q", good("b", 1.0), other("a", WORSE)),
        on("r", good("b", 1.0), good("a", 9.0, 9.0), block="q"), on("s", other("a", OPEN)),
    ])  # fmt: skip
    by_name = {s.solver: s for s in found}
    assert [s.solver for s in found] == ["b", "a"]
    assert by_name["b"].factor == pytest.approx(2)  # 4 on p, 1 on q with its variant
    assert by_name["a"].factor == pytest.approx((MISS * 9) ** 0.25)
    assert [(s.as_good_on, s.cheapest_on, s.problems, s.worst) for s in found] == [
        (3, 2, 4, 4), (2, 1, 4, 9),
    ]  # fmt: skip


def test_equal_means_are_ordered_by_as_good_then_by_cheapest():
    found = standings([
        on("p", good("twice", 10.0, 10.0), good("once", 1.0), other("c", WORSE)),
        on("q", good("twice", 1.0, 1.0), other("once", WORSE), good("c", 10.0, 10.0)),
        on("r", good("c", 1.0), other("once", WORSE), good("twice", 10.0, 10.0)),
    ])  # fmt: skip
    assert [s.factor for s in found] == pytest.approx([100 ** (1 / 3)] * 3)
    assert [(s.solver, s.as_good_on) for s in found] == [("twice", 3), ("c", 2), ("once", 1)]
    steady, wild = standings([
        on("p", good("steady", 4.0, 4.0), good("wild", 8.0, 8.0)),
        on("q", good("steady", 4.0, 4.0), good("wild", 2.0, 2.0)),
    ])  # fmt: skip
    assert (steady.solver, steady.worst, wild.worst) == ("steady", 4, 8)


def test_standing_has_name_and_common_parameters():
    one, two = (good("a K=2", 1.0, name="a", parameters={"K": 2, "step": s}) for s in (1, 3))
    found = answer([on("p", one), on("q", two)])
    assert (found.use, found.parameters, found.solver) == ("a", {"K": 2}, "a K=2")


def test_over_families_one_solver_is_named_where_it_is_the_same():
    first = on("p", good("a", 1.0), good("b", 2.0, 2.0))
    second = replace(on("q", good("a", 1.0), good("b", 8.0, 8.0)), family="g")
    both = answer([first, second])
    assert (both.use, both.factor, both.as_good_on, both.problems) == ("a", 4, 2, 2)
    assert (both.mean_factor, both.worst_factor) == (1, 1)
    assert both.sentence.startswith("f: Use a: ")
    assert " g: Use a: " in both.sentence
    assert [*plain_answer(both)["by_family"]] == ["f", "g"]
    third = replace(on("q", good("b", 1.0), other("a", WORSE)), family="g")
    neither = answer([first, third])
    assert neither.use is None
    assert neither.parameters == {}
    assert all(map(math.isnan, (neither.factor, neither.mean_factor, neither.worst_factor)))
    assert plain_answer(neither)["factor"] is None
