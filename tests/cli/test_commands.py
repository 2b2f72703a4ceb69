"""Commands that plugins add to the program, by entry points."""

import sys
from pkgutil import resolve_name

import click
import pytest
from click.testing import CliRunner

from orthobench.cli.commands import OWN
from orthobench.cli.main import main

CODE = """
import click

@click.command()
@click.argument("word")
def shout(word: str) -> None:
    \"\"\"Print WORD in capitals.

    It may have several letters.
    \"\"\"
    click.echo(word.upper())
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install a plugin with the code of its command and its entry points."""

    def install(code, **points):
        (tmp_path / "loud").mkdir()
        (tmp_path / "loud" / "__init__.py").touch()
        (tmp_path / "loud" / "command.py").write_text(code)
        metadata = tmp_path / "loud-1.0.dist-info"
        metadata.mkdir()
        lines = [f"{name} = {place}" for name, place in points.items()]
        groups = ["[orthobench]", "own = loud", "", "[orthobench.commands]", *lines, "", "[other]"]
        (metadata / "entry_points.txt").write_text("\n".join([*groups, "shout = nothing"]))
        monkeypatch.syspath_prepend(tmp_path)

    yield install
    for name in ("loud", "loud.command"):
        sys.modules.pop(name, None)


def call(*words):
    return CliRunner().invoke(main, words)


@pytest.mark.parametrize("name", OWN)
def test_own_command_has_its_name_and_its_summary_in_the_list(name):
    command = resolve_name(OWN[name])
    listed = main.get_command(click.Context(main), name)
    assert (listed.name, listed.get_short_help_str()) == (name, command.get_short_help_str())
    assert command.name == name


def test_help_lists_a_command_without_an_import(installed):
    installed(CODE, shout="loud.command:shout")
    lines = call("--help").stdout.splitlines()
    (line,) = (line for line in lines if line.split()[:1] == ["shout"])
    assert line.split(maxsplit=1)[1] == "Print WORD in capitals."
    assert "loud" not in sys.modules


def test_command_of_a_plugin_runs(installed):
    installed(CODE, shout="loud.command:shout")
    assert call("shout", "quiet").stdout == "QUIET\n"
    assert "It may have several letters." in call("shout", "--help").stdout
    assert call("shoot").exit_code == 2


@pytest.mark.parametrize(
    ("code", "said"), [("import nonsense", "No module named 'nonsense'"), ("shout = 3", "3 is no")]
)
def test_broken_command_is_named_and_the_others_work(installed, code, said):
    installed(code, shout="loud.command:shout")
    done = call("shout")
    assert done.exit_code == 1
    assert "loud.command:shout" in done.stderr
    assert said in done.stderr
    assert "shout" in call("--help").stdout


def test_command_of_a_plugin_does_not_replace_one_of_the_program(installed):
    installed(CODE, doctor="loud.command:shout")
    assert "Check the installation." in call("doctor", "--help").stdout
