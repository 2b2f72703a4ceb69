"""Files of figures: names, contents, and equal bytes."""

import re
import warnings
import xml.etree.ElementTree as ET
from functools import cache

import pytest
from matplotlib.figure import Figure
from records import altered

from orthobench.report.figures import save
from orthobench.report.figures.save import (
    FORMATS,
    LAYOUTS,
    RUN_KINDS,
    save_figures,
    save_plot,
)
from orthobench.report.plots.problems import convergence
from orthobench.results.tuning import choose

COLUMNS = [name for name in LAYOUTS if name != "screen"]
"""The layouts of journals."""

ODD = (
    "<b>$x^2$</b>",
    "../../etc/passwd",
    "_hidden",
    "$x_1$ [bold] \x07\n",
    "Größe 数 🦆",
    "long " * 60,
    "...",
    "",
)
"""Names of problems and solvers that could break a path or a formula."""


@pytest.fixture(scope="module")
def entries(runs):
    """Two solvers on one problem, with failures and a tuned parameter."""
    records = [r for step in (1.0, 2.0) for r in runs("b", 0.1 * step, tuned={"step": step})]
    return choose(runs("a", 0.1, failed=2) + records)


@pytest.fixture(scope="module")
def saved(entries, tmp_path_factory):
    """Return the files of the convergence in a style, written once."""

    @cache
    def in_style(style):
        folder = tmp_path_factory.mktemp("saved")
        return save_figures(entries, folder, style=style, kinds=["convergence"])

    return in_style


class TestFormats:
    @pytest.mark.parametrize(
        "style", ["screen", *(pytest.param(s, marks=pytest.mark.wide) for s in COLUMNS)]
    )
    def test_every_format_can_be_opened(self, saved, style):
        paths = saved(style)
        assert {path.suffix[1:] for path in paths} == set(FORMATS)
        for path in paths:
            data = path.read_bytes()
            if path.suffix == ".png":
                assert data.startswith(b"\x89PNG\r\n\x1a\n")
                pixels = int.from_bytes(data[16:20], "big")
                wide = {round(w * LAYOUTS[style].dpi) for w in LAYOUTS[style].widths}
                assert min(abs(pixels - w) for w in wide) <= 1
            elif path.suffix == ".svg":
                root = ET.fromstring(data)  # noqa: S314 - written here
                assert root.tag == "{http://www.w3.org/2000/svg}svg"
                assert b"<text" not in data  # all letters are shapes
            else:
                assert data.startswith(b"%PDF-")
                assert data.rstrip().endswith(b"%%EOF")

    @pytest.mark.wide
    def test_fonts_are_embedded_as_truetype(self, saved):
        (path,) = (path for path in saved("one-column") if path.suffix == ".pdf")
        data = path.read_bytes()
        fonts = re.findall(rb"/Type /FontDescriptor.*?>>", data, re.DOTALL)
        assert fonts
        assert all(b"/FontFile2" in font for font in fonts)
        assert b"/Subtype /Type3" not in data
        box = re.search(rb"/MediaBox \[ ?([\d. ]+)\]", data)
        assert float(box[1].split()[2]) == pytest.approx(3.5 * 72)

    @pytest.mark.wide
    def test_files_repeat_byte_for_byte_whatever_the_user_has_set(self, saved, entries, tmp_path):
        import matplotlib as mpl

        first = saved("screen")
        with mpl.rc_context({"axes.labelpad": 30, "grid.alpha": 0.1, "figure.dpi": 30}):
            again = save_figures(entries, tmp_path, kinds=["convergence"])
        assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]


@pytest.fixture
def undrawn(monkeypatch):
    """Empty figures, since only the names of their files matter."""
    monkeypatch.setattr(save, "draw_figure", lambda *_: Figure(figsize=(1, 1)))


@pytest.mark.usefixtures("undrawn")
class TestKinds:
    def test_all_are_written_or_those_asked_for(self, entries, tmp_path):
        def stems(**more):
            paths = save_figures(entries, directory=tmp_path, formats=["svg"], **more)
            return [path.stem for path in paths]

        every = ["digits-k-4", "digits-k-4-tuning", "pca-performance-profiles",
                 "pca-expected-cost-to-a-target"]  # fmt: skip
        assert stems() == every
        assert stems(kinds=RUN_KINDS) == ["digits-k-4"]
        assert stems(kinds=["expected", "tuning"]) == [every[1], every[3]]

    def test_a_problem_that_nobody_takes_part_in_has_no_figure(self, runs, tmp_path, entries):
        from orthobench.harness.stopping import RunStatus

        refused = [
            altered(r, status=RunStatus.REFUSED, trace=()) for r in runs("x", 1, problem="q")
        ]
        every = [*entries, *choose(refused)]
        paths = save_figures(every, tmp_path, formats=["svg"], kinds=["convergence"])
        assert [path.name for path in paths] == ["digits-k-4.svg"]


class TestNames:
    def test_odd_ones_stay_in_the_folder(self, runs, tmp_path, undrawn):
        records = [r for name in ODD for r in runs("a", 1.0, seeds=2, problem=name)]
        paths = save_figures(choose(records), tmp_path / "x", formats=["svg"], kinds=RUN_KINDS)
        assert len({path.name for path in paths}) == len(paths) == len(ODD)
        assert all(path.parent == tmp_path / "x" and path.is_file() for path in paths)
        assert {p.name for p in tmp_path.iterdir()} == {"x"}
        assert all(re.fullmatch(r"[a-z0-9][a-z0-9.-]{0,99}", path.name) for path in paths)

    @pytest.mark.wide
    def test_odd_ones_are_drawn_and_no_formulas(self, runs, tmp_path):
        records = [r for name in ODD for r in runs(name, 1.0, seeds=2, problem="$a^$ \\frac{")]
        formats = ("png", "svg", "pdf")
        paths = save_figures(choose(records), tmp_path, formats=formats, kinds=RUN_KINDS)
        assert [path.name for path in paths] == [f"a-frac.{kind}" for kind in formats]


def test_one_plot_is_saved_as_among_all_of_them(saved, entries, tmp_path):
    several = {path.name: path.read_bytes() for path in saved("screen")}
    stem = next(iter(several)).partition(".")[0]
    (path,) = save_plot(convergence(entries), stem=tmp_path / stem, formats=["svg"])
    assert path.read_bytes() == several[path.name]


def test_the_global_state_of_matplotlib_is_left_alone(entries, tmp_path):
    import matplotlib as mpl
    from matplotlib import _pylab_helpers

    before = dict(mpl.rcParams)
    save_figures(entries, tmp_path, formats=["svg"], kinds=["convergence"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert dict(mpl.rcParams) == before
    assert not _pylab_helpers.Gcf.figs
