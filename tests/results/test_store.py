import _thread
import math
import shutil
import signal
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace

import damaged_stores
import numpy as np
import pytest
from kinds import one_of

from orthobench.contract.exhibits import LARGEST, MOST, Image, packed
from orthobench.errors import StoreError, UsageError
from orthobench.harness.cell import execute
from orthobench.harness.stopping import RunStatus, Target, Termination
from orthobench.harness.trace import Outcome
from orthobench.registry.suite_file import from_table
from orthobench.results import rows, schema
from orthobench.results.runs import Run
from orthobench.results.store import Store
from orthobench.tools.machine import Load

TABLE = {
    "seeds": 2,
    "budget": {"steps": 6},
    "problem": [{"name": "leading-subspace"}],
    "solver": [{"name": "power", "step": {"tune": [0.5, 1]}}, {"name": "power", "fault": "raise"}],
}


@pytest.fixture(scope="module")
def suite(toys):
    return from_table(TABLE, "toys", toys.registry)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.sqlite"


WRITTEN = {}
"""Suites by their identity, each with its cells and the bytes of its store."""


def fill(path, suite):
    """Put a copy of the store of a suite at a path, and return the cells."""
    if id(suite) not in WRITTEN:
        WRITTEN[id(suite)] = suite, write(path, suite), path.read_bytes()
    _, planned, store = WRITTEN[id(suite)]
    path.write_bytes(store)
    return planned


def write(path, suite, upto=None):
    planned = suite.cells()
    with Store(path, write=True) as store:
        session = store.begin(suite, planned, "test", {"cpu": "toy"})
        for p in planned[:upto]:
            store.add(session, [(p, execute(p))])
        if upto is None:
            store.end(session)
    return planned


def test_runs_come_back_as_they_were(path, suite):
    planned = fill(path, suite)
    with Store(path) as store:
        records = store.records("toys")
    assert [r.key for r in records] == [p.key for p in planned]
    for p, record in zip(planned, records, strict=True):
        again = execute(p)
        assert record.stop.status is again.stop.status
        assert [m.work for m in record.trace] == [m.work for m in again.trace]
        assert [m.metrics for m in record.trace] == [m.metrics for m in again.trace]
        assert record.start == record.trace[0].metrics[record.problem.primary]
        assert record.solver.tuned == p.tuned
        assert record.seed == p.seed
        assert record.solver.reruns is p.solver.reruns is False
        assert len(bytes.fromhex(record.checksum)) == 16
    assert {(r.session, Run.of(p).session) for r, p in zip(records, planned, strict=True)} == {
        (1, 0)
    }


def test_a_cell_is_written_once(path, suite):
    planned = fill(path, suite)
    with Store(path, write=True) as store:
        session = store.begin(suite, planned, "again", {})
        assert store.known(p.key for p in planned) == {p.key for p in planned}
        store.add(session, [(planned[0], Outcome(Termination(RunStatus.ERROR, "late")))])
        assert store.records("toys")[0].stop.status is not RunStatus.ERROR


def test_load_and_levels_come_back_from_a_merged_store(path, suite, tmp_path):
    levels = Target("gap", 0.5), Target("rank", 3.0)
    problems = tuple(replace(problem, levels=levels) for problem in suite.problems)
    leveled = replace(suite, problems=problems)
    loads = [(Load(4, 6.25), Load(4, None)), None]
    with Store(path, write=True) as store:
        session = store.begin(leveled, leveled.cells()[:2], "", {})
        for cell, load in zip(leveled.cells(), loads, strict=False):
            store.add(session, [(cell, replace(execute(cell), load=load))])
    with Store(tmp_path / "other.sqlite", write=True) as other:
        other.merge(path)
        records = other.records(suite.name)
    assert [record.load for record in records] == loads
    assert {record.problem.levels for record in records} == {levels}


def test_nan_and_infinite_metrics_come_back(path, suite):
    planned = suite.cells()[:1]
    executed = execute(planned[0])
    odd = replace(executed.trace[0], metrics={"gap": float("nan"), "size": float("inf")})
    with Store(path, write=True) as store:
        session = store.begin(suite, planned, "", {})
        store.add(session, [(planned[0], Outcome(executed.stop, (odd,)))])
        metrics = store.records("toys")[0].trace[0].metrics
    assert metrics["gap"] != metrics["gap"]
    assert metrics["size"] == float("inf")


def count(path, query):
    """The rows of a query; a zero while the store is not there yet."""
    if not path.exists():
        return [(0,)]
    connection = sqlite3.connect(path)
    try:
        return connection.execute(query).fetchall()
    except sqlite3.OperationalError:
        return [(0,)]
    finally:
        connection.close()


def refused(path, said):
    before = path.read_bytes()
    with pytest.raises(StoreError, match=said):
        Store(path, write=True)
    assert path.read_bytes() == before


def test_a_store_of_another_version_is_refused(path, suite):
    for version in (-1, 0, 1, schema.VERSION - 1, schema.VERSION + 1, 99):
        fill(path, suite)
        change(path, f"PRAGMA user_version = {version}")
        refused(path, f"reads {schema.VERSION} only: run its suite again")


def change(path, *statements):
    """Run statements on a file."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(";".join(statements))


@pytest.mark.parametrize("change_of", [
    "seconds = seconds / 2", "start = 2 * start", "load = NULL", "metrics = zeroblob(24)",
    "status = 'done'", "checksum = x''", "trace = x'00'",
])  # fmt: skip
def test_a_changed_result_is_refused(path, suite, change_of):
    fill(path, suite)
    change(path, f"UPDATE run SET {change_of}")  # noqa: S608
    with Store(path) as store, pytest.raises(StoreError, match="is not what was written"):
        store.records("toys")


def resealed(path):
    """Make the checksum right again, as anybody can who knows how."""
    with closing(sqlite3.connect(path)) as connection, connection:
        damaged_stores.resealed(connection)


FORGERIES = {
    "UPDATE cell SET seed = 'x' WHERE id = 1": "the seed is text in the row 1 of .* cell",
    "UPDATE run SET flops = 0.5 WHERE cell = 1": "the flops is real in the row 1",
    "UPDATE session SET command = x'00'": "the command is blob in the row 1",
    "DROP TABLE exhibit": "the table exhibit is missing",
    "UPDATE run SET session = 9": "seed 0: its session 9 is missing",
    "UPDATE cell SET seed = seed + 7": "is not the digest of its content",
    "UPDATE run SET trace = 'x' WHERE cell = 1": "the trace is text in the row 1",
    "ALTER TABLE plan ADD COLUMN x": "the 'table plan' is none that orthobench makes",
    "DELETE FROM cell": "it has no cell",
    "DELETE FROM text WHERE id = (SELECT settings FROM cell)": "the text . is missing",
    "UPDATE text SET value = '[' WHERE id = (SELECT settings FROM cell)": "is not JSON",
    "UPDATE text SET value = replace(value, ':6', ':[6]') WHERE value LIKE '%\"n\":6%'":
        "the parameters of the problem are not single values",
}  # fmt: skip
SEALED = {
    "UPDATE run SET seconds = 1e308": "it took 1e.308 seconds",
    "UPDATE run SET steps = -steps - 1": "it counts steps as -",
    "UPDATE run SET points = 0": "it has 0 checkpoints",
    "UPDATE run SET flops = NULL": "it counts flops as None",
    "UPDATE run SET points = 1000000": "a trace cannot have 999999 checkpoints",
    "UPDATE run SET metrics = x'00'": "its metrics are not 3 numbers",
    "UPDATE run SET start = 2 * start": "it does not begin as the result says",
    "UPDATE run SET status = 'fine'": "'fine' is not a valid RunStatus",
    "UPDATE run SET trace = x'00'": "its trace cannot be read",
    "UPDATE run SET load = '[[0,1,1],[0,1,1]]'": "its load is not of numbers",
}


def test_exhibits_that_are_too_large_together_are_refused(path, pictured, monkeypatch):
    planned = fill(path, pictured)
    monkeypatch.setattr(rows, "TOGETHER", 1)
    with Store(path) as store, pytest.raises(StoreError, match="more than 1 entries together"):
        store.exhibits([cell.key for cell in planned])


@pytest.mark.parametrize(("number", "shape"), [(MOST + 1, (1, 1)), (2, (2, LARGEST // 4 + 1))])
def test_more_exhibits_than_a_run_can_have_are_refused(path, pictured, tmp_path, number, shape):
    planned = fill(path, pictured)
    parts = packed(Image(np.zeros(shape)))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM exhibit")
        rows = [(str(i), *parts) for i in range(number)]
        connection.executemany("INSERT INTO exhibit VALUES (1, ?, ?, ?, ?)", rows)
    with Store(path) as store, pytest.raises(StoreError, match="at most 64 exhibits"):
        store.exhibits([planned[0].key])
    other = Store(tmp_path / "other.sqlite", write=True)
    with other, pytest.raises(StoreError, match="at most 64 exhibits"):
        other.merge(path)


def read_all(path):
    with Store(path) as store:
        return [list(record.trace) for record in store.records("toys")]


@pytest.mark.parametrize("forgery", one_of(3, [*FORGERIES, *SEALED]))
def test_forged_rows_are_refused_by_reading_and_merging(path, suite, tmp_path, forgery):
    fill(path, suite)
    change(path, forgery)
    if forgery in SEALED:
        resealed(path)
    with pytest.raises(StoreError, match={**FORGERIES, **SEALED}[forgery]) as refusal:
        read_all(path)
    assert str(path) in str(refusal.value)
    with Store(tmp_path / "other.sqlite", write=True) as other, pytest.raises(StoreError):
        other.merge(path)
    assert count(tmp_path / "other.sqlite", "SELECT count(*) FROM cell") == [(0,)]


@pytest.mark.parametrize(("alien", "said"), [
    ("DROP TABLE plan; CREATE VIEW plan AS SELECT 1", "view plan"),
    ("CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM exhibit; END", "trigger t"),
    ("CREATE TABLE sums (x, y AS (x + 1))", "table sums"),
    ("CREATE INDEX slow ON text (value LIKE '%a%b')", "index slow"),
])  # fmt: skip
def test_store_with_other_than_its_tables_is_refused(path, suite, alien, said):
    fill(path, suite)
    change(path, alien)
    refused(path, said)
    with pytest.raises(StoreError, match=said):
        Store(path)


@pytest.mark.parametrize("damage", [
    "UPDATE run SET flops = 1.5 WHERE cell = 2",
    "UPDATE run SET trace = x'00' WHERE cell = 2",
    "UPDATE run SET session = 77 WHERE cell = 2",
    "UPDATE cell SET seed = 77 WHERE id = 2",
])  # fmt: skip
def test_unreadable_rows_are_dropped_and_named_on_request(path, suite, tmp_path, damage):
    planned = fill(path, suite)
    change(path, damage)
    if "trace" in damage:
        resealed(path)
    other = tmp_path / "rest.sqlite"
    with Store(other, write=True) as store:
        with pytest.raises(StoreError, match=r"is damaged .*--drop-unreadable"):
            store.merge(path)
        dropped = []
        assert store.merge(path, dropped) == len(planned) - 1
    assert any("power" in row for row in dropped)


@pytest.fixture
def interruptible():
    """Python's own answer to an interrupt, which shells take from what runs in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_a_signal_ends_a_query(path, suite):
    fill(path, suite)
    with Store(path) as store, store._reported():
        timer = threading.Timer(0.1, _thread.interrupt_main)
        timer.start()
        with pytest.raises(sqlite3.OperationalError, match="interrupted"):
            store._connection.execute(f"{ENDLESS} LIMIT 1 OFFSET 100000000").fetchone()


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"


@pytest.mark.parametrize("journal", ["WAL", "DELETE"])
def test_reading_writes_nothing(path, suite, tmp_path, journal):
    fill(path, suite)
    change(path, f"PRAGMA journal_mode = {journal}")
    before = {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in tmp_path.iterdir()}
    with Store(path) as store:
        assert store.records("toys")
        with pytest.raises(StoreError, match="readonly"):
            store.discard([store.records("toys")[0].key])
    assert {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in tmp_path.iterdir()} == before


def test_run_under_way_is_read_with_its_finished_cells(path, suite):
    planned = suite.cells()
    with Store(path, write=True) as writing:
        session = writing.begin(suite, planned, "test", {})
        for done, cell in enumerate(planned, 1):
            writing.add(session, [(cell, execute(cell))])
            with Store(path) as reading:
                runs = reading.records("toys")
            assert sum(run.stop.status is not RunStatus.MISSING for run in runs) == done


@pytest.fixture(scope="module")
def pictured(toys):
    table = {**TABLE, "problem": [{"name": "pictured"}], "solver": [{"name": "power"}]}
    return from_table(table, "toys", toys.registry)


def test_exhibits_come_back_in_their_order(path, pictured):
    planned = fill(path, pictured)
    with Store(path) as store:
        found = store.exhibits(p.key for p in planned)
    for p in planned:
        made = execute(p).exhibits
        assert list(found[p.key]) == list(made) == ["point", "truth", "curve", "diagonal"]
        for name, exhibit in found[p.key].items():
            assert packed(exhibit) == packed(made[name])


def test_discarded_cells_are_gone_with_their_exhibits(path, pictured):
    planned = fill(path, pictured)
    with Store(path, write=True) as store:
        store.discard([planned[0].key])
        assert store.records(pictured.name)[0].stop.status is RunStatus.MISSING
        assert store.exhibits([planned[0].key]) == {planned[0].key: {}}
    assert count(path, "SELECT count(DISTINCT cell) FROM exhibit") == [(1,)]


def test_damaged_exhibit_is_refused_with_name_and_cell(path, pictured):
    planned = fill(path, pictured)
    key = planned[1].key
    with sqlite3.connect(path) as connection:
        connection.execute(
            "UPDATE exhibit SET data = x'00FF' WHERE name = 'truth' AND cell ="
            " (SELECT id FROM cell WHERE key = ?)",
            (bytes.fromhex(key),),
        )
    connection.close()
    with Store(path) as store:
        assert store.records("toys")
        assert store.exhibits([planned[0].key])
        said = rf"exhibit 'truth' of the cell {key[:12]} is no exhibit"
        with pytest.raises(StoreError, match=said):
            store.exhibits([key])


def test_a_damaged_store_is_refused(path, suite):
    fill(path, suite)
    raw = bytearray(path.read_bytes())
    raw[16384:49152] = b"\x55" * 32768
    path.write_bytes(raw)
    refused(path, "damaged")


def test_links_at_or_beside_a_store_are_refused(path, tmp_path):
    for suffix in ("", "-wal", "-shm", "-journal", "-lock"):
        link = path.with_name(f"{path.name}{suffix}")
        link.symlink_to(tmp_path / "elsewhere")
        with pytest.raises(UsageError, match="nothing is written through links"):
            Store(path, write=True)
        link.unlink()
    assert not [*tmp_path.iterdir()]


def test_one_process_writes_a_store_and_others_read_it(path, monkeypatch):
    monkeypatch.setattr("orthobench.tools.files.PAUSE", 0.0)
    with Store(path, write=True) as one:
        with pytest.raises(StoreError, match=r"another process writes the store .*--store"):
            Store(path, write=True)
        with Store(path) as other:
            assert other.suites() == one.suites() == []
    with Store(path, write=True):
        pass


def test_latest_session_counts_and_latest_suite_is_last(path, suite):
    other = replace(suite, name="other", text="# other")
    with Store(path, write=True) as store:
        for i, one in enumerate((suite, other, replace(suite, text="# again"))):
            number = store.begin(one, one.cells()[:1], f"call {i}", {"number": i})
            if i < 2:
                store.end(number)
        assert store.suites() == ["other", "toys"]
        assert [one["suite"] for one in store.sessions().values()] == ["toys", "other", "toys"]
        ours, theirs = store.session("toys"), store.session("other")
        assert (ours["text"], ours["command"], ours["ended"]) == ("# again", "call 2", None)
        assert ours["environment"] == {"number": 2}
        assert (theirs["text"], theirs["command"]) == ("# other", "call 1")
        assert theirs["started"] <= theirs["ended"]
        assert theirs["ended"].endswith("+00:00")


def test_new_plan_replaces_the_old_and_more_is_added_once(path, suite):
    cells = suite.cells()
    with Store(path, write=True) as store:
        session = store.begin(suite, cells[:3], "", {})
        store.add(session, [(cells[0], execute(cells[0]))])
        store.plan(suite.name, cells[2:4])
        keys = [cell.key for cell in cells]
        assert [run.key for run in store.records(suite.name)] == keys[:4]
        other = replace(cells[4], position=cells[3].position, solver_label=cells[3].solver_label)
        store.plan(suite.name, [other])
        assert [run.key for run in store.records(suite.name)] == [*keys[:3], other.key]
        store.begin(suite, cells[1:2], "", {})
        assert [run.key for run in store.records(suite.name)] == keys[1:2]
        assert store.known(keys) == {run.key for run in store.runs()} == {keys[0]}
        assert [run.key for run in store.runs()] == keys[:1]


def test_a_missing_store_is_said_and_not_made(path):
    with pytest.raises(StoreError, match="there is no store"):
        Store(path)
    assert not path.exists()


def rotten(outcome, seconds=None, work=None, extra=None, **stop):
    """An outcome with something in it that no store can hold."""
    last = outcome.trace[-1]
    marks = [
        replace(
            mark,
            seconds=mark.seconds if seconds is None else seconds,
            work=replace(mark.work, **(work or {})) if work != {} else None,
            metrics={**mark.metrics, **(extra or {})},
        )
        for mark in (outcome.trace[0], last)
    ]
    return replace(outcome, trace=tuple(marks), stop=replace(outcome.stop, **stop))


ROTTEN = [
    {"seconds": math.nan}, {"seconds": -1.0}, {"seconds": "soon"},
    {"seconds": math.inf}, {"work": {"flops": 1.5}}, {"work": {"flops": None}},
    {"work": {"flops": math.nan}}, {"work": {"flops": 10**30}}, {"work": {"steps": -1}},
    {"work": {"steps": 2**70}}, {"work": {"samples": "many"}}, {"work": {}},
    {"work": {"flops": np.float64(7)}}, {"extra": {"peak_bytes": "a lot"}},
    {"extra": {"peak_bytes": [1]}},
]  # fmt: skip


def test_unreadable_outcome_is_the_error_of_its_cell_alone(path, suite):
    cell = suite.cells()[0]
    planned = [replace(cell, seed=n, position=n) for n in range(len(ROTTEN) + 1)]
    sound = execute(planned[0])
    finished = [sound, *(rotten(sound, **fault) for fault in ROTTEN)]
    with Store(path, write=True) as store:
        session = store.begin(suite, planned, "test", {})
        store.add(session, zip(planned, finished, strict=True))
        store.end(session)
    with Store(path) as store:
        first, *others = store.records("toys")
    assert [mark.metrics for mark in first.trace] == [mark.metrics for mark in sound.trace]
    for record, fault in zip(others, ROTTEN, strict=True):
        assert record.stop.status is RunStatus.ERROR, fault
        assert "power: what it gave cannot be kept" in record.stop.reason, fault


@pytest.mark.parametrize("text", ["bad \udcff", "a\0b", "x" * 10**6, "\ud800" * 10**5, 7])
def test_any_text_about_an_ending_is_kept(path, suite, text):
    (cell, *_) = planned = suite.cells()
    outcome = Outcome(Termination(RunStatus.ERROR, text, text))
    with Store(path, write=True) as store:
        store.add(store.begin(suite, planned, "test", {}), [(cell, outcome)])
    with Store(path) as store:
        (record, *_) = store.records("toys")
    assert record.stop == outcome.stop
    assert len(record.stop.reason) < 10**5


@pytest.mark.parametrize("how", ["removed", "replaced", "folder"])
def test_store_removed_while_written_is_noticed(tmp_path, suite, how):
    path = tmp_path / "folder" / "store.sqlite"
    planned = suite.cells()
    with Store(path, write=True) as store:
        session = store.begin(suite, planned, "test", {})
        store.add(session, [(planned[0], execute(planned[0]))])
        if how == "folder":
            shutil.rmtree(path.parent)
        else:
            path.unlink()
        if how == "replaced":
            path.write_bytes(b"")
        with pytest.raises(StoreError, match="was removed or replaced while it was written"):
            store.add(session, [(planned[1], execute(planned[1]))])


def test_unwritable_text_is_not_called_damage(path, suite):
    planned = fill(path, suite)
    with Store(path, write=True) as store:
        session = store.begin(suite, planned, "test", {"cpu": "toy"})
        with pytest.raises(ValueError, match="surrogates not allowed") as refusal:
            store.begin(suite, planned, "bad \udcff", {})
        assert "damaged" not in str(refusal.value)
        store.end(session)
