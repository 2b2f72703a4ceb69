"""Figures: what is drawn, how it is told apart, what the files hold."""

import csv
import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from orthobench.report.figures.axes import floor_of, scale
from orthobench.report.figures.save import figure, plot_convergence, save_figures, slugs
from orthobench.report.style import styles
from orthobench.solver import Work
from orthobench.stopping import Ending
from orthobench.trace import Mark
from orthobench.tuning import choose


def triples(ax):
    return {
        (line.get_color(), str(line._unscaled_dash_pattern), line.get_marker())
        for line in ax.lines
        if not line.get_label().startswith("_")
    }


@pytest.fixture
def nine(runs):
    return choose([r for i in range(9) for r in runs(f"solver-{i}", 0.1 * (i + 1))])


class TestPlotConvergence:
    def test_draws_each_solver_in_a_style_of_its_own(self, nine):
        ax = Figure().subplots()
        plot_convergence(ax, nine)
        assert len(triples(ax)) == 9
        assert len({marker for _, _, marker in triples(ax)}) == 9
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("samples", "gap")

    @pytest.mark.parametrize(("x", "last"), [
        ("samples", 4000), ("steps", 4000), ("flops", 2_400_000), ("seconds", 0.4 + 2e-5),
    ])  # fmt: skip
    def test_ends_where_the_runs_end(self, runs, x, last):
        ax = Figure().subplots()
        plot_convergence(ax, choose(runs("msg", 0.1)), x)
        assert ax.lines[0].get_xdata()[-1] == pytest.approx(last)
        assert ax.get_xlim()[0] < ax.lines[0].get_xdata()[0]
        assert ax.get_xlim()[1] > last

    def test_draws_the_median_with_its_band(self, runs):
        records = runs("msg", 0.1)
        ax = Figure().subplots()
        plot_convergence(ax, choose(records))
        last = [r.trace[-1].metrics["gap"] for r in records]
        assert ax.lines[0].get_ydata()[-1] == pytest.approx(np.median(last))
        band = ax.collections[0].get_paths()[0].vertices
        at_end = band[band[:, 0] == 4000, 1]
        assert [at_end.min(), at_end.max()] == pytest.approx(list(np.quantile(last, [0.25, 0.75])))

    def test_gives_the_band_the_colour_of_its_line(self, nine):
        ax = Figure().subplots()
        drawn = plot_convergence(ax, nine)
        for item, band, line in zip(drawn, ax.collections, ax.lines, strict=True):
            assert band.get_visible()
            assert to_hex(band.get_facecolor()[0]).upper() == item.style.colour
            assert line.get_color() == item.style.colour

    def test_draws_another_metric(self, runs):
        ax = Figure().subplots()
        plot_convergence(ax, choose(runs("msg", 0.1)), metric="rank")
        assert set(ax.lines[0].get_ydata()) == {9.0}
        assert ax.get_ylim()[0] < 9 < ax.get_ylim()[1]

    def test_draws_the_metric_of_a_target(self, runs):
        records = [replace(record, target="val") for record in runs("msg", 1.0)]
        ax = Figure().subplots()
        (drawn,) = plot_convergence(ax, choose(records))
        (plain,) = plot_convergence(Figure().subplots(), choose(runs("msg", 1.0)))
        np.testing.assert_allclose(drawn.curve.median, 1.1 * np.asarray(plain.curve.median))
        assert ax.get_ylabel() == "val"

    def test_marks_where_runs_failed_and_says_so(self, runs):
        ax = Figure().subplots()
        plot_convergence(ax, choose(runs("msg", 0.1, failed=2)))
        crosses = [line for line in ax.lines if line.get_marker() == "x"]
        assert len(crosses) == 2
        assert ax.lines[0].get_label() == "msg (failed 2 of 5)"

    def test_breaks_the_line_where_most_runs_have_failed(self, runs):
        records = runs("msg", 0.1, failed=3)
        records = [replace(r, trace=r.trace[:4]) if r.status.failed else r for r in records]
        ax = Figure().subplots()
        plot_convergence(ax, choose(records))
        drawn = np.isfinite(ax.lines[0].get_ydata())
        assert drawn[:4].all()
        assert not drawn[4:].any()

    def test_puts_zeros_on_the_lower_edge_and_says_so(self, runs):
        records = runs("batch", 0.0) + runs("msg", 0.1)
        ax = Figure().subplots()
        plot_convergence(ax, choose(records))
        batch, msg = (line.get_ydata() for line in ax.lines[:2])
        assert set(batch) == {batch[0]}
        assert 0 < batch[0] < min(msg)
        assert ax.get_ylim()[0] < batch[0]
        assert [t.get_text() for t in ax.texts] == ["0, or below 1e-16"]

    def test_draws_nothing_without_a_trace(self, record):
        run = replace(record("msg", 0, 0.1), trace=(), status=Ending.REFUSED)
        fig, _ = figure(choose([run]))
        assert [t.get_text() for t in fig.legends[0].get_texts()] == ["msg (failed 1 of 1)"]
        fig.canvas.draw()

    def test_shows_names_as_they_are(self, runs):
        fig, _ = figure(choose(runs("a_b$c^", 0.1, problem="$x_1$ [bold]") + runs("_c", 0.2)))
        fig.canvas.draw()
        labels = [t.get_text().strip() for t in fig.legends[0].get_texts()]
        assert labels == ["_c", "a_b$c^"]


class TestFloor:
    def test_zeros_reached_at_once_do_not_stretch_the_axis(self):
        floor = floor_of([np.array([0.1, 3e-15, -1e-16, 0.01])])
        assert floor.zero == pytest.approx(1e-14)
        assert floor.at == pytest.approx(0.01 / 3)
        assert floor.zeros
        assert list(floor.raised(np.array([0.1, 3e-15, -1.0]))) == [0.1, floor.at, floor.at]

    def test_gradual_convergence_is_drawn_to_scale(self):
        values = np.geomspace(1, 1e-15, 16)
        floor = floor_of([values])
        assert not floor.zeros
        np.testing.assert_array_equal(floor.raised(values), values)

    def test_a_gap_above_rounding_is_drawn_to_scale(self):
        assert not floor_of([np.array([1.0, 1e-9])]).zeros

    def test_of_nothing_or_of_zeros_alone(self):
        assert not floor_of([]).zeros
        assert floor_of([np.zeros(3)]).zeros
        assert not floor_of([np.array([math.inf, math.nan])]).zeros

    @given(st.lists(st.floats(-1, 1e6), min_size=1))
    def test_raised_values_are_positive_and_keep_their_order(self, values):
        values = np.sort(np.array(values))
        raised = floor_of([values]).raised(values)
        assert (raised > 0).all()
        assert (np.diff(raised) >= 0).all()


class TestScale:
    @given(st.floats(1e-15, 1e12), st.floats(1, 1e15))
    def test_every_axis_has_ticks_with_labels_within_its_limits(self, low, ratio):
        ax = Figure().subplots()
        scale(ax, "y", [np.array([low, low * ratio])])
        bottom, top = ax.get_ylim()
        assert 0 < bottom < low
        assert top > low * ratio
        ticks = [t for t in ax.yaxis.get_majorticklocs() if bottom <= t <= top]
        labels = ax.yaxis.get_major_formatter().format_ticks(ticks)
        assert len([text for text in labels if text]) >= 2
        assert len(set(labels)) == len(labels)


class TestFigure:
    def test_has_work_and_time_side_by_side_on_one_scale(self, nine):
        fig, drawn = figure(nine, note="budget 4,000 samples")
        assert list(drawn) == ["samples", "seconds"]
        left, right = fig.axes
        assert left.get_ylim() == right.get_ylim()
        assert "time (s)" in right.get_xlabel()
        title, about = (t.get_text() for t in fig.texts)
        assert title == "digits k=4"
        assert about == "PCA · median over 5 seeds, band: 25 to 75 % · budget 4,000 samples"

    def test_keeps_one_scale_where_the_start_is_on_the_time_axis_only(self, record):
        run = record("msg", 0, 0.1)
        start = Mark(1e-6, 0.0, Work(), {"gap": 50.0})
        fig, _ = figure(choose([replace(run, trace=(start, *run.trace))]))
        left, right = fig.axes
        assert left.get_ylim() == right.get_ylim()
        assert left.get_ylim()[1] > 50

    def test_counts_flops_where_no_samples_are_drawn(self, runs):
        _, drawn = figure(choose(runs("pgd", 0.1, samples=False)))
        assert list(drawn) == ["flops", "seconds"]

    def test_legend_and_panels_do_not_overlap(self, runs):
        names = [f"a-rather-long-solver-name-{i} K=9 start=projection" for i in range(14)]
        fig, _ = figure(choose([r for i, n in enumerate(names) for r in runs(n, 0.1 + i)]))
        fig.canvas.draw()
        box = fig.legends[0].get_window_extent()
        assert box.y0 >= 0
        assert box.x0 >= 0
        assert box.x1 <= fig.bbox.width
        for ax in fig.axes:
            assert ax.get_tightbbox().y0 >= box.y1
        assert fig.axes[0].get_tightbbox().x0 >= 0
        assert fig.axes[0].get_tightbbox().y1 <= min(t.get_window_extent().y0 for t in fig.texts)


class TestSaveFigures:
    def test_writes_a_file_a_problem_and_format(self, runs, tmp_path):
        entries = choose(runs("msg", 0.1) + runs("msg", 0.1, problem="faces/../k=2"))
        paths = save_figures(entries, tmp_path / "new" / "folder")
        assert [p.name for p in paths] == [
            "digits-k-4.png", "digits-k-4.svg", "digits-k-4.csv",
            "faces-..-k-2.png", "faces-..-k-2.svg", "faces-..-k-2.csv",
        ]  # fmt: skip
        assert all(p.stat().st_size > 500 and p.parent == tmp_path / "new/folder" for p in paths)
        assert paths[0].read_bytes().startswith(b"\x89PNG")

    def test_files_repeat_byte_for_byte(self, runs, tmp_path):
        entries = choose(runs("msg", 0.1))
        first = [p.read_bytes() for p in save_figures(entries, tmp_path / "a")]
        assert first == [p.read_bytes() for p in save_figures(entries, tmp_path / "b")]

    def test_the_data_are_those_measured(self, runs, tmp_path):
        records = runs("batch", 0.0) + runs("msg", 0.1, tuned={"step": 2.0})
        (path,) = save_figures(choose(records), tmp_path, formats=["csv"])
        with path.open(newline="") as file:
            table = list(csv.DictReader(file))
        assert {row["axis"] for row in table} == {"samples", "seconds"}
        assert {float(row["median"]) for row in table if row["solver"] == "batch"} == {0.0}
        last = [row for row in table if row["solver"] == "msg" and row["axis"] == "samples"][-1]
        assert last["chosen"] == '{"step":2.0}'
        final = [r.trace[-1].metrics["gap"] for r in records[5:]]
        assert float(last["median"]) == np.median(final)

    def test_a_solver_looks_the_same_in_all_figures(self, runs, tmp_path, monkeypatch):
        import orthobench.report.figures.save as module

        seen = []
        real = module.figure

        def spy(entries, looks, *more):
            seen.append(looks)
            return real(entries, looks, *more)

        monkeypatch.setattr(module, "figure", spy)
        entries = choose(
            runs("msg", 0.1) + runs("a", 0.2, problem="q") + runs("msg", 1, problem="q")
        )
        save_figures(entries, tmp_path, formats=["csv"])
        assert seen == [styles(["a", "msg"])] * 2

    def test_leaves_the_global_state_of_matplotlib_alone(self, runs, tmp_path):
        import matplotlib as mpl
        from matplotlib import _pylab_helpers

        before = dict(mpl.rcParams)
        save_figures(choose(runs("msg", 0.1)), tmp_path, formats=["svg"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert dict(mpl.rcParams) == before
        assert not _pylab_helpers.Gcf.figs


class TestSlugs:
    @given(st.lists(st.text()))
    def test_are_different_safe_names(self, labels):
        names = slugs(labels)
        assert len(set(names)) == len(labels)
        for name in names:
            assert name.isascii()
            assert name.islower() or not any(c.isalpha() for c in name)
            assert 0 < len(name) < 100
            assert not set(name) & set('/\\:*?"<>|= \x00')
            assert name[0] not in ".-"
