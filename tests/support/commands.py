"""Commands called in this process, as a stranger's file meets them."""

import click
from click.testing import CliRunner

from orthobench.cli.main import main


def typed(*words, code=0):
    """Call a command in this process; return its result, which has this exit code."""
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == code, result.output + str(result.exception)
    return result


def refusal(words, names=()):
    """Call a command; return its refusal in one line that names a file, or "" if there is none.

    Anything else that a command raises, or a refusal of another kind, is raised as it is.
    """
    result = CliRunner().invoke(main, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if result.exit_code != 2:
        return ""
    said = click.unstyle(result.output).strip().splitlines()[-1:]
    lines = [line for line in result.output.splitlines() if line.startswith("orthobench: ")]
    if len(lines) != 1 or lines != said:
        raise AssertionError(f"{words[0]} does not refuse in one line: {result.output[-300:]!r}")
    if names and not any(str(name) in lines[0] for name in names):
        raise AssertionError(f"{words[0]} does not name the file: {lines[0][:200]}")
    return lines[0]
