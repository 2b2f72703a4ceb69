"""How a command ends: with one line on standard error and an exit code, whatever happened."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import click

from orthobench.cli.printing import say

FAILED = 1
WRONG = 2
NO_OUTPUT = 74
INTERRUPTED = 128 + signal.SIGINT
CLOSED = 141
TERMINATED = 128 + signal.SIGTERM
"""The exit codes; those above 128 are what a shell says of a program that the signal ends."""


class Terminated(KeyboardInterrupt):
    """An interruption that another process asked for."""


class Group(click.Group):
    """The group of all commands: prints errors of users as messages, without a traceback."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Parse the command line; ``--help`` and ``--version`` print and exit here."""
        with ended():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was named."""
        signal.signal(signal.SIGTERM, _terminate)
        with ended():
            return super().invoke(ctx)


@contextmanager
def ended() -> Iterator[None]:
    """Turn what the body raises into a message and an exit code."""
    try:
        yield
        sys.stdout.flush()
    except KeyboardInterrupt as error:
        code = TERMINATED if isinstance(error, Terminated) else INTERRUPTED
        _end(code, str(error) or "interrupted")
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):  # rich and click turn it into this
            _end(CLOSED)
        raise
    except BrokenPipeError:
        _end(CLOSED)
    except OSError as error:
        where = f" {error.filename}" if error.filename else ""
        _end(NO_OUTPUT, f"orthobench: cannot read or write{where}: {error.strerror or error}")
    except Exception as error:
        from orthobench.errors import OrthobenchError

        if not isinstance(error, OrthobenchError):
            raise
        _end(WRONG, f"orthobench: {error}")


def _end(code: int, message: str = "") -> NoReturn:
    from orthobench.tools.formatting import clean

    with suppress(OSError):
        if message:
            say(clean(message), err=True)
    try:
        sys.stdout.flush()
    except OSError:  # as it would again when the interpreter ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def _terminate(*_: object) -> NoReturn:
    raise Terminated
