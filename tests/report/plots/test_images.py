"""Images and labels: colour scales, reduced pixels, captions, and what is left out and why."""

from types import SimpleNamespace

import numpy as np
import pytest
from records import altered

from orthobench.contract.exhibits import Curve, Image
from orthobench.contract.panel import Axis
from orthobench.harness.stopping import RunStatus, Target
from orthobench.report.plots import exhibits
from orthobench.report.plots.exhibits import (
    LONGEST_REASON,
    _why_absent,
    colour_limits,
    fills_cell,
    reduced,
    scale_notes,
    thinned,
    typical_seed,
)
from orthobench.report.plots.families import (
    caption,
    costs,
    distribution_panel,
    expected_panel,
)
from orthobench.report.plots.labels import TOTAL, about, axis_label, band_of, legend_label
from orthobench.results.tuning import choose
from orthobench.stats.targets import run_matrix

NAN, INF = np.nan, np.inf


@pytest.mark.parametrize(
    ("values", "signed", "limits"),
    [
        ([[0.0, 400.0]], False, (1.0, 399.0)), ([[0.0, 400.0]], True, None),
        ([[NAN, INF]], False, (-1, 1)), ([[NAN]], True, (-1, 1)),
        ([[3.0, 3.0]], False, (0, 6)), ([[0.0, 0.0]], False, (-1, 1)),
        ([[-2.0, -2.0]], False, (-4, 0)), ([[2.0, 2.0]], True, (-2, 2)),
        ([[0.0, 0.0]], True, (-1, 1)), ([[0.0] * 1000 + [7.0]], False, (0, 7)),
        ([[0.0] * 1000 + [-7.0]], True, (-7, 7)),
    ],
)  # fmt: skip
def test_colours_span_most_values_and_are_symmetric_where_signs_matter(values, signed, limits):
    low, high = colour_limits(np.array(values), signed)
    if limits is None:
        limits = -high, np.percentile([-400, 0, 0, 400], 99.75)
    assert (low, high) == pytest.approx(limits)


@pytest.mark.parametrize(
    ("shape", "slim"), [((4, 1), False), ((1, 4), False), ((41, 10), True), ((10, 41), True)]
)
def test_images_slimmer_than_four_to_one_fill_their_cell(shape, slim):
    assert fills_cell(np.zeros(shape)) is slim


def test_images_are_reduced_to_so_many_pixels_a_side():
    image = np.arange(12.0).reshape(3, 4)
    assert reduced(image, 4) is image
    np.testing.assert_array_equal(reduced(image, 3), [[2.5, 4.5], [8.5, 10.5]])
    image[0, 0] = NAN
    assert reduced(image, 3)[0, 0] == pytest.approx((1 + 4 + 5) / 3)
    assert np.isnan(reduced(np.full((4, 4), NAN), 2)).all()


def test_captions_say_what_colours_mean_and_whether_pixels_are_averaged():
    small, signed = Image(np.zeros((2, 3))), Image(np.zeros((2, 3)), signed=True)
    assert scale_notes([small], 3) == [
        "each image on a scale of its own, percentiles 0.25 to 99.75"
    ]
    both = scale_notes([small, signed], 2)
    assert both[0].endswith(", signed ones around zero")
    assert both[1:] == ["means over blocks of pixels where there are more than 2"]


def test_curves_of_as_many_points_as_are_drawn_are_whole(monkeypatch):
    x = np.arange(50.0)
    for points, whole in ((50, True), (49, False)):
        monkeypatch.setattr(exhibits, "POINTS", points)
        found, _ = thinned(Curve(x, x**2, "x", "y"))
        assert (len(found) == 50) is whole
        assert found[[0, -1]].tolist() == [0, 49]


def test_a_seed_is_typical_by_its_place_among_those_of_each_solver(record):
    entries = choose([record("a", seed, level) for seed, level in enumerate((3.0, 2.0, 1.0, 9.0))])
    assert typical_seed(entries) == 0
    two = choose([record(s, seed, 1.0 + seed) for s in "ab" for seed in range(3)])
    assert typical_seed(two) == 1


def test_why_a_solver_is_not_shown(record):
    assert _why_absent(None) == "there is no finished run"
    run = record("a", 0, 1.0)
    assert _why_absent(run) == "its run has no exhibits in the store"
    failed = altered(run, status=RunStatus.ERROR, reason="broken " * 30)
    said = _why_absent(failed)
    assert said.startswith("error: broken broken")
    assert said.endswith("broken ...")
    assert len(said) <= len("error: ") + LONGEST_REASON


def test_axes_are_called_by_costs_with_units_or_by_metrics_in_words():
    assert axis_label("flops") == "floating-point operations"
    assert axis_label(TOTAL) == "floating-point operations, all trials included"
    assert axis_label("objective_gap") == "objective gap"


def test_bands_have_a_meaning_where_there_are_several_seeds(runs):
    assert band_of([]) == band_of(choose(runs("a", 1.0, seeds=1))) == ""
    assert band_of(choose(runs("a", 1.0, seeds=2))) == "min to max"
    assert band_of(choose(runs("a", 1.0, seeds=4) + runs("b", 1.0, seeds=1))) == "25 to 75 %"


def test_labels_have_chosen_parameters_and_failures(runs):
    (entry,) = choose(runs("a", 1.0, failed=1, tuned={"step": 2.0}))
    assert legend_label(entry) == "a (step=2) (failed 1 of 5)"


def test_captions_name_families_budgets_and_seeds_once(runs):
    entries = choose([altered(r, budget={"steps": 9.0}) for r in runs("a", 1.0) + runs("b", 2.0)])
    assert about(entries, "more", "") == (
        "PCA", "budget 9 steps", "median over 5 seeds, band: 25 to 75 %", "more",
    )  # fmt: skip
    assert about(entries, banded=False)[2] == "median over 5 seeds"
    failed = choose(runs("a", 1.0, failed=1))
    assert about(failed)[-1] == "× where a run failed"
    assert "×" not in "".join(about(failed, crossed=False))


def test_captions_of_families_count_what_is_not_solved(runs):
    records = [
        *runs("a", 1.0, problem="p"), *runs("b", 2.0, problem="p", failed=1),
        *runs("a", 1.0, problem="q", seeds=2),
    ]  # fmt: skip
    entries = choose([altered(r, budget={"steps": 9.0}) for r in records])
    said = caption(entries, run_matrix(entries), "a plot")
    assert said[:5] == (
        "PCA", "budget 9 steps", "7 instances: 2 problems, each with its seeds", "a plot",
        "failed runs solve nothing",
    )  # fmt: skip
    assert "b takes no part in 1 of 2 problems, which count as not solved: q" in said
    other = choose([*runs("a", 1.0), *[altered(r, budget={"steps": 9.0}) for r in runs("b", 1.0)]])
    said = caption(other, run_matrix(other), "")
    assert said[1:] == ("problems have budgets of their own", "5 instances: 1 problem × 5 seeds")


def test_costs_that_runs_may_lack_are_offered_where_all_have_them(runs):
    def measured(records, *values):
        ends = [
            altered(r, trace=(*r.trace[:-1], _with(r.trace[-1], passes=value)))
            for r, value in zip(records, values, strict=True)
        ]
        return costs(choose(ends))

    assert "passes" in measured(runs("a", 1.0, seeds=2), 3.0, 1.0)
    assert "passes" not in measured(runs("a", 1.0, seeds=2), 3.0, 0.0)
    assert "passes" not in costs(choose(runs("a", 1.0)))
    one = [altered(r, trace=r.trace[:1]) for r in runs("b", 1.0, samples=False)]
    assert "samples" in costs(choose([*runs("a", 1.0), *one]))  # they have done nothing yet
    refused = [altered(r, status=RunStatus.REFUSED) for r in runs("b", 1.0, samples=False)]
    assert "samples" in costs(choose([*runs("a", 1.0), *refused]))
    assert "samples" not in costs(choose(runs("a", 1.0, samples=False)))


def _with(mark, **metrics):
    from dataclasses import replace

    return replace(mark, metrics={**mark.metrics, **metrics})


def test_distributions_end_a_little_beyond_their_last_step():
    runs = SimpleNamespace(solvers=("a", "b"), failed=(0, 2))
    axis = Axis("x", "x")
    values = np.array([[1.0, 100.0], [INF, 10.0]])
    panel = distribution_panel(runs, values, axis, axis)
    assert [series.label for series in panel.series] == ["a", "b (2 failed)"]
    end = 100 * 100**0.05
    assert panel.series[0].x.tolist() == pytest.approx([1, 100, end])
    assert panel.series[0].y.tolist() == [0.5, 1, 1]
    assert panel.series[1].x.tolist() == pytest.approx([1, 10, end])
    assert panel.series[1].y.tolist() == [0, 0.5, 0.5]
    near = distribution_panel(runs, np.array([[2.0, 2.0], [2.0, INF]]), axis, axis)
    assert near.series[0].x.tolist() == pytest.approx([2, 4])
    begun = distribution_panel(runs, values[:, 1:], axis, axis, begin=1.0)
    assert begun.series[0].x[0] == 1


def test_expected_costs_stand_above_their_problems_with_how_many_runs_got_there(runs):
    records = [*runs("a", 1.0, problem="p"), *runs("b", 9.0, problem="p")]
    panel = expected_panel(run_matrix(choose(records)), "flops", "10 %")
    assert panel.x.categories == ("p",)
    notes = {series.solver: series.notes for series in panel.series}
    assert notes["a"] == ("5 of 5 runs reached it",)
    assert notes["b"][0].endswith("of 5 runs reached it")


def test_levels_are_part_of_a_problems_name(runs):
    records = [altered(r, levels=(Target("rank", 9.0),)) for r in runs("a", 1.0)]
    (entry,) = choose(records)
    assert entry.problem == "digits k=4, rank <= 9"
