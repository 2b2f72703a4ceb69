"""The results of a history that are there already, in a file that survives the end of any process.

Each result is a row of an SQLite table, written in a transaction of its own.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from orthobench.errors import StoreError
from orthobench.tools.files import refuse_link


class Record:
    """Plain values by their kind and their key.

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
        self._run(
            "CREATE TABLE IF NOT EXISTS history "
            "(kind TEXT, key TEXT, value TEXT, PRIMARY KEY (kind, key))"
        )

    def get(self, kind: str, *key: Any) -> Any:
        """Return a value, or None if there is none or it cannot be read."""
        rows = self._run(
            "SELECT value FROM history WHERE kind = ? AND key = ?", kind, json.dumps(key)
        )
        with suppress(ValueError, TypeError):
            return json.loads(rows[0][0]) if rows else None
        return None

    def put(self, value: Any, kind: str, *key: Any) -> None:
        """Keep a value."""
        row = kind, json.dumps(key), json.dumps(value)
        self._run("INSERT OR REPLACE INTO history VALUES (?, ?, ?)", *row)

    def _run(self, sql: str, *values: str) -> list[tuple[Any, ...]]:
        try:
            with closing(sqlite3.connect(self.path, timeout=60)) as connection, connection:
                return connection.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise StoreError(
                f"cannot use {self.path} as the record of a history ({error}); "
                "name another folder with --out"
            ) from None
