"""`orthobench compare`: arguments, files and exit codes."""

import json
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from orthobench.cli.main import main
from orthobench.compare import run as running
from orthobench.compare import sides as module
from orthobench.compare.comparison import Comparison, Row
from orthobench.compare.options import TOLERANCE, Question
from orthobench.compare.sides import Side
from orthobench.errors import UsageError
from orthobench.stats.run_pairs import Change, Finding


@pytest.fixture
def compare(monkeypatch, tmp_path):
    """Call the command, with a comparison that finds this change; and what it was asked for."""
    asked = {}

    @contextmanager
    def sides(base, head, **options):
        asked.update(base=base, head=head, **options)
        yield Side(base, "revision", "0" * 40), Side(head, "revision", "1" * 40)

    def call(*words, change=Change.SAME, error=None):
        def found(base, head, options, progress):
            asked["options"] = options
            if error:
                raise error
            finding = Finding(change, 1.5, explanation="1 -> 1.5")
            asked_first = [*Question][:3]
            cells = tuple(Row(question, "digits", "msg", 0, finding) for question in asked_first)
            return Comparison(base, head, "regression", options, cells)

        monkeypatch.setattr(running, "compare", found)
        return CliRunner().invoke(main, ["compare", "main", "HEAD", *map(str, words)])

    monkeypatch.setattr(module, "sides", sides)
    monkeypatch.chdir(tmp_path)
    call.asked = asked
    return call


def test_the_exit_code_says_what_was_found(compare):
    for change, code, said in (
        (Change.SAME, 0, "no regression (1 of 1 cell compared)\n"),
        (Change.BETTER, 0, "no regression (1 of 1 cell compared)\n"),
        (Change.UNDECIDED, 2, "no verdict (0 of 1 cell compared, 3 undecided)\n"),
        (Change.PROBABLE, 2, "no verdict (0 of 1 cell compared, 3 probably slower)\n"),
        (Change.WORSE, 1, "3 regressions: 1 of result, 1 of work, 1 of time (1 of 1 cell"),
        (Change.MIXED, 1, "3 regressions: 1 of result, 1 of work, 1 of time (1 of 1 cell"),
        (Change.NONE, 2, "nothing was compared\n"),
    ):
        done = compare(change=change)
        assert done.exit_code == code, change
        assert done.stdout.startswith(said), change


def test_tolerances(compare):
    for words, tolerance in (
        ([], TOLERANCE),
        (["0"], dict.fromkeys(TOLERANCE, 0.0)),
        (["0.05"], dict.fromkeys(TOLERANCE, 0.05)),
        (["5%"], dict.fromkeys(TOLERANCE, 0.05)),
        (["time@digits*=10%"], {**TOLERANCE, "time@digits*": 0.1}),
        (["time=3%"], TOLERANCE),
        (["time=0.03", "result=0.001"], {**TOLERANCE, "result": 0.001}),
        (["1%", "time=10 %"], {**dict.fromkeys(TOLERANCE, 0.01), "time": 0.1}),
    ):
        done = compare(*(part for word in words for part in ("--tolerance", word)))
        assert done.exit_code == 0, words
        assert compare.asked["options"].tolerance == tolerance, words


def test_a_tolerance_that_is_none_is_refused(compare):
    for word in ("speed=1", "fast", "-0.1", "nan", "inf", "time=", "=0.1", "%"):
        done = compare("--tolerance", word)
        assert done.exit_code == 2, word
        assert "--tolerance" in done.output, word
        assert compare.asked == {}, word


def test_options_are_passed_on(compare):
    compare(
        "--suite", "mine.toml", "--budget", 7, "-s", "msg step=2", "-s", "oja", "-p", "digits",
        "--seeds", 3, "--clock", "wall",
    )  # fmt: skip
    options = compare.asked["options"]
    assert options.suite == Path("mine.toml")
    assert (options.budget, options.seeds, options.clock) == (7.0, 3, "wall")
    assert (options.solvers, options.problems) == (("msg step=2", "oja"), ("digits",))
    assert (compare.asked["base"], compare.asked["head"]) == ("main", "HEAD")
    compare("--suite", "quickstart")
    assert compare.asked["options"].suite == "quickstart"


def test_files_are_written_beside_what_is_printed(compare, tmp_path):
    done = compare("--markdown", "a.md", "--junit", "b.xml", "--json", change=Change.WORSE)
    assert done.exit_code == 1
    assert json.loads(done.stdout)["regressions"] == 3
    assert "3 regressions" in (tmp_path / "a.md").read_text(encoding="utf-8")
    assert ET.parse(tmp_path / "b.xml").getroot().get("failures") == "3"  # noqa: S314
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.md", "b.xml"]


@pytest.mark.parametrize("path", ["nowhere/x.xml", "/dev/null"])
def test_an_unwritable_file_is_refused_before_the_comparison(compare, path):
    done = compare("--junit", path)
    assert done.exit_code == 2
    assert f"cannot write {path}" in done.stderr
    assert compare.asked == {}


def test_a_comparison_that_fails_replaces_old_reports(compare, tmp_path):
    (tmp_path / "a.md").write_text("old")
    words = ("--markdown", "a.md", "--junit", "b.xml")
    done = compare(*words, error=UsageError("nothing to compare"))
    assert (done.exit_code, done.stderr) == (2, "orthobench: nothing to compare\n")
    assert "Not compared: nothing to compare" in (tmp_path / "a.md").read_text()
    assert ET.parse(tmp_path / "b.xml").getroot().get("errors") == "1"  # noqa: S314
    done = compare("--json", error=UsageError("nothing to compare"))
    assert (done.exit_code, json.loads(done.stdout)["reason"]) == (2, "nothing to compare")
