"""A program for the interpreter of an environment: what would be imported there, and from where."""

from __future__ import annotations

import sys
import sysconfig
from functools import cache
from importlib import import_module
from importlib.metadata import distributions, entry_points
from importlib.util import find_spec
from inspect import getmodulename
from pathlib import Path
from typing import Any

PROTOCOL = "orthobench.compare.protocol"
VERSION = 2
"""The version of the protocol that can be served."""


class RefusedError(Exception):
    """A side that cannot be compared live, for the reason in the message."""


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


@cache
def names() -> Any:
    """Return an object with the names of the protocol as attributes.

    Raises
    ------
    RefusedError
        Where the side's orthobench has no protocol, or another version of it.
    """
    try:
        protocol = import_module(PROTOCOL)
    except ModuleNotFoundError as error:
        if error.name not in (PROTOCOL, PROTOCOL.rpartition(".")[0]):
            raise
        protocol = None
    if getattr(protocol, "VERSION", None) == VERSION:
        return protocol
    known = f"version {protocol.VERSION}" if protocol else "no version"
    version = getattr(import_module("orthobench"), "__version__", "of an unknown version")
    raise RefusedError(
        f"its orthobench {version} has {known} of the comparison protocol, and this one knows "
        f"version {VERSION}: run the suite in both environments, and compare the stores"
    )
