"""Figures that were drawn already, so that they are not drawn again while their data stay."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from orthobench.tools.files import atomic_write

FILE = "drawn.json"
"""Beside the figures: which they are, and of which data."""


class Drawn:
    """The figures of a folder.

    Parameters
    ----------
    folder : Path
    fingerprint : str
        Of the data that they should show.
    """

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self.folder, self._data = folder, f"{fingerprint} {_code()}"

    @cached_property
    def paths(self) -> list[Path]:
        """Their paths; empty where they are missing, or show other data."""
        try:
            known = json.loads((self.folder / FILE).read_text())
            paths = [self.folder / Path(name).name for name in known["files"]]
            same = known["data"] == self._data and all(path.is_file() for path in paths)
        except (OSError, ValueError, LookupError, TypeError):
            return []
        return paths if same else []

    def remember(self, paths: Sequence[Path]) -> None:
        """Write down which figures show these data."""
        self.paths = list(paths)
        facts = {"data": self._data, "files": [path.name for path in paths]}
        with atomic_write(self.folder / FILE) as file:
            file.write(json.dumps(facts, indent=2).encode())


def _code() -> str:
    """Return a digest of the code that draws."""
    found = hashlib.sha256()
    report = Path(__file__).parents[1]
    for path in sorted([*report.rglob("*.py"), *report.with_name("stats").rglob("*.py")]):
        found.update(path.read_bytes())
    return found.hexdigest()[:16]
