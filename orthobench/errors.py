"""The errors that are the user's to mend; the command line prints them and exits with code 2."""

from __future__ import annotations

from collections.abc import Iterable


class OrthobenchError(Exception):
    """What went wrong, where, and what to do about it."""


class UsageError(OrthobenchError, ValueError):
    """A name, a parameter or a suite that cannot be run as it stands."""


class DataError(OrthobenchError, ValueError):
    """Data that no solver should see: not finite, of a wrong shape, truncated, foreign."""


class StoreError(OrthobenchError):
    """A store that cannot be opened or written."""


def unknown(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """Return the error for a name that nobody has, with the nearest ones that exist.

    Parameters
    ----------
    kind : str
        What the name should have been: ``"solver"``, ``"parameter of msg"``.
    name : str
        The name as the user wrote it.
    known : iterable of str
        The names that exist.
    """
    from difflib import get_close_matches

    names = sorted(known)
    near = get_close_matches(name, names, n=3, cutoff=0.5)
    if near:
        hint = "did you mean " + " or ".join(repr(n) for n in near) + "?"
    elif names:
        hint = "known: " + ", ".join(names)
    else:
        hint = "there are none"
    return UsageError(f"unknown {kind} {name!r}; {hint}")
