"""The distributions that are installed."""

from __future__ import annotations

from functools import cache
from importlib import metadata


@cache
def version(distribution: str) -> str | None:
    """Return the version of an installed distribution, or None."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
