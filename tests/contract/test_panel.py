import numpy as np

from orthobench.contract.panel import Axis, Panel, Plot, Series

X, NUMBERS = Axis("samples", "samples"), Axis("gap", "gap")


def rows(x=X, y=NUMBERS, **series):
    one = Series("a", **{"x": np.array([1.0, np.nan, 3.0]), "y": np.array([4.0, 5.0, np.inf]),
                         **series})  # fmt: skip
    return [*Panel(x, y, (one, one)).rows()]


def test_each_point_with_an_x_of_each_line_has_a_row():
    first = {"solver": "", "label": "a", "samples": 1.0, "gap": 4.0}
    assert rows() == 2 * [first, {**first, "samples": 3.0, "gap": np.inf}]


def test_a_row_has_what_its_line_knows_of_the_point():
    edges = {"low": np.array([1.0, 2.0, 3.0]), "high": np.array([7.0, 8.0, 9.0])}
    first, second = rows(solver="s", chosen=2, notes=("n", "o", "p"), **edges)[:2]
    assert first == {
        "solver": "s", "label": "a", "samples": 1.0, "gap": 4.0, "low": 1.0, "high": 7.0,
        "note": "n", "chosen": False,
    }  # fmt: skip
    assert (second["low"], second["high"], second["note"], second["chosen"]) == (
        3.0,
        9.0,
        "p",
        True,
    )
    assert rows(chosen=0)[0]["chosen"]


def test_a_plot_draws_what_is_chosen_or_the_first_of_each_choice():
    choices = {"x": ("samples", "seconds"), "metric": ("gap", "angle")}
    plot = Plot("p", "k", choices, draw=lambda key: key)
    assert [*plot.keys()] == [
        ("samples", "gap"), ("samples", "angle"), ("seconds", "gap"), ("seconds", "angle"),
    ]  # fmt: skip
    assert plot.panel() == ("samples", "gap")
    assert plot.panel("seconds", "angle") == ("seconds", "angle")
    assert Plot("p", "k", {}, draw=lambda key: key).panel() == ()
