"""Full disks, truncated stores, foreign files: a clear message, and no other damage."""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orthobench import api
from orthobench.errors import OrthobenchError, StoreError
from orthobench.harness.cell import execute
from orthobench.registry.suite_file import from_table
from orthobench.results.store import Store

MANY = settings(
    max_examples=10_000, suppress_health_check=list(HealthCheck), derandomize=True, deadline=None
)
FEW = settings(MANY, max_examples=100)


@pytest.fixture(scope="module")
def filled(tmp_path_factory, toys):
    """A sound store of a few cells."""
    table = {
        "seeds": 3,
        "budget": {"steps": 30},
        "problem": [{"name": "leading-subspace"}],
        "solver": [{"name": "power"}, {"name": "power", "fault": "raise"}],
    }
    path = tmp_path_factory.mktemp("filled") / "store.sqlite"
    suite = from_table(table, "toys", toys.registry)
    planned = suite.cells()
    with Store(path, write=True) as store:
        session = store.begin(suite, planned, "test", {"cpu": "toy"})
        for p in planned:
            store.add(session, [(p, execute(p))])
        store.end(session)
    return path


def read(path):
    """All records of a store, or the refusal."""
    with Store(path) as store:
        records = [record for suite in store.suites() for record in store.records(suite)]
    assert all(len(list(record.trace)) == len(record.trace) for record in records)
    return records


@pytest.mark.parametrize("share", [0.001, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_store_is_refused_and_not_changed(tmp_path, filled, share):
    path = tmp_path / "cut.sqlite"
    path.write_bytes(filled.read_bytes()[: int(share * filled.stat().st_size)])
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"damaged|not an orthobench store"):
        read(path)
    assert path.read_bytes() == before


def test_a_number_that_was_changed_is_noticed(tmp_path, filled):
    path = tmp_path / "changed.sqlite"
    shutil.copy(filled, path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE run SET flops = flops + 1 WHERE cell = 1")
    with pytest.raises(StoreError, match=r"damaged \(power.* seed 0: it is not what was written"):
        read(path)


@FEW
@given(content=st.binary(max_size=4096))
def test_foreign_files_are_refused(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("foreign") / "store.sqlite"
    path.write_bytes(content)
    with pytest.raises(StoreError):
        read(path)
    assert path.read_bytes() == content


@pytest.fixture
def small_disk(tmp_path):
    """A file system of a few pages."""
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(
        ["/bin/mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    if made.returncode:
        pytest.skip("mounting a small file system is not allowed here")
    yield folder
    subprocess.run(["/bin/umount", "-l", str(folder)], check=True)


@pytest.mark.wide
def test_a_full_disk_is_said_and_the_store_still_opens(small_disk, faults, tmp_path):
    (tmp_path / "suite.toml").write_text(
        'seeds = 60\n[budget]\nsamples = 150\n[[problem]]\nname = "cloud"\n[[solver]]\n'
        'name = "sound"\nnumber = [0, 1, 2, 3, 4]\n'
    )
    store = small_disk / "store.sqlite"
    path = os.pathsep.join([str(faults.folder), *sys.path])
    run = subprocess.run(
        [sys.executable, "-m", "orthobench", "run", "suite.toml", "--store", str(store),
         "--no-figures", "-q", "--executor", "inline"],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True,
        check=False, timeout=300,
    )  # fmt: skip
    assert run.returncode == 2
    assert "full" in run.stderr
    assert "Traceback" not in run.stderr
    copy = tmp_path / "copy.sqlite"
    for part in small_disk.glob("store.sqlite*"):
        shutil.copy(part, tmp_path / part.name.replace("store", "copy"))
    with closing(sqlite3.connect(copy)) as connection:
        (finding,) = connection.execute("PRAGMA quick_check").fetchone()
    assert finding == "ok"
    assert 0 < sum(r.ok for r in read(tmp_path / "copy.sqlite")) < 300


def test_a_store_that_cannot_be_used_is_refused_before_anything_runs(tmp_path):
    path = tmp_path / "store.sqlite"
    path.write_bytes(b"not a store, but somebody's letters" * 100)
    with pytest.raises(OrthobenchError, match="not an orthobench store"):
        api.run("quickstart", path, quiet=True)
