"""Views of a notebook: tables with marks, the answer, and the page in a frame."""

import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest
from records import altered

import orthobench as ob
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.trace import Outcome as JudgedOutcome
from orthobench.report.notebook_view import Results

EVIL = "<script>alert(1)</script>\x1b[31m"


def results(records, folder=Path()):
    return Results("suite", folder / "results.sqlite", records)


def shown(found):
    """Return the lines of text that a notebook shows."""
    return unescape(re.sub("<[^>]*>", "", found._repr_html_())).splitlines()


def test_notebook_shows_what_the_terminal_prints(runs):
    records = runs("slow", 9, seeds=8) + runs("best", 0.001, seeds=8)
    found = results(records + runs("bad", 0.2, seeds=8, failed=4))
    lines = shown(found)
    assert found.answer().sentence in " ".join(" ".join(lines).split())
    for solver, mark in (("best", "★"), ("slow", "✗"), ("bad", "!")):
        assert any(line.startswith(f"{solver} ") and line.rstrip().endswith(mark) for line in lines)


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


def test_missing_runs_are_counted(runs):
    waiting = [altered(r, status=RunStatus.MISSING, trace=()) for r in runs("late", 0.1)]
    lines = shown(results(waiting))
    assert "5 not run;" in lines[0]
    assert not any(line.startswith("late ") for line in lines)


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


def test_outcome_draws_the_metric_that_is_named():
    from matplotlib.figure import Figure

    outcome = ob.solve("oja", "digits", ob.Budget(samples=300), curve=True, step=0.5)
    drawn = outcome.plot(Figure().subplots(), "subspace_error")
    assert list(drawn.y) == [mark.metrics["subspace_error"] for mark in outcome.trace]


def test_outcome_without_points_says_why_in_safe_words():
    text = repr(ob.Outcome(JudgedOutcome(Termination(RunStatus.ERROR, EVIL))))
    assert text == "error: <script>alert(1)</script> [31m"
