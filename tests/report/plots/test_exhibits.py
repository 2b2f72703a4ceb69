"""Pictures of exhibits: whose, at which seed, and that they carry the data."""

import csv
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from matplotlib.colors import to_hex

import orthobench as ob
from orthobench.cli import main
from orthobench.exhibits import Curve, Image
from orthobench.report.figures import gallery as galleries
from orthobench.report.figures.drawing import MUTED
from orthobench.report.figures.gallery import gallery, limits, pages, reduced
from orthobench.report.figures.save import save_figures
from orthobench.report.plots.exhibits import exhibitions, typical_seed
from orthobench.report.plots.overlays import POINTS, overlay_figure, overlays, thinned
from orthobench.report.style import styles
from orthobench.stopping import Ending
from orthobench.suite_file import from_table
from orthobench.tuning import choose

BANDS = ("band 1", "band 2")
RATES = ("false positives", "true positives")


def exhibit(solver, seed):
    """Two bands, a map, two references and a curve, that depend on solver and seed."""
    rng = np.random.default_rng([seed, *map(ord, solver)])
    truth = np.random.default_rng(seed).standard_normal((6, 8))
    x = np.linspace(0, 1, 40)
    return {
        "truth": Image(truth, reference=True),
        **{name: Image(rng.standard_normal((6, 8)), signed=True) for name in BANDS},
        "map": Image(rng.random((6, 8))),
        "ROC": Curve(x, x ** rng.uniform(0.1, 0.9), *RATES),
        "chance": Curve(np.array([0.0, 1.0]), np.array([0.0, 1.0]), *RATES, reference=True),
    }


def load(records):
    return {record.key: exhibit(record.solver, record.seed) for record in records}


@pytest.fixture
def entries(runs):
    return choose([r for i, s in enumerate(("hooi", "pgd", "spgd")) for r in runs(s, 0.1 * i + 1)])


@pytest.fixture
def shown(entries):
    (found,) = exhibitions(entries, load)
    return found


def of_level(record, values, **more):
    """Runs of a solver, one for each seed, that end at these values."""
    found = []
    for seed, value in enumerate(values):
        run = record(more.pop("solver", "msg") if seed == 0 else found[0].solver, seed, 1.0)
        last = replace(run.trace[-1], metrics={"gap": value, "val": value})
        found.append(replace(run, trace=(last,)))
    return found


class TestSeed:
    def test_of_one_solver_it_is_the_median(self, record):
        assert typical_seed(choose(of_level(record, [5.0, 1.0, 3.0, 2.0, 4.0]))) == 2
        assert typical_seed(choose(of_level(record, [4.0, 4.0, 4.0]))) == 1

    def test_of_several_it_is_the_nearest_to_all_medians(self, record):
        one = of_level(record, [1.0, 2.0, 3.0, 4.0, 5.0])  # its median is that of seed 2
        other = of_level(record, [1.0, 2.0, 5.0, 3.0, 4.0], solver="oja")  # and here of seed 3
        assert typical_seed(choose(one + other)) == 3
        assert typical_seed(choose(one + other + [replace(r, solver="x") for r in one])) == 2

    def test_where_solvers_failed_it_is_one_at_which_most_have_a_run(self, record):
        runs = of_level(record, [5.0, 1.0, 3.0, 2.0, 4.0])
        runs[2] = replace(runs[2], status=Ending.DIVERGED)
        other = of_level(record, [5.0, 1.0, 3.0, 2.0, 4.0], solver="oja")
        assert typical_seed(choose(runs + other)) == 3


class TestExhibitions:
    def test_all_solvers_are_shown_at_one_seed_and_loaded_once(self, entries):
        calls = []

        def spy(records):
            calls.append([(r.solver, r.seed) for r in records])
            return {f"digits k=4 {s} {{}} {seed}": exhibit(s, seed) for s, seed in calls[0]}

        (found,) = exhibitions(entries, spy)
        assert calls == [[(s, found.seed) for s in ("hooi", "pgd", "spgd")]]
        assert [entry.solver for entry, _ in found.shown] == ["hooi", "pgd", "spgd"]
        assert not found.absent

    def test_nothing_to_look_at_is_nothing(self, entries):
        assert exhibitions(entries, lambda records: {r.key: {} for r in records}) == []
        assert exhibitions([], lambda records: {}) == []

    def test_who_failed_is_missing_or_has_nothing_is_named(self, entries, runs, record):
        failed = runs("meg", 1.0, failed=5)
        absent = [replace(record("oja", s, 1.0), trace=(), status=Ending.MISSING,
                          reason="not run yet") for s in range(5)]  # fmt: skip
        few = runs("few", 1.0, failed=1)[:1]
        more = choose([*failed, *absent, *few])
        every = choose([r for e in (*entries, *more) for r in e.records])

        def without_pgd(records):
            return {r.key: {} if r.solver == "pgd" else exhibit(r.solver, r.seed) for r in records}

        (found,) = exhibitions(every, without_pgd)
        assert typical_seed(entries) == found.seed > 0
        assert [entry.solver for entry, _ in found.shown] == ["hooi", "spgd"]
        assert found.absent == (
            "few is not shown (there is no finished run)",
            "meg is not shown (diverged: the solution at step 7 is not finite)",
            "oja is not shown (missing: not run yet)",
            "pgd is not shown (its run has no exhibits in the store)",
        )

    def test_who_takes_no_part_is_left_out(self, entries, runs):
        refused = [
            replace(r, status=Ending.REFUSED, trace=(), reason="needs a tensor")
            for r in runs("cp", 1.0)
        ]
        every = [r for e in entries for r in e.records] + refused
        (found,) = exhibitions(choose(every), load)
        assert not found.absent
        assert len(found.entries) == 3


class TestGallery:
    def test_images_carry_the_data_and_references_are_drawn_once(self, shown):
        (page,) = pages(shown)
        fig, _ = gallery(page, "")
        drawn = [np.asarray(ax.images[0].get_array()) for ax in fig.axes]
        expected = [exhibit("hooi", shown.seed)["truth"].values]
        for solver in ("hooi", "pgd", "spgd"):
            of_one = exhibit(solver, shown.seed)
            expected += [of_one[name].values for name in (*BANDS, "map")]
        assert len(drawn) == len(expected) == 10
        for a, b in zip(drawn, expected, strict=True):
            assert np.array_equal(a, b)

    def test_rows_are_named_and_columns_have_titles(self, shown):
        (page,) = pages(shown)
        fig, _ = gallery(page, "my note")
        title, about, *labels = (text.get_text() for text in fig.texts)
        assert title == "digits k=4: images"
        assert f"seed {shown.seed}, where the solvers are nearest to their medians" in about
        assert "percentiles 0.25 to 99.75" in " ".join([about, *labels])
        assert "my note" in " ".join([about, *labels])
        assert labels[-4:] == ["the same for all", "hooi", "pgd", "spgd"]
        titles = [ax.get_title() for ax in fig.axes]
        assert titles == ["truth", *BANDS, "map", *[""] * 6]

    def test_signed_images_have_zero_in_the_middle_of_diverging_colours(self, shown):
        (page,) = pages(shown)
        fig, _ = gallery(page, "")
        by_title = {ax.get_title(): ax.images[0] for ax in fig.axes[:4]}
        low, high = by_title["band 1"].get_clim()
        assert low == pytest.approx(-high)
        assert to_hex(by_title["band 1"].cmap(0.5)) == "#f7f6f6"
        assert by_title["map"].cmap.name == "viridis"
        values = exhibit("hooi", shown.seed)["map"].values
        assert by_title["map"].get_clim() == pytest.approx(np.percentile(values, (0.25, 99.75)))

    def test_what_a_solver_lacks_is_a_dash_at_its_place(self, entries):
        def lacking(records):
            found = load(records)
            for r in records_of(found, "hooi"):
                del found[r]["band 2"]
            return found

        def records_of(found, solver):
            return [key for key in found if f" {solver} " in key]

        (shown,) = exhibitions(entries, lacking)
        (page,) = pages(shown)
        assert list(page.columns) == ["band 1", "map", "band 2"]
        fig, _ = gallery(page, "")
        ax = fig.axes[3]
        assert ax.get_title() == "band 2"
        assert not ax.images
        assert ax.texts[0].get_text() == "–"

    def test_many_solvers_and_images_go_on_more_pages(self, runs):
        names = [f"solver-{i}" for i in range(9)]
        entries = choose([r for name in names for r in runs(name, 1.0, seeds=1)])

        def many(records):
            image = Image(np.eye(3))
            return {
                r.key: {f"band {i}": image for i in range(8)}
                | {"truth": Image(np.ones((2, 2)), reference=True)}
                for r in records
            }

        (shown,) = exhibitions(entries, many)
        found = pages(shown)
        assert [page.name for page in found] == [
            f"digits k=4: images {i} of 4" for i in (1, 2, 3, 4)
        ]
        cells = [(e.solver, name) for page in found for e, _ in page.rows for name in page.columns]
        assert sorted(cells) == [(name, f"band {i}") for name in names for i in range(8)]
        assert all(list(page.references) == ["truth"] for page in found)

    @pytest.mark.parametrize("shape", [(6, 8), (1, 300), (300, 1), (40, 10), (10, 40)])
    def test_nothing_overlaps_or_leaves_the_page(self, entries, runs, shape):
        failed = runs("meg", 1.0, failed=5) + runs("long solver name " * 3, 1.0)
        every = choose([r for e in entries for r in e.records] + failed)

        def shaped(records):
            long = "an image with a long name that goes on and on and on and on and on"
            images = {f"{long} {i}": Image(np.zeros(shape)) for i in range(5)}
            truth = {"truth": Image(np.ones(shape), reference=True)}
            return {r.key: truth | images for r in records}

        (shown,) = exhibitions(every, shaped)
        (page,) = pages(shown)
        fig, _ = gallery(page, "a note")
        fig.canvas.draw()
        boxes = [ax.get_tightbbox() for ax in fig.axes]
        boxes += [text.get_window_extent() for text in fig.texts]
        for i, a in enumerate(boxes):
            assert a.x0 >= 0
            assert a.y0 >= 0
            assert a.x1 <= fig.bbox.width
            assert a.y1 <= fig.bbox.height
            for b in boxes[:i]:
                assert not (a.x0 < b.x1 and b.x0 < a.x1 and a.y0 < b.y1 and b.y0 < a.y1)

    def test_only_references_are_a_page_too(self, entries):
        def truth(records):
            return {r.key: {"truth": Image(np.eye(2), reference=True)} for r in records}

        (shown,) = exhibitions(entries, truth)
        (page,) = pages(shown)
        fig, table = gallery(page, "")
        assert len(fig.axes) == 1
        assert len(table) == 3


class TestScale:
    @given(
        hnp.arrays(np.float32, hnp.array_shapes(min_dims=2, max_dims=2),
                   elements=st.floats(-(2.0**120), 2.0**120, width=32) | st.just(np.nan)),
        st.booleans(),
    )  # fmt: skip
    def test_colours_span_something_finite(self, values, signed):
        low, high = limits(values, signed)
        assert np.isfinite([low, high]).all()
        assert low < high
        assert not signed or low == -high

    def test_a_map_with_few_ones_does_not_vanish(self):
        values = np.zeros((100, 100))
        values[3, 4] = 1
        assert limits(values, signed=False) == (0, 1)

    def test_outliers_do_not_drown_the_rest(self):
        values = np.linspace(0, 1, 10_000).reshape(100, 100)
        values[0, 0] = 1e6
        assert limits(values, signed=False)[1] < 1

    @given(st.integers(1, 40), st.integers(1, 40))
    def test_large_images_become_means_over_blocks(self, height, width):
        values = np.random.default_rng(0).standard_normal((height, width))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(galleries, "SIDE", 10)
            small = reduced(values)
        step = -(-max(height, width) // 10)
        assert max(small.shape) <= 10
        for i, j in np.ndindex(small.shape):
            block = values[i * step : (i + 1) * step, j * step : (j + 1) * step]
            assert small[i, j] == pytest.approx(block.mean())

    def test_gaps_are_left_out_of_means_and_stay_where_there_is_nothing_else(self):
        values = np.ones((galleries.SIDE * 2, 2))
        values[0, 0] = np.nan
        values[2:4] = np.nan
        small = reduced(values)
        assert small.shape == (galleries.SIDE, 1)
        assert small[0, 0] == 1
        assert np.isnan(small[1, 0])


class TestOverlays:
    def test_lines_carry_the_data_in_the_solvers_styles(self, shown):
        looks = styles(["hooi", "pgd", "spgd"])
        fig, _ = overlay_figure(shown, looks, "")
        (ax,) = fig.axes
        assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == (*RATES, "ROC")
        lines = {line.get_label(): line for line in ax.lines}
        assert list(lines) == ["chance", "hooi", "pgd", "spgd"]
        for solver in ("hooi", "pgd", "spgd"):
            curve = exhibit(solver, shown.seed)["ROC"]
            assert np.array_equal(lines[solver].get_xdata(), curve.x)
            assert np.array_equal(lines[solver].get_ydata(), curve.y)
            assert lines[solver].get_color() == looks[solver].colour
            assert lines[solver].get_marker() == looks[solver].marker

    def test_references_are_drawn_once_dashed_and_grey(self, shown):
        fig, _ = overlay_figure(shown, styles(["hooi", "pgd", "spgd"]), "")
        (reference,) = [line for line in fig.axes[0].lines if line.get_label() == "chance"]
        assert reference.get_color() == MUTED
        assert reference.is_dashed()
        assert reference.get_xdata().tolist() == [0, 1]
        labels = [text.get_text() for text in fig.legends[0].get_texts()]
        assert labels == ["hooi", "pgd", "spgd", "chance"]

    def test_one_axis_for_each_name_and_pair_of_labels(self, entries):
        x = np.arange(5.0)

        def returns(records):
            of_one = {
                "before": Curve(x, x, "day", "return"),
                "after": Curve(x, x**2, "day", "return"),
                "equal weights": Curve(x, x / 2, "day", "return", reference=True),
                "spectrum": Curve(x, -x, "index", "value"),
                "bound": Curve(x, x, "step", "bound", reference=True),
            }
            return {r.key: of_one for r in records}

        (shown,) = exhibitions(entries, returns)
        found = overlays(shown)
        assert [(o.name, o.labels, list(o.references)) for o in found] == [
            ("before", ("day", "return"), ["equal weights"]),
            ("after", ("day", "return"), ["equal weights"]),
            ("spectrum", ("index", "value"), []),
            ("", ("step", "bound"), ["bound"]),
        ]
        fig, _ = overlay_figure(shown, styles(["hooi", "pgd", "spgd"]), "")
        assert [len(ax.lines) for ax in fig.axes] == [4, 4, 3, 1]
        fig.canvas.draw()
        boxes = [ax.get_tightbbox() for ax in fig.axes]
        assert boxes[2].y1 < min(boxes[0].y0, boxes[1].y0)

    def test_who_has_no_curve_is_named(self, entries):
        def lacking(records):
            found = {}
            for r in records:
                found[r.key] = exhibit(r.solver, r.seed)
                if r.solver == "pgd":
                    del found[r.key]["ROC"]
            return found

        (shown,) = exhibitions(entries, lacking)
        fig, _ = overlay_figure(shown, styles(["hooi", "pgd", "spgd"]), "")
        assert "pgd has no curve" in [text.get_text() for text in fig.texts]
        assert [t.get_text() for t in fig.legends[0].get_texts()] == ["hooi", "spgd", "chance"]

    def test_panels_legend_and_notes_do_not_overlap(self, entries, runs):
        every = choose([r for e in entries for r in e.records] + runs("meg", 1.0, failed=5))
        (shown,) = exhibitions(every, load)
        fig, _ = overlay_figure(shown, styles(["hooi", "pgd", "spgd", "meg"]), "a note " * 30)
        fig.canvas.draw()
        *above, note = (text.get_window_extent() for text in fig.texts)
        box, panel = fig.legends[0].get_window_extent(), fig.axes[0].get_tightbbox()
        assert 0 <= note.y0 < note.y1 <= box.y0 < box.y1 <= panel.y0
        assert panel.y1 <= min(text.y0 for text in above)
        assert max(text.x1 for text in above) <= fig.bbox.width

    def test_a_curve_with_one_point_or_no_values_is_drawn(self, entries):
        odd = {
            "point": Curve(np.ones(1), np.ones(1), "x", "y"),
            "gap": Curve(np.arange(3.0), np.full(3, np.nan), "x", "y"),
        }
        (shown,) = exhibitions(entries, lambda records: {r.key: odd for r in records})
        fig, _ = overlay_figure(shown, styles(["hooi", "pgd", "spgd"]), "")
        fig.canvas.draw()

    def test_thinning_keeps_the_early_rise_of_a_roc(self):
        rng = np.random.default_rng(0)
        truth = np.sort(rng.random(50_000))[::-1] > 0.998
        truth = truth[np.argsort(np.arange(50_000) + 200 * rng.standard_normal(50_000))]
        y, x = np.cumsum(truth) / truth.sum(), np.cumsum(~truth) / (~truth).sum()
        thin_x, thin_y = thinned(Curve(x, y, "", ""))
        assert len(thin_x) <= POINTS + 2
        assert {(thin_x[0], thin_y[0]), (1, 1)} <= set(zip(thin_x, thin_y, strict=True))
        steps = np.hypot(np.diff(thin_x), np.diff(thin_y))
        assert steps.max() < 2 * 2 / POINTS + 1 / truth.sum()

    def test_thinning_keeps_gaps_and_short_curves(self):
        x = np.arange(10_000.0)
        y = np.where((x > 500) & (x < 503), np.nan, np.sin(x))
        _, thin = thinned(Curve(x, y, "", ""))
        assert np.isnan(thin).any()
        short = Curve(x[:POINTS], y[:POINTS], "", "")
        assert thinned(short)[0] is short.x
        _, flat = thinned(Curve(np.zeros(9999), np.zeros(9999), "", ""))
        assert set(flat.tolist()) == {0.0}


class TestSaveFigures:
    def test_each_problem_has_a_picture_of_curves_and_one_of_images(self, entries, tmp_path):
        paths = save_figures(entries, tmp_path, exhibits=load)
        stems = ("digits-k-4", "digits-k-4-curves", "digits-k-4-images")
        assert [p.name for p in paths] == [
            f"{stem}.{kind}" for stem in stems for kind in ("png", "svg", "csv")
        ]
        assert all(path.stat().st_size > 500 for path in paths)

    def test_without_exhibits_there_are_none(self, entries, tmp_path):
        assert len(save_figures(entries, tmp_path, formats=["csv"])) == 1
        nothing = save_figures(entries, tmp_path, formats=["csv"], exhibits=lambda records: {})
        assert len(nothing) == 1

    def test_files_repeat_byte_for_byte(self, entries, tmp_path):
        first = [p.read_bytes() for p in save_figures(entries, tmp_path / "a", exhibits=load)]
        again = [p.read_bytes() for p in save_figures(entries, tmp_path / "b", exhibits=load)]
        assert first == again

    def test_the_data_are_those_drawn(self, entries, tmp_path):
        save_figures(entries, tmp_path, formats=["csv"], exhibits=load)
        seed = typical_seed(entries)
        with (tmp_path / "digits-k-4-images.csv").open(newline="") as file:
            head, *rows = csv.reader(file)
        assert head == ["problem", "seed", "solver", "image", "row", *map(str, range(8))]
        assert {row[2] for row in rows} == {"", "hooi", "pgd", "spgd"}
        found = [row[5:] for row in rows if row[2:4] == ["pgd", "band 2"]]
        expected = exhibit("pgd", seed)["band 2"].values
        np.testing.assert_allclose(np.array(found, dtype=float), expected, rtol=1e-5)
        with (tmp_path / "digits-k-4-curves.csv").open(newline="") as file:
            points = list(csv.DictReader(file))
        found = [row["y"] for row in points if row["solver"] == "pgd"]
        expected = exhibit("pgd", seed)["ROC"].y
        assert np.array_equal(np.array(found, dtype=np.float32), expected)
        assert [row["y"] for row in points if row["curve"] == "chance"] == ["0", "1"]

    def test_problems_of_the_same_name_do_not_share_a_file(self, runs, tmp_path):
        entries = choose(runs("msg", 1.0) + runs("msg", 1.0, problem="digits k=4: images"))
        paths = save_figures(entries, tmp_path, formats=["csv"], exhibits=load)
        assert len({path.name for path in paths}) == len(paths) == 6

    def test_odd_names_are_shown_as_they_are(self, runs, tmp_path):
        odd = "<b>$x_1$ & \x07\n'../../etc'"
        entries = choose(runs("_a$b^", 1.0, problem=odd))

        def strange(records):
            return {
                r.key: {odd: Image(np.eye(2)), "_$c^{": Curve(np.ones(2), np.ones(2), odd, "$")}
                for r in records
            }

        paths = save_figures(entries, tmp_path, exhibits=strange)
        assert len(paths) == 9
        assert all(path.parent == tmp_path for path in paths)
        (shown,) = exhibitions(entries, strange)
        fig, _ = gallery(pages(shown)[0], "")
        assert fig.texts[0].get_text() == "<b>$x_1$ & '../../etc': images"
        fig, _ = overlay_figure(shown, styles(["_a$b^"]), "")
        assert fig.axes[0].get_xlabel() == "<b>$x_1$ & '../../etc'"
        assert [t.get_text().strip() for t in fig.legends[0].get_texts()] == ["_a$b^"]


class TestEndToEnd:
    @pytest.fixture
    def suite(self, toys):
        table = {
            "seeds": 3, "budget": {"steps": 6},
            "problem": [{"name": "pictured"}, {"name": "leading-subspace"}],
            "solver": [{"name": "power"}, {"name": "power", "fault": "nan"}],
        }  # fmt: skip
        return from_table(table, "toys", toys.registry)

    def test_what_a_suite_exhibits_is_kept_and_drawn(self, suite, tmp_path, monkeypatch):
        results = ob.run(suite, tmp_path / "s.sqlite", quiet=True)
        entries = results.entries
        pictured = [e for e in entries if e.problem == "pictured"]
        found = results.exhibits(pictured[0].records)
        assert [list(of_one) for of_one in found.values()] == [
            ["point", "truth", "curve", "diagonal"]
        ] * 3
        assert not any(results.exhibits(pictured[1].records).values())
        first = save_figures(entries, tmp_path / "a", exhibits=results.exhibits)
        assert {"pictured-curves.png", "pictured-images.png"} < {p.name for p in first}

        monkeypatch.setattr("orthobench.executors.inline.execute", None)
        again = ob.run(suite, tmp_path / "s.sqlite", quiet=True)
        second = save_figures(again.entries, tmp_path / "b", exhibits=again.exhibits)
        pictures = [p for p in first if "curves" in p.name or "images" in p.name]
        assert len(pictures) == 6
        for path in pictures:
            assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
        assert len(first) == len(second)

    def test_the_command_line_prints_their_paths(self, suite, tmp_path, monkeypatch):
        monkeypatch.setattr("orthobench.adhoc.changed", lambda *_, **__: suite)
        words = ["run", "toys", "-q", "--store", str(tmp_path / "s.sqlite")]
        result = CliRunner().invoke(main, [*words, "--executor", "inline"])
        assert result.exit_code == 1  # power fault=nan has failed
        for name in ("pictured-curves", "pictured-images"):
            path = tmp_path / "figures" / f"{name}.png"
            assert path.stat().st_size > 5000
            assert f"{path} (also .svg, .csv)" in result.stdout.replace("\n", "")
