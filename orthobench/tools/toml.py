"""TOML of strangers: documents that would take gigabytes or minutes to parse are refused."""

from __future__ import annotations

import errno
import io
import tomllib
from pathlib import Path
from typing import Any

from orthobench.tools.files import opened

MOST_CHARACTERS = 2**20
"""Maximum number of characters of a document."""

MOST_DOTS = 100
"""Maximum number of dots on a line: the parser's memory grows with the square of their number."""


def text_of(path: Path) -> str:
    """Return the text of a file without its BOM.

    Raises
    ------
    OSError, UnicodeDecodeError
        If it is unreadable, not a regular file, too large, or not UTF-8.
    """
    with io.TextIOWrapper(opened(path), encoding="utf-8-sig") as file:
        text = file.read(MOST_CHARACTERS + 1)
    if len(text) > MOST_CHARACTERS:
        raise OSError(errno.EFBIG, f"more than {MOST_CHARACTERS:,} characters", str(path))
    return text


def loads(text: str) -> dict[str, Any]:
    """Parse a document.

    Raises
    ------
    tomllib.TOMLDecodeError
        If it is not valid, too long or too deep.
    """
    if len(text) > MOST_CHARACTERS:
        raise tomllib.TOMLDecodeError(f"it has more than {MOST_CHARACTERS:,} characters")
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > MOST_DOTS:
            raise tomllib.TOMLDecodeError(f"line {number} has more than {MOST_DOTS} dots: split it")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise tomllib.TOMLDecodeError("it is nested too deeply") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:  # Python's limit of digits
        raise tomllib.TOMLDecodeError(str(error).partition(";")[0]) from None
