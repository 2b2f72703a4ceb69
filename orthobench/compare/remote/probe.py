"""A program for the interpreter of an environment: what would be imported there, and from where."""

from __future__ import annotations

import sys
import sysconfig
from importlib.metadata import distributions, entry_points
from importlib.util import find_spec
from inspect import getmodulename
from pathlib import Path
from typing import Any

from .names import RefusedError, names


def main(channel: Any, distribution: str | None) -> None:
    """Send where the environment's orthobench, its plugins and one distribution come from.

    Parameters
    ----------
    channel : Channel
        To the parent.
    distribution : str, optional
        One that should be installed in this environment itself.
    """
    points = entry_points(group="orthobench")
    broken, refused = _usable()
    channel.send({
        "python": sys.version.split()[0],
        "orthobench": origin("orthobench"),
        "modules": None if distribution is None else modules(distribution),
        "plugins": {point.name: point.dist and point.dist.name for point in points},
        "broken": broken,
        "refused": refused,
    })  # fmt: skip


def modules(name: str) -> dict[str, str | None] | None:
    """Return the top-level modules of a distribution, each with the place it is imported from.

    None where the distribution is not in this environment itself, but at most in what it falls
    back on.
    """
    own = list({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
    for distribution in distributions(name=name, path=own):
        found = {_module(path.parts) for path in distribution.files or ()} - {""}
        return {module: origin(module) for module in sorted(found)}
    return None


def origin(module: str) -> str | None:
    """Return the file of a module or the folder of a package; None where it is not found."""
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    folders = list(spec.submodule_search_locations or ())
    found = folders[0] if folders else spec.origin
    return str(Path(found).resolve()) if found else None


def _module(parts: tuple[str, ...]) -> str:
    """Return the top-level module that an installed file belongs to; empty where to none."""
    if len(parts) == 1:
        return getmodulename(parts[0]) or ""
    return parts[0] if parts[0].isidentifier() and parts[0] != "__pycache__" else ""


def _usable() -> tuple[dict[str, str], str]:
    """Return why plugins do not load, by name, and why the environment cannot be compared."""
    try:
        return dict(names().catalogue().broken), ""
    except RefusedError as error:
        return {}, str(error)
    except Exception as error:
        return {"orthobench": f"{type(error).__name__}: {error}"}, ""
