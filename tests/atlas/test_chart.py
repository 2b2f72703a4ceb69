"""The picture of a map: places on logarithmic axes, ticks, and squares side by side."""

from itertools import pairwise

import numpy as np
import pytest

from orthobench.atlas.chart import SIDE, axis, drawn
from orthobench.atlas.losses import Losses
from orthobench.atlas.table import AtlasRow
from orthobench.stats.calls import Stop


def drawing(sizes, logs=None, cost="seconds"):
    names = tuple(f"p{i}" for i in range(len(sizes)))
    logs = np.tile([0.0, 1.0], (len(sizes), 1)) if logs is None else logs
    problems = tuple(
        AtlasRow(suite="", family="", problem=name, name=name, rows=rows, d=d, k=k, solver="",
                 solver_name="", seed=0, metric="", ending="done")
        for name, (rows, d, k) in zip(names, sizes, strict=True)
    )  # fmt: skip
    found = Losses(
        ("a", "b"),
        ("a", "b"),
        (Stop(),) * 2,
        problems,
        names,
        np.exp(logs),
        np.ones(len(logs)),
        np.full(logs.shape, True),
    )
    return drawn(found, "b", cost)["chart"]


def centres(found):
    return {m["problem"]: (m["x"] + SIDE / 2, m["y"] + SIDE / 2) for m in found["marks"]}


def test_equal_factors_have_equal_distances():
    places, _ = axis([10, 1000, 100_000], 500.0)
    first, second = (b - a for a, b in pairwise(places))
    assert first == pytest.approx(second)
    assert 0 < places[0] < places[-1] < 500


@pytest.mark.parametrize("values", [[7], [10, 90], [1, 10**6], [0, 50], [0]])
def test_ticks_stand_inside_and_ascend(values):
    _, ticks = axis(values, 300.0)
    places = [place for place, _ in ticks]
    assert places == sorted(places)
    assert all(0 <= place <= 300 for place in places)
    assert any(text == "endless" for _, text in ticks) is (0 in values)


@pytest.mark.parametrize("values", [[2500, 150_000], [40, 600]])
def test_texts_of_ticks_do_not_touch(values):
    _, ticks = axis(values, 338.0, letter=7.0)
    ends = [(place - 3.5 * len(text), place + 3.5 * len(text)) for place, text in ticks]
    assert all(a[1] < b[0] for a, b in pairwise(ends))
    assert len(ticks) >= 2


def test_problems_stand_at_their_two_sizes():
    found = drawing([(10, 100, 2), (10, 1000, 2), (1000, 100, 2), (1000, 1000, 2)])
    at = centres(found)
    assert (found["x"], found["y"]) == ("rows (samples)", "columns")
    assert at["p0"][0] == at["p1"][0] < at["p2"][0] == at["p3"][0]
    assert at["p0"][1] == at["p2"][1] > at["p1"][1] == at["p3"][1]


def test_a_single_size_stands_against_the_least_cost():
    logs = np.array([[0.0, 1.0], [2.0, 3.0]])
    found = drawing([(0, 5, 5), (0, 50, 50)], logs, cost="samples")
    assert (found["x"], found["y"]) == ("columns", "samples of the cheapest call")
    at = centres(found)
    assert at["p0"][1] > at["p1"][1]


def test_problems_of_equal_sizes_do_not_cover_each_other():
    found = drawing([(10, 10, 2)] * 5 + [(99, 10, 2), (10, 99, 2)])
    at = list(centres(found).values())
    for i, (x, y) in enumerate(at):
        for u, v in at[:i]:
            assert max(abs(x - u), abs(y - v)) > SIDE


def test_legend_numbers_name_the_cheapest_solver():
    logs = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    found = drawing([(1, 5, 2), (7, 5, 2), (9, 50, 2)], logs)
    assert [mark["number"] for mark in found["marks"]] == [1, 2, 1]
