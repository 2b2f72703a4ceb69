"""What a notebook shows: tables with marks and the answer, and the page in a frame of its own."""

import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from records import altered

import orthobench as ob
from orthobench.contract.panel import Series
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.trace import Outcome as JudgedOutcome
from orthobench.report.notebook_view import MOST_ROWS, Results, _sketch

EVIL = "<script>alert(1)</script>\x1b[31m"


def results(records, folder=Path()):
    return Results("suite", folder / "results.sqlite", records)


def cells(html):
    rows = re.findall(r"<tr><td>.*?</tr>", html)
    return [[unescape(c) for c in re.findall(r"<td>(.*?)</td>", row)] for row in rows]


def test_a_table_has_marks_and_what_to_use(runs):
    records = runs("slow", 9, seeds=8) + runs("best", 0.001, seeds=8, tuned={"step": 2.0})
    records += runs("bad", 0.2, seeds=8, failed=4)
    found = results(records)
    html = found._repr_html_()
    rows = {row[1].strip(): (row[0], row[2]) for row in cells(html)}
    assert rows == {
        "best step=2": ("★", "as good"), "slow": ("✗", "worse"), "bad": ("!", "4 failed"),
    }  # fmt: skip
    assert found.answer().sentence in unescape(html)


def test_a_run_of_a_suite_has_answer_table_and_plot(runs):
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    found = results(runs("a", 0.001, seeds=8) + runs("b", 0.5, seeds=8))
    assert ob.Results is Results
    assert [row["solver"] for row in found.table()] == ["a", "b"]
    assert found.plot(Figure().subplots(), "profile").series


def test_names_are_text(runs):
    html = results(runs(EVIL, 0.1, problem=EVIL) + runs("b", 0.2, problem=EVIL))._repr_html_()
    assert "<script" not in html
    assert "\x1b" not in html
    assert "&lt;script&gt;" in html


def test_what_is_missing_is_counted_and_nothing_finished_is_no_error(runs):
    waiting = [altered(r, status=RunStatus.MISSING, trace=()) for r in runs("late", 0.1)]
    html = results(waiting)._repr_html_()
    assert "5 not run yet" in html
    assert not cells(html)


def test_a_notebook_stays_small(runs):
    names = [f"p{i:02}" for i in range(40)]
    records = [r for p in names for s in ("a", "b") for r in runs(s, 0.1, seeds=2, problem=p)]
    html = results(records)._repr_html_()
    assert len(cells(html)) == MOST_ROWS
    assert "10 more problems" in html
    assert len(html) < 16_000


@pytest.fixture
def written(monkeypatch):
    seen = {}

    def write_page(results, folder):
        seen["results"] = results
        folder.mkdir(exist_ok=True)
        (folder / "index.html").write_text('<p title="a">é & b</p>', encoding="utf-8")
        return folder / "index.html"

    monkeypatch.setattr("orthobench.report.page.write_page", write_page)
    return seen


def test_the_page_is_written_and_shown_in_a_frame_of_its_own(runs, written, tmp_path):
    found = ob.report(results(runs("a", 0.1), tmp_path))
    assert found.path == tmp_path / "report" / "index.html"
    frame = found._repr_html_()
    assert unescape(re.search(r'srcdoc="([^"]*)"', frame)[1]) == found.path.read_text("utf-8")
    assert re.search(r'sandbox="([^"]*)"', frame)[1] == "allow-scripts allow-downloads"
    other = ob.report(results(runs("a", 0.1), tmp_path), str(tmp_path / "x"))
    assert other.path == tmp_path / "x" / "index.html"


@pytest.mark.parametrize("first", ["", "import orthobench.report.page; "])
def test_the_name_is_free_whatever_was_imported_before(first):
    code = f"{first}import orthobench as ob; assert callable(ob.report); import orthobench.report"
    subprocess.run([sys.executable, "-c", f"{code}; assert callable(ob.report)"], check=True)


def test_an_outcome_shows_how_it_ended_its_work_and_its_curve():
    from matplotlib.figure import Figure

    outcome = ob.solve("oja", "digits", ob.Budget(samples=300), curve=True, step=0.5)
    last, values = outcome.trace[-1], [mark.metrics["suboptimality"] for mark in outcome.trace]
    html = unescape(outcome._repr_html_())
    assert "<b>budget</b>" in html
    assert "<th>samples</th><td>300</td>" in html
    assert f"<th>suboptimality</th><td>{last.metrics['suboptimality']:.4g}</td>" in html
    heights = [float(y) for _, y in re.findall(r"([\d.]+),([\d.]+)", html.split("points=")[1])]
    assert len(heights) == len(outcome.trace)
    assert heights.index(max(heights)) == values.index(min(values))
    drawn = outcome.plot(Figure().subplots(), "subspace_error")
    assert list(drawn.y) == [mark.metrics["subspace_error"] for mark in outcome.trace]
    with pytest.raises(ob.UsageError, match="did you mean 'subspace_error'"):
        outcome.plot(Figure().subplots(), "subspace_eror")


def test_an_outcome_without_points_says_why_in_safe_words():
    html = ob.Outcome(JudgedOutcome(Termination(RunStatus.ERROR, EVIL)))._repr_html_()
    assert html == "<p><b>error</b>: &lt;script&gt;alert(1)&lt;/script&gt; [31m</p>"


def sketched(*y):
    html = _sketch(Series("gap", np.arange(len(y)), np.array(y, float)))
    return [tuple(map(float, p)) for p in re.findall(r"([\d.]+),([\d.]+)", html)]


def test_a_sketch_spans_its_picture_with_the_least_value_at_the_bottom():
    assert sketched(4, 2, 1) == [(2, 2), (120, 25), (238, 48)]  # on a logarithmic scale
    assert sketched(4, 2, 0) == [(2, 2), (120, 25), (238, 48)]
    assert sketched(4, np.nan, 0) == [(2, 2), (238, 48)]
    for flat in ((1, 1), (np.nan, np.nan), (3,), ()):
        assert sketched(*flat) == []
