"""The page on the store names every table, column and status that there is."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

from orthobench.harness.stopping import RunStatus
from orthobench.results import schema
from orthobench.results.results import COUNTS, LABELS, TIMES

PAGE = Path(__file__).parents[2] / "docs" / "store.md"


def columns():
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(schema.TABLES)
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master")]
        return {
            table: {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
            for table in tables
            if not table.startswith("sqlite_")
        }


def test_every_table_and_column_is_documented():
    sections = re.split(r"^### ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    documented = {}
    for section in sections:
        name = re.match(r"`(\w+)`", section)[1]
        rows = [row for row in section.splitlines() if row.startswith("| `")]
        cells = [row.split("|")[1] for row in rows]
        documented[name] = {column for cell in cells for column in re.findall(r"`(\w+)`", cell)}
    for table, names in columns().items():
        assert names <= documented[table], table
    assert documented.keys() == columns().keys()


def test_every_status_is_documented():
    page = PAGE.read_text(encoding="utf-8")
    for ending in set(RunStatus) - {RunStatus.MISSING}:
        row = re.search(rf"^\| `{ending.value}` \|.*\| (yes|no).*\|$", page, flags=re.MULTILINE)
        assert row, ending
        assert (row[1] == "yes") is (ending.failed)


def test_the_version_and_the_query_are_right():
    page = PAGE.read_text(encoding="utf-8")
    assert f"`PRAGMA user_version`: {schema.VERSION}." in page
    (query,) = re.findall(r"```sql\n(.*?)```", page, flags=re.DOTALL)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(schema.TABLES)
        assert connection.execute(query).fetchall() == []


def test_columns_of_exports_are_documented():
    page = PAGE.read_text(encoding="utf-8")
    section = page.split("## Reading and moving it", 1)[1]
    for name in (*LABELS, *COUNTS, *TIMES):
        assert f"`{name}`" in section, name
    added = re.findall(r"seconds \+ (\w+)\)", section)
    added += re.findall(r'pl\.col\("seconds"\) \+ pl\.col\("(\w+)"\)', section)
    assert added == [TIMES[1]] * 2
