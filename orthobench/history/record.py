"""The finished runs and times of a history, in an SQLite file, each in its own transaction."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from orthobench.errors import StoreError
from orthobench.tools.files import refuse_link


class Record:
    """Runs and times as JSON values, by the digests of what they depend on.

    Parameters
    ----------
    path : Path
        Created if it does not exist.

    Raises
    ------
    StoreError
        If it is another kind of file, or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        refuse_link(path)
        self.path = path
        self._run("CREATE TABLE IF NOT EXISTS run (digest TEXT PRIMARY KEY, reply TEXT)")

    def get(self, digest: str) -> Any:
        """Return a run or a time, or None."""
        rows = self._run("SELECT reply FROM run WHERE digest = ?", digest)
        return json.loads(rows[0][0]) if rows else None

    def put(self, digest: str, reply: Any) -> None:
        """Keep a run or a time."""
        self._run("INSERT OR REPLACE INTO run VALUES (?, ?)", digest, json.dumps(reply))

    def _run(self, sql: str, *values: str) -> list[tuple[Any, ...]]:
        try:
            with closing(sqlite3.connect(self.path, timeout=60)) as connection, connection:
                return connection.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise StoreError(
                f"cannot use {self.path} as the record of a history ({error}); "
                "name another folder with --out"
            ) from None
