"""Break-even: the ratio of times at two places, and the size where it is one."""

import math
from dataclasses import replace

import numpy as np
import pytest
from records import altered, record

from orthobench.contract.solver import Work
from orthobench.harness.placement import TRANSFER
from orthobench.harness.stopping import RunStatus
from orthobench.harness.trace import Checkpoint
from orthobench.report.plots.collection import comparison_plots
from orthobench.report.plots.sweeps import CLOCK, MOVED, break_even, break_evens, pairs, sweeps
from orthobench.results.tuning import choose

SIZES = (10, 1000)

SECONDS = {
    ("oja", "numpy"): lambda n: 1e-6 * n**2,
    ("oja", "torch:cuda"): lambda n: 1e-2,  # as fast at n = 100, and at 300 with moved data
    ("oja", "torch:cpu"): lambda n: 1e-5 * n**2,
    ("torch-eigh", "torch:cpu"): lambda n: 1e-3 * n,
    ("torch-eigh", "torch:cuda"): lambda n: 1e-5 * n**2,  # the other way round, at 100 too
}


@pytest.fixture
def records():
    """Runs of two seeds, the second of which takes twice as long everywhere."""
    return [
        record(
            f"{solver} {on} {n} {seed}", problem=f"p n={n}", recipe="p", settings={"n": n},
            solver=f"{solver} on={on}", solver_name=solver, parameters={"on": on, "step": 1.0},
            seed=seed, trace=(mark((1 + seed) * seconds(n), on),),
        )
        for n in SIZES
        for (solver, on), seconds in SECONDS.items()
        for seed in (0, 1)
    ]  # fmt: skip


def mark(seconds, on):
    """The last checkpoint of a run: a tenth of the seconds is reading."""
    moved = {TRANSFER: 8 * seconds} if on == "torch:cuda" else {}
    return Checkpoint(0.9 * seconds, 0.1 * seconds, Work(10, 10, 10), {"gap": 0.1, **moved})


def found(records):
    (swept,) = sweeps(choose(records), 2)
    return {pair.label: pair for pair in pairs(swept)}


def test_each_place_is_compared_with_the_first_of_its_solver(records):
    assert list(found(records)) == [
        "oja: torch:cuda against numpy",
        "oja: torch:cpu against numpy",
        "torch-eigh: torch:cuda against torch:cpu",
    ]


def test_places_are_paired_whatever_people_call_them(records):
    called = {"oja on=numpy": "mine", "oja on=torch:cuda": "mine, on the card"}
    named = [altered(r, solver=called.get(r.solver.label, r.solver.label)) for r in records]
    ours, theirs = (found(rows) for rows in (records, named))
    assert ours["oja: torch:cuda against numpy"].ratios(CLOCK) == (
        theirs["mine: torch:cuda against numpy"].ratios(CLOCK)
    )


def test_places_break_even_where_their_times_are_equal(records):
    cuda, cpu, eigh = found(records).values()
    assert cuda.crossings(CLOCK) == pytest.approx([100])
    assert cuda.crossings(MOVED) == pytest.approx([300])
    assert cpu.crossings(CLOCK) == []
    assert eigh.crossings(CLOCK) == pytest.approx([100])
    expected = [(10, *[0.01] * 3), (1000, *[100] * 3)]
    assert np.allclose(cuda.ratios(CLOCK), expected)


def test_the_plot_shows_ratios_and_says_where_they_are_one(records):
    (compared,) = break_evens(choose(records))
    plot = break_even(*compared)
    assert (plot.name, plot.kind) == ("p against n: places", "break-even")
    assert plot.about[-2:] == (
        "oja: torch:cuda against numpy: even at n = 100",
        "torch-eigh: torch:cuda against torch:cpu: even at n = 100",
    )
    panel = plot.panel()
    assert panel.rules == pytest.approx((100,))
    assert [one.label for one in panel.series] == [
        "oja: torch:cuda against numpy (even at 100)",
        "oja: torch:cpu against numpy",
        "torch-eigh: torch:cuda against torch:cpu (even at 100)",
        "equally fast",
    ]
    assert panel.series[0].y == pytest.approx([0.01, 100])
    assert panel.series[-1].x == pytest.approx(SIZES)
    assert panel.series[-1].y == pytest.approx([1, 1])
    rows = list(panel.rows())
    assert rows[0]["solver"] == "oja on=torch:cuda"
    assert (rows[0]["n"], rows[0]["ratio"]) == (10, pytest.approx(0.01))


def test_problems_that_hardly_grow_are_left_out(records):
    for large, count in ((15, 0), (19, 0), (20, 1)):
        near = [
            altered(r, settings={"n": n}, problem=f"p n={n}")
            for r in records
            for n in [{10: 10, 1000: large}[r.problem.parameters["n"]]]
        ]
        assert len(break_evens(choose(near))) == count


def test_a_failed_run_leaves_its_size_without_a_ratio(records):
    broken = [
        altered(r, status=RunStatus.ERROR) if r.key == "oja torch:cuda 1000 1" else r
        for r in records
    ]
    (_, ratio, *_) = np.array(found(broken)["oja: torch:cuda against numpy"].ratios(CLOCK)).T
    assert ratio[0] == pytest.approx(0.01)
    assert math.isnan(ratio[1])


def test_there_is_none_of_one_place_one_size_or_runs_that_measured(records):
    assert not break_evens(choose([r for r in records if "numpy" in r.solver.label]))
    assert not break_evens(choose([r for r in records if r.problem.parameters["n"] == 10]))
    assert not break_evens(choose([replace(r, measure="memory") for r in records]))
    kinds = [plot.kind for plot in comparison_plots(choose(records))]
    assert kinds.count("break-even") == 1
    assert "sweep" not in kinds  # of two sizes
