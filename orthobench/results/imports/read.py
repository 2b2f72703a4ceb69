"""The import of results: the format of each file is found out, and its runs are put in a store."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from orthobench._version import __version__
from orthobench.results.imports import archives, tables
from orthobench.results.imports.curves import Curve, runs_of
from orthobench.results.imports.files import contents
from orthobench.results.store import Store
from orthobench.tools.files import hide_home

SUITE = "imported"
"""The name of the suite of imported runs, unless another is given."""


def curves_of(path: Path) -> list[Curve]:
    """Return the curves of a table, or of an archive or a folder of COCO or IOHprofiler.

    Raises
    ------
    DataError
        If it is none of these, or damaged; says the row.
    """
    files = contents(path)
    found: list[Curve] = []
    for name in sorted(files):
        if name.endswith((".csv", ".tsv")):
            found += tables.curves(tables.delimited(files[name], name), name)
        elif name.endswith(".parquet"):
            found += tables.curves(tables.parquet(files[name], name), name)
    return found or archives.coco(files) or archives.ioh(files)


def import_results(
    paths: Sequence[Path], store: Path, suite: str = SUITE, command: str = ""
) -> int:
    """Read results of another harness into a store, as one suite.

    What the suite had in the store before is no longer part of it.

    Parameters
    ----------
    paths : sequence of Path
        Tables, folders or archives.
    store : Path
    suite : str
    command : str
        What the store says of how it was made.

    Returns
    -------
    int
        Number of runs.

    Raises
    ------
    DataError, UsageError
        If they cannot be read; nothing is written then.
    """
    source = ", ".join(path.name for path in paths)
    curves = [curve for path in paths for curve in curves_of(path)]
    runs = runs_of(curves, source)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    session = {
        "suite": suite, "text": f"description = {json.dumps(f'imported from {source}')}\n",
        "command": hide_home(command), "environment": {"orthobench": __version__},
        "started": now, "ended": now,
    }  # fmt: skip
    with Store(store, write=True) as opened:
        opened.take(session, runs)
    return len(runs)
