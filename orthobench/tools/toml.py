"""TOML of strangers: what would take gigabytes or minutes to parse is refused before."""

from __future__ import annotations

import errno
import io
import re
import tomllib
from pathlib import Path
from typing import Any

from orthobench.tools.files import opened

MOST_CHARACTERS = 2**20
"""The most characters of a document."""

DEEPEST = 16
"""The most parts of a dotted key; the parser needs the square of their number in memory."""

_TOKEN = re.compile(
    r'''
    (?P<text>  """(?:[^"\\]|\\.|"(?!""))*+"{0,5}+ | \'\'\'(?:[^']|'(?!''))*+'{0,5}+ )
    | (?P<key> "(?:[^"\\\n]|\\.)*+"?+ | '[^'\n]*+'?+ | [A-Za-z0-9_-]++ )
    | (?P<dot> [ \t]*+\.[ \t]*+ )
    | \#[^\n]*+
    | .
    ''',
    re.VERBOSE | re.DOTALL,
)
"""What a document consists of: texts of several lines, keys and values, dots, and the rest."""


def text_of(path: Path) -> str:
    """Return the text of a file that is not larger than a document may be.

    Raises
    ------
    OSError, UnicodeDecodeError
        Where it cannot be read, is no regular file, too large, or not UTF-8.
    """
    with io.TextIOWrapper(opened(path), encoding="utf-8") as file:
        text = file.read(MOST_CHARACTERS + 1)
    if len(text) > MOST_CHARACTERS:
        raise OSError(errno.EFBIG, f"more than {MOST_CHARACTERS:,} characters", str(path))
    return text


def loads(text: str) -> dict[str, Any]:
    """Parse a document.

    Parameters
    ----------
    text : str

    Raises
    ------
    tomllib.TOMLDecodeError
        Where it is not valid, too long or too deep.
    """
    if len(text) > MOST_CHARACTERS:
        most = f"it has {len(text):,} characters, where {MOST_CHARACTERS:,} are allowed"
        raise tomllib.TOMLDecodeError(most)
    if _longest_key(text) > DEEPEST:
        raise tomllib.TOMLDecodeError(f"a key of more than {DEEPEST} parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise tomllib.TOMLDecodeError("it is nested too deeply") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:  # of Python, about a number
        raise tomllib.TOMLDecodeError(str(error).partition(";")[0]) from None


def _longest_key(text: str) -> int:
    """Return the number of parts of the longest dotted key."""
    longest = parts = 0
    before = ""
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup or ""
        if kind == "key":
            parts = parts + 1 if before == "dot" else 1
            longest = max(longest, parts)
        elif kind != "dot":
            parts = 0
        before = kind
    return longest
