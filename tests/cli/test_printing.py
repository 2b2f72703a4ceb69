"""The output of commands."""

import io
import re

import click
import pytest
from click.testing import CliRunner

from orthobench import api
from orthobench.cli.main import main
from orthobench.cli.printing import say, status_line
from orthobench.registry.suite_file import from_table


def test_a_letter_outside_a_code_page_is_a_question_mark(monkeypatch):
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding="cp1252", errors="strict")
    monkeypatch.setattr("sys.stdout", stream)
    with pytest.raises(SystemExit, match="0"):
        main(["list", "solvers"])
    stream.flush()
    assert b"?" in written.getvalue()


HOSTILE = "\x1b[2J\x1b]0;title\x07a\u202eb\u2066c\x9b31md\x00\re\x1b[8mf"


@pytest.mark.parametrize("err", [False, True])
def test_control_characters_are_printed_as_spaces(err, capsys):
    say(f"{click.style('title', bold=True, fg='red')} {HOSTILE}\n\tnext", err=err)
    text = capsys.readouterr()[err]
    assert text == "title  [2J ]0;title a b c 31md  e [8mf\n\tnext\n"
    printed = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(click, "echo", lambda text, err: printed.append(text))
        say(click.style("title", bold=True, fg="red") + HOSTILE)
    assert printed == ["\x1b[31m\x1b[1mtitle\x1b[0m [2J ]0;title a b c 31md  e [8mf"]


@pytest.mark.parametrize("passing", [True, False])
def test_control_characters_of_a_status_are_spaces(passing, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with status_line(quiet=False) as tell:
        tell(f"one  two\n{HOSTILE}", passing)
    shown = capsys.readouterr().err
    assert "\x1b[8m" not in shown
    assert "\x1b]0" not in shown
    assert passing or "one  two\n [2J ]0;title" in shown


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
