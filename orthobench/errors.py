"""Errors that users can correct; the command line prints them and exits with code 2."""

from __future__ import annotations

import re
from collections.abc import Iterable

LONGEST = 200
"""Maximum length of a value in a message."""

LONGEST_LIST = 300
"""Maximum length of a list of names in a message."""

NOT_TEXT = "not UTF-8 here: rename the file, or call orthobench with LC_ALL=C.UTF-8"
"""The fault of a file name that is not `is_text`."""


class OrthobenchError(Exception):
    """An error whose message says what is wrong, where, and what to do about it."""


class UsageError(OrthobenchError, ValueError):
    """A name, a parameter or a suite that cannot be used as it is."""


class DataError(OrthobenchError, ValueError):
    """Data that are missing or unfit: not finite, of a wrong shape, truncated."""


class StoreError(OrthobenchError):
    """A store that cannot be opened, read or written."""


def is_text(name: str) -> bool:
    """Return whether a name can be stored; bytes that are not UTF-8 are surrogates in Python."""
    return name == name.encode(errors="ignore").decode()


def quoted(value: object) -> str:
    """Return a value as it is quoted in a message: its ``repr``, or the beginning of that."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, or lists in lists
        return f"this {type(value).__name__}"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def unknown(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """Return the error for an unknown name, with the nearest names that exist.

    Parameters
    ----------
    kind : str
        The kind of thing: ``"solver"``, ``"parameter of msg"``.
    name : str
        The name that the user wrote.
    known : iterable of str
        The names that exist.
    """
    from difflib import get_close_matches
    from textwrap import shorten

    names = sorted(set(known))
    near = get_close_matches(name[:LONGEST], names, n=3, cutoff=0.5)
    near = near or [known for known in names if name in re.split("[-_]", known)][:3]
    if near:
        hint = "did you mean " + " or ".join(repr(n) for n in near) + "?"
    elif names:
        text = "known: " + ", ".join(names)
        hint = shorten(text, LONGEST_LIST, placeholder=" ...", break_on_hyphens=False)
    else:
        hint = "there are none"
    return UsageError(f"unknown {kind} {quoted(name)}; {hint}")
