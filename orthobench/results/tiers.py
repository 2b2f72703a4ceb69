"""Tiers: how far each result of a store can be trusted, in a JSON file beside the store.

Those who publish results write it, never those who hand them in.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from orthobench.errors import DataError
from orthobench.results.store import Store
from orthobench.tools.files import opened, replacing

REPORTED, RECOMPUTED, TIMED, WITHDRAWN = TIERS = ("reported", "recomputed", "timed", "withdrawn")
"""As it was handed in; computed again with the same outcome; measured on the reference machine, so
that its seconds count, too; shown with the reason, and compared with nothing."""

FORMAT = "orthobench tiers 1"
"""What the file says that it is."""

SUFFIX = ".tiers.json"
ALL = "*"
"""Stands for the keys of all cells of a store."""

LARGEST = 64 * 2**20
"""Most bytes of the file: 400,000 cells."""


class Tier(NamedTuple):
    """The tier of a result.

    Attributes
    ----------
    name : str
        One of `TIERS`.
    reason : str
        Why it was withdrawn; otherwise empty.
    """

    name: str
    reason: str = ""


@dataclass(frozen=True)
class Tiers:
    """What is known of the results of a store.

    Attributes
    ----------
    recomputed, timed : mapping
        The checksums of the results, by the keys of their cells; a result that was changed since
        is only reported.
    withdrawn : mapping
        Reasons, by the keys of cells; `ALL` stands for all of them.
    """

    recomputed: Mapping[str, str] = field(default_factory=dict)
    timed: Mapping[str, str] = field(default_factory=dict)
    withdrawn: Mapping[str, str] = field(default_factory=dict)

    def of(self, key: str, checksum: str) -> Tier:
        """Return the tier of a result."""
        for name in (key, ALL):
            if name in self.withdrawn:
                return Tier(WITHDRAWN, self.withdrawn[name])
        if self.timed.get(key) == checksum:
            return Tier(TIMED)
        return Tier(RECOMPUTED if self.recomputed.get(key) == checksum else REPORTED)

    def __or__(self, other: Tiers) -> Tiers:
        """Return what both know; of one result the other knows better."""
        return Tiers(
            {**self.recomputed, **other.recomputed},
            {**self.timed, **other.timed},
            {**self.withdrawn, **other.withdrawn},
        )


def beside(results: Path) -> Path:
    """Return the file of tiers that belongs to a store or a submission."""
    return results.with_name(f"{results.name}{SUFFIX}")


def graded(store: Path, tiers: Path | None = None) -> dict[str, Tier]:
    """Return the tier of each finished cell of a store, by its key.

    Parameters
    ----------
    store : Path
    tiers : Path, optional
        The file of tiers; the one beside the store where none is named.
    """
    known = read(tiers or beside(store))
    with Store(store) as opened_store:
        return {key: known.of(key, check) for key, check in opened_store.checksums().items()}


def read(path: Path) -> Tiers:
    """Read a file of tiers; nothing is known where there is none.

    Raises
    ------
    DataError
        Where it cannot be read, or is something else.
    """
    try:
        with opened(path) as file:
            text = file.read(LARGEST + 1)
    except FileNotFoundError:
        return Tiers()
    except OSError as error:
        raise DataError(f"cannot read the tiers {path}: {error.strerror or error}") from None
    try:
        return _tiers(json.loads(text) if len(text) <= LARGEST else None)
    except (ValueError, RecursionError) as error:
        said = f"{error}"[:200]
        raise DataError(f"{path} is no file of tiers ({said}); restore or remove it") from None


def write(tiers: Tiers, path: Path) -> None:
    """Write a file of tiers, all of it or nothing."""
    with replacing(path) as file:
        text = json.dumps({"format": FORMAT, **asdict(tiers)}, indent=1, sort_keys=True)
        file.write(f"{text}\n".encode())


def _tiers(value: Any) -> Tiers:
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise ValueError(f"it does not say that its format is {FORMAT!r}")
    parts = [value.get(name, {}) for name in ("recomputed", "timed", "withdrawn")]
    for part in parts:
        if not isinstance(part, dict) or not all(isinstance(v, str) for v in part.values()):
            raise ValueError("its parts are not texts by the keys of cells")
    return Tiers(*parts)
