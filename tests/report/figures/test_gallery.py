"""Galleries: the images that solutions exhibit, and the files of exhibits."""

import csv

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from matplotlib.colors import to_hex

import orthobench as ob
from orthobench.cli.main import main
from orthobench.contract.exhibits import Image
from orthobench.registry.suite_file import from_table
from orthobench.report.figures.figure import LAYOUTS
from orthobench.report.figures.gallery import draw_gallery, pages
from orthobench.report.figures.save import RUN_KINDS, save_figures
from orthobench.report.plots.exhibits import SIDE, colour_limits, exhibitions, reduced, typical_seed
from orthobench.results.tuning import choose

BANDS = ("band 1", "band 2")


@pytest.fixture
def shown(three, load):
    (found,) = exhibitions(three, load)
    return found


class TestGallery:
    def test_images_carry_the_data_and_references_are_drawn_once(self, shown, exhibit):
        (page,) = pages(shown)
        fig = draw_gallery(page)
        drawn = [np.asarray(ax.images[0].get_array()) for ax in fig.axes]
        expected = [exhibit("hooi", shown.seed)["truth"].values]
        for solver in ("hooi", "pgd", "spgd"):
            of_one = exhibit(solver, shown.seed)
            expected += [of_one[name].values for name in (*BANDS, "map")]
        assert len(drawn) == len(expected) == 10
        for a, b in zip(drawn, expected, strict=True):
            assert np.array_equal(a, b)

    def test_rows_are_named_and_columns_have_titles(self, shown, exhibit):
        (page,) = pages(shown)
        fig = draw_gallery(page)
        title, *about = (text.get_text() for text in fig.texts)
        labels = about[-4:]
        about = " ".join(about)
        assert title == "digits k=4: images"
        assert f"seed {shown.seed}, where the solvers are nearest to their medians" in about
        assert "percentiles 0.25 to 99.75" in about
        assert labels == ["the same for all", "hooi", "pgd", "spgd"]
        titles = [ax.get_title() for ax in fig.axes]
        assert titles == ["truth", *BANDS, "map", *[""] * 6]

    def test_signed_images_have_zero_in_the_middle_of_diverging_colours(self, shown, exhibit):
        (page,) = pages(shown)
        fig = draw_gallery(page)
        by_title = {ax.get_title(): ax.images[0] for ax in fig.axes[:4]}
        low, high = by_title["band 1"].get_clim()
        assert low == pytest.approx(-high)
        assert to_hex(by_title["band 1"].cmap(0.5)) == "#f7f6f6"
        assert by_title["map"].cmap.name == "viridis"
        values = exhibit("hooi", shown.seed)["map"].values
        assert by_title["map"].get_clim() == pytest.approx(np.percentile(values, (0.25, 99.75)))

    def test_what_a_solver_lacks_is_a_dash_at_its_place(self, three, load):
        def lacking(records):
            found = load(records)
            for r in records_of(found, "hooi"):
                del found[r]["band 2"]
            return found

        def records_of(found, solver):
            return [key for key in found if f" {solver} " in key]

        (shown,) = exhibitions(three, lacking)
        (page,) = pages(shown)
        assert list(page.columns) == ["band 1", "map", "band 2"]
        fig = draw_gallery(page)
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

    @pytest.mark.parametrize(("shape", "style"), [
        ((6, 8), "screen"), ((1, 300), "screen"),
        ((300, 1), "one-column"), ((40, 10), "two-column"),
    ])  # fmt: skip
    def test_nothing_overlaps_or_leaves_the_page(self, three, runs, shape, style):
        failed = runs("meg", 1.0, failed=5) + runs("long solver name " * 3, 1.0)
        every = choose([r for e in three for r in e.records] + failed)
        layout = LAYOUTS[style]

        def shaped(records):
            long = "an image with a long name that goes on and on and on and on and on"
            images = {f"{long} {i}": Image(np.zeros(shape)) for i in range(3)}
            truth = {"truth": Image(np.ones(shape), reference=True)}
            return {r.key: truth | images for r in records}

        (shown,) = exhibitions(every, shaped)
        (page,) = pages(shown, layout.columns)
        fig = draw_gallery(page, layout)
        assert layout.widths[0] <= fig.get_figwidth() <= layout.widths[-1]
        with layout.applied():
            fig.canvas.draw()
            boxes = [ax.get_tightbbox() for ax in fig.axes]
            boxes += [text.get_window_extent() for text in fig.texts]
        assert min(text.get_fontsize() for text in fig.texts) >= 7
        for i, a in enumerate(boxes):
            assert a.x0 >= 0
            assert a.y0 >= 0
            assert a.x1 <= fig.bbox.width
            assert a.y1 <= fig.bbox.height
            for b in boxes[:i]:
                assert not (a.x0 < b.x1 and b.x0 < a.x1 and a.y0 < b.y1 and b.y0 < a.y1)

    def test_only_references_are_a_page_too(self, three, load):
        def truth(records):
            return {r.key: {"truth": Image(np.eye(2), reference=True)} for r in records}

        (shown,) = exhibitions(three, truth)
        (page,) = pages(shown)
        fig, table = draw_gallery(page), page.table()
        assert len(fig.axes) == 1
        assert len(table) == 3


class TestScale:
    @given(
        hnp.arrays(np.float32, hnp.array_shapes(min_dims=2, max_dims=2),
                   elements=st.floats(-(2.0**120), 2.0**120, width=32) | st.just(np.nan)),
        st.booleans(),
    )  # fmt: skip
    def test_colours_span_something_finite(self, values, signed):
        low, high = colour_limits(values, signed)
        assert np.isfinite([low, high]).all()
        assert low < high
        assert not signed or low == -high

    def test_a_map_with_few_ones_does_not_vanish(self):
        values = np.zeros((100, 100))
        values[3, 4] = 1
        assert colour_limits(values, signed=False) == (0, 1)

    def test_outliers_do_not_drown_the_rest(self):
        values = np.linspace(0, 1, 10_000).reshape(100, 100)
        values[0, 0] = 1e6
        assert colour_limits(values, signed=False)[1] < 1

    @given(st.integers(1, 40), st.integers(1, 40))
    def test_large_images_become_means_over_blocks(self, height, width):
        values = np.random.default_rng(0).standard_normal((height, width))
        small = reduced(values, 10)
        step = -(-max(height, width) // 10)
        assert max(small.shape) <= 10
        for i, j in np.ndindex(small.shape):
            block = values[i * step : (i + 1) * step, j * step : (j + 1) * step]
            assert small[i, j] == pytest.approx(block.mean())

    def test_gaps_are_left_out_of_means_and_stay_where_there_is_nothing_else(self):
        values = np.ones((SIDE * 2, 2))
        values[0, 0] = np.nan
        values[2:4] = np.nan
        small = reduced(values)
        assert small.shape == (SIDE, 1)
        assert small[0, 0] == 1
        assert np.isnan(small[1, 0])


class TestSaveFigures:
    def test_each_problem_has_a_picture_of_curves_and_one_of_images(self, three, load, tmp_path):
        kinds = ("convergence", "curves", "images")
        paths = save_figures(
            three, tmp_path, formats=("png", "csv"), kinds=kinds, exhibits=load
        )  # fmt: skip
        stems = ("digits-k-4", "digits-k-4-curves", "digits-k-4-images")
        assert [p.name for p in paths] == [
            f"{stem}.{kind}" for stem in stems for kind in ("png", "csv")
        ]
        assert all(path.stat().st_size > 500 for path in paths)

    def test_without_exhibits_there_are_none(self, three, tmp_path):
        def names(**more):
            paths = save_figures(three, tmp_path, formats=["csv"], kinds=RUN_KINDS, **more)
            return [path.name for path in paths]

        assert names() == names(exhibits=lambda records: {}) == ["digits-k-4.csv"]

    def test_the_data_are_those_drawn(self, three, load, exhibit, tmp_path):
        save_figures(three, tmp_path, formats=["csv"], exhibits=load)
        seed = typical_seed(three)
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
        assert [float(row["y"]) for row in points if row["label"] == "chance"] == [0, 1]


class TestEndToEnd:
    @pytest.fixture
    def suite(self, toys):
        table = {
            "seeds": 3, "budget": {"steps": 6},
            "problem": [{"name": "pictured"}, {"name": "leading-subspace"}],
            "solver": [{"name": "power"}, {"name": "power", "fault": "nan"}],
        }  # fmt: skip
        return from_table(table, "toys", toys.registry)

    @pytest.mark.wide
    def test_what_a_suite_exhibits_is_kept_and_drawn(self, suite, tmp_path, monkeypatch):
        results = ob.run(suite, tmp_path / "s.sqlite", executor="inline", quiet=True)
        entries = results.entries
        pictured = [e for e in entries if e.problem == "pictured"]
        found = results.exhibits(pictured[0].records)
        assert [list(of_one) for of_one in found.values()] == [
            ["point", "truth", "curve", "diagonal"]
        ] * 3
        assert not any(results.exhibits(pictured[1].records).values())
        more = {"formats": ("png", "svg", "csv"), "kinds": ("curves", "images")}
        first = save_figures(entries, tmp_path / "a", exhibits=results.exhibits, **more)
        assert {"pictured-curves.png", "pictured-images.png"} < {p.name for p in first}

        monkeypatch.setattr("orthobench.harness.executors.inline.execute", None)
        again = ob.run(suite, tmp_path / "s.sqlite", executor="inline", quiet=True)
        second = save_figures(again.entries, tmp_path / "b", exhibits=again.exhibits, **more)
        pictures = [p for p in first if "curves" in p.name or "images" in p.name]
        assert len(pictures) == 6
        for path in pictures:
            assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
        assert len(first) == len(second)

    @pytest.mark.wide
    def test_the_command_line_prints_their_paths(self, suite, tmp_path, monkeypatch):
        monkeypatch.setattr("orthobench.registry.adhoc.requested_suite", lambda *_, **__: suite)
        words = ["run", "toys", "-q", "--store", str(tmp_path / "s.sqlite")]
        result = CliRunner().invoke(main, [*words, "--executor", "inline"])
        assert result.exit_code == 1  # power fault=nan has failed
        for name in ("pictured-curves", "pictured-images"):
            path = tmp_path / "figures" / f"{name}.png"
            assert path.stat().st_size > 5000
            assert f"{path} (also .svg, .csv)" in result.stdout.replace("\n", "")
