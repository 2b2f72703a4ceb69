"""What commands print."""

import io
import json
import math
import re
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

from orthobench import api
from orthobench.cli.main import main
from orthobench.cli.printing import figure_lines, say, status_line
from orthobench.registry.suite_file import from_table
from orthobench.tools.collections import plain


@dataclass(frozen=True)
class Point:
    name: str
    places: tuple[float, ...]


def test_plain_values_are_strict_json():
    facts = {"a": Point("p", (1.5, math.inf, math.nan)), 3: [np.float64(2.0), None, True]}
    found = plain(facts)
    assert found == {"a": {"name": "p", "places": [1.5, None, None]}, "3": [2.0, None, True]}
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_figures_are_listed_with_their_formats():
    paths = [Path(name) for name in ("f/a.svg", "f/a.csv", "f/b.1.svg")]
    assert list(figure_lines(paths)) == ["f/a.svg (also .csv)", "f/b.1.svg"]


def test_what_a_code_page_lacks_is_a_question_mark(monkeypatch):
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding="cp1252", errors="strict")
    monkeypatch.setattr("sys.stdout", stream)
    with pytest.raises(SystemExit, match="0"):
        main(["list", "solvers"])
    stream.flush()
    assert b"?" in written.getvalue()


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_shown_on_terminals_only(monkeypatch):
    for stream, quiet, shown in [
        (Terminal(), False, True), (Terminal(), True, False), (io.StringIO(), False, False),
    ]:  # fmt: skip
        monkeypatch.setattr("sys.stderr", stream)
        with status_line(quiet) as say:
            say("reading the store")
        assert ("reading the store" in stream.getvalue()) is shown


HOSTILE = "\x1b[2J\x1b]0;title\x07a\u202eb\u2066c\x9b31md\x00\re\x1b[8mf"


@pytest.mark.parametrize("err", [False, True])
def test_nothing_that_runs_a_terminal_is_printed_but_the_styles_of_commands(err, capsys):
    say(f"{click.style('title', bold=True, fg='red')} {HOSTILE}\n\tnext", err=err)
    text = capsys.readouterr()[err]
    assert text == "title  [2J ]0;title a b c 31md  e [8mf\n\tnext\n"
    printed = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(click, "echo", lambda text, err: printed.append(text))
        say(click.style("title", bold=True, fg="red") + HOSTILE)
    assert printed == ["\x1b[31m\x1b[1mtitle\x1b[0m [2J ]0;title a b c 31md  e [8mf"]


def test_a_hostile_name_is_harmless_wherever_it_is_printed(toys, monkeypatch, tmp_path):
    table = {
        "budget": {"steps": 3}, "seeds": 1, "problem": [{"name": "leading-subspace"}],
        "solver": [{"name": "power", "label": HOSTILE}],
    }  # fmt: skip
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "results.sqlite"
    suite = from_table(table, f"suite{HOSTILE}", toys.registry)
    api.run(suite, path, executor="inline", quiet=True)
    for words in (
        ["show", "."], ["show", ".", "--suite", "sutie"], ["show", ".", "--json"],
        ["run", f"{HOSTILE}.toml"], ["merge", "a.sqlite", HOSTILE],
    ):  # fmt: skip
        done = CliRunner().invoke(main, words, color=True)
        said = re.sub("\x1b\\[(0|1|2|3[1-36]|1;3[1-36]|[0-9;]*)m", "", done.stdout)
        assert said.replace("\n", "").isprintable(), words
        assert "\x1b" not in done.stderr, words
