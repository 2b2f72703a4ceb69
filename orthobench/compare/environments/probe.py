"""What an environment would import: run as a script by its interpreter, prints JSON.

It is the comparing installation's file, and so imports the standard library only, but for the
orthobench of that environment.
"""

from __future__ import annotations

import importlib
import json
import sys
import sysconfig
from importlib.metadata import distributions, entry_points
from importlib.util import find_spec
from inspect import getmodulename
from pathlib import Path
from typing import Any


def main(name: str | None) -> dict[str, Any]:
    """Return where the environment's orthobench, its plugins and one distribution come from.

    Parameters
    ----------
    name : str, optional
        A distribution that is to be installed in this environment itself.
    """
    points = entry_points(group="orthobench")
    return {
        "python": sys.version.split()[0],
        "orthobench": origin("orthobench"),
        "modules": None if name is None else modules(name),
        "plugins": {point.name: point.dist and point.dist.name for point in points},
        "broken": broken(),
    }


def modules(name: str) -> dict[str, str | None] | None:
    """Return the top-level modules of a distribution, each with the place it is imported from.

    None where this environment itself, whatever it falls back on, does not have the distribution.
    """
    own = list({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
    for distribution in distributions(name=name, path=own):
        names = {_module(path.parts) for path in distribution.files or ()} - {""}
        return {module: origin(module) for module in sorted(names)}
    return None


def _module(parts: tuple[str, ...]) -> str:
    """Return the top-level module that an installed file belongs to; empty where to none."""
    if len(parts) == 1:
        return getmodulename(parts[0]) or ""
    return parts[0] if parts[0].isidentifier() and parts[0] != "__pycache__" else ""


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


def broken() -> dict[str, str]:
    """Return the plugins that do not load, with the reason, or ``orthobench`` itself."""
    try:
        registry = importlib.import_module("orthobench.registry.plugins")
        return dict(registry.catalogue().broken)
    except Exception as error:
        return {"orthobench": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1] if sys.argv[1:] else None)))  # noqa: T201 - to whoever started this
