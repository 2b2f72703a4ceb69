"""TOML of strangers: what would take gigabytes or minutes to parse is refused before."""

from __future__ import annotations

import errno
import io
import tomllib
from pathlib import Path
from typing import Any

from orthobench.tools.files import opened

MOST_CHARACTERS = 2**20
"""The most characters of a document."""

MOST_DOTS = 100
"""The most dots on a line: for a dotted key the parser needs their number squared in memory."""


def text_of(path: Path) -> str:
    """Return the text of a file that is not larger than a document may be, without its BOM.

    Raises
    ------
    OSError, UnicodeDecodeError
        Where it cannot be read, is no regular file, too large, or not UTF-8.
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
        Where it is not valid, too long or too deep.
    """
    if len(text) > MOST_CHARACTERS:
        most = f"it has {len(text):,} characters, where {MOST_CHARACTERS:,} are allowed"
        raise tomllib.TOMLDecodeError(most)
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > MOST_DOTS:
            raise tomllib.TOMLDecodeError(f"line {number} has more than {MOST_DOTS} dots: split it")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise tomllib.TOMLDecodeError("it is nested too deeply") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:  # of Python, about a number
        raise tomllib.TOMLDecodeError(str(error).partition(";")[0]) from None
