"""Which code a result depends on: digests of the sources of packages."""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

CORE = (
    "orthobench.families",
    "orthobench.harness.run",
    "orthobench.contract.samples",
    "orthobench.tools.geometry",
)
"""What of the core every result depends on; the rest is told by its version."""


def sources(module: str) -> list[Path]:
    """Return the Python files of a package, or the file of a module; none of what has no file."""
    try:
        spec = find_spec(module)
    except (ValueError, ModuleNotFoundError):  # a script, which has no spec
        spec = None
    if spec is not None and spec.submodule_search_locations:
        return [path for folder in spec.submodule_search_locations for path in _files(Path(folder))]
    loaded = getattr(sys.modules.get(module), "__file__", None)
    found = spec.origin if spec is not None and spec.has_location else loaded
    return [Path(found)] if found else []


@cache
def digest(module: str) -> str:
    """Return a digest of the sources of a package or a module, read once a process."""
    found = hashlib.sha256()
    for path in sources(module):
        found.update(path.name.encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:16]


def digests(*classes: type) -> dict[str, str]:
    """Return the digests of the packages that classes come from, and of the core's own."""
    packages = {cls.__module__.partition(".")[0] for cls in classes} - {"orthobench"}
    return {name: digest(name) for name in sorted({*packages, *CORE})}


def _files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))
