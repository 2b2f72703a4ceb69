"""Results as tables: one row a checkpoint, with dtypes that do not depend on what failed."""

import io
import math
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from records import altered

from orthobench import api
from orthobench.errors import StoreError, UsageError
from orthobench.harness.stopping import RunStatus
from orthobench.registry.suite_file import from_table
from orthobench.results.results import Results, to_csv
from orthobench.results.store import Store

TABLE = {
    "seeds": 2,
    "budget": {"steps": 6},
    "problem": [{"name": "leading-subspace", "n": [6, 8]}, {"name": "pictured"}],
    "solver": [
        {"name": "power", "step": {"tune": [0.5, 1.0]}},
        {"name": "power", "fault": "raise"},
    ],
}
STRINGS = ["key", "problem", "family", "solver", "status", "reason"]


@pytest.fixture(scope="module")
def results(toys, tmp_path_factory):
    """Runs of which some fail, and one is missing."""
    path = tmp_path_factory.mktemp("toys") / "results.sqlite"
    api.run(from_table(TABLE, "toys", toys.registry), path, executor="inline", quiet=True)
    with Store(path, write=True) as store:
        store.discard([store.records("toys")[0].key])
    return Results.read(path)


@pytest.fixture(scope="module")
def frame(results):
    return results.to_pandas()


def test_there_is_a_row_for_each_checkpoint(results, frame):
    record = results.records[1]
    rows = frame[frame.key == record.key]
    assert rows.steps.tolist() == [mark.work.steps for mark in record.trace]
    assert rows.flops.tolist() == [mark.work.flops for mark in record.trace]
    assert rows.seconds.tolist() == [mark.seconds for mark in record.trace]
    assert rows.gap.tolist() == [mark.metrics["gap"] for mark in record.trace]
    assert rows.number.tolist() == list(range(len(record.trace)))
    assert len(frame) == sum(max(len(r.trace), 1) for r in results.records)


def test_parameters_are_columns(frame):
    assert frame.groupby("problem")["problem.n"].unique().map(list).to_dict() == {
        "leading-subspace n=6": [6], "leading-subspace n=8": [8], "pictured": [6],
    }  # fmt: skip
    of_pictured = frame.problem == "pictured"
    assert frame["problem.fault"].notna().equals(of_pictured.astype("bool"))
    assert set(frame["solver.step"]) == {0.5, 1.0}


def test_dtypes_are_as_documented(frame):
    dtypes = frame.dtypes.astype(str).to_dict()
    assert dtypes == {
        **dict.fromkeys(STRINGS, "string"),
        "seed": "int64", "chosen": "bool",
        "problem.n": "Int64", "problem.k": "Int64", "problem.fault": "string",
        "solver.step": "float64", "solver.fault": "string",
        **dict.fromkeys(["number", "steps", "samples", "flops"], "Int64"),
        **dict.fromkeys(["seconds", "readout_seconds", "gap", "validation_gap"], "float64"),
        "constraint_violation": "float64",
    }  # fmt: skip
    assert list(frame)[:8] == [
        "key", "problem", "family", "solver", "seed", "status", "reason", "chosen",
    ]  # fmt: skip


def test_a_missing_run_is_a_row_without_numbers(results, frame):
    (row,) = frame[frame.status == "missing"].to_dict("records")
    assert row["key"] == results.records[0].key
    assert pd.isna(row["number"])
    assert math.isnan(row["gap"])
    assert row["problem.n"] == 6


def test_dtypes_do_not_depend_on_what_failed(results, frame):
    lost = [replace(record, trace=()) for record in results.records]
    emptied = replace(results, records=lost).to_pandas()
    assert emptied.dtypes.equals(frame[emptied.columns].dtypes)
    assert set(frame.columns) - set(emptied.columns) == {
        "gap", "validation_gap", "constraint_violation",
    }  # fmt: skip
    assert len(emptied) == len(lost)


def test_csv_has_the_same_columns_and_numbers(results, frame):
    file = io.BytesIO()
    to_csv(results, file)
    file.seek(0)
    read = pd.read_csv(file, dtype=str)  # which Python reads to the last digit
    assert list(read) == list(frame)
    for name in ("gap", "seconds", "steps", "problem.n"):
        np.testing.assert_array_equal(
            read[name].astype(float).to_numpy(), frame[name].to_numpy(float, na_value=np.nan)
        )


def test_a_store_without_runs_or_the_suite_is_refused(results, tmp_path):
    path = tmp_path / "results.sqlite"
    with Store(path, write=True):
        pass
    with pytest.raises(StoreError, match=f"nothing was run on the store {path} yet"):
        Results.read(tmp_path)
    with pytest.raises(UsageError, match=r"unknown suite in the store .*did you mean 'toys'"):
        Results.read(results.path, "toy")
    assert Results.read(results.path, "toys").records == results.records


@pytest.fixture
def told(results, toys, tmp_path):
    """A function that reads the results of a suite whose text in the store is another."""

    def read(text, **options):
        path = tmp_path / "results.sqlite"
        shutil.copy(results.path, path)
        some = {"seeds": 1, "problem": ["leading-subspace"], "solver": ["power"]}
        suite = from_table({**some, "budget": {"steps": 6}}, "toys", toys.registry)
        with Store(path, write=True) as store:
            store.begin(replace(suite, text=text), suite.cells(), "", {})
        return Results.read(path, **options)

    return read


def test_results_are_scored_and_compared_as_the_suite_says(told):
    for text, score, tolerance in (
        ("", "end", None),
        ("tuning.score = 'average'\ntolerance = 0.5", "average", 0.5),
        ("tuning.seeds = 1\ntolerance = 1e-9", "end", 1e-9),
    ):
        found = told(text)
        assert (found.score, found.tolerance) == (score, tolerance)
        assert {entry.tolerance for entry in found.entries} == {tolerance}
        assert told(text, tolerance=0.25).tolerance == 0.25


def test_a_suite_that_could_not_have_run_is_damage(told):
    for text in (
        "x =", "tuning = 1", "tuning.score = 'best'",
        *(f"tolerance = {value}" for value in (0, 1, 1.5, -0.1, "'1'", "nan")),
    ):  # fmt: skip
        with pytest.raises(StoreError, match="its suite is not"):
            told(text)


def test_records_are_told_apart_by_how_they_ended(results):
    assert {run.stop.status for run in results.failures} == {RunStatus.ERROR}
    assert [run.key for run in results.missing] == [results.records[0].key]
    assert results.refused == []
    refused = [altered(results.records[1], status=RunStatus.REFUSED)]
    some = replace(results, records=refused)
    assert (some.failures, some.missing, some.refused) == ([], [], refused)


def test_fingerprint_changes_with_each_part_of_a_report(results):
    same = replace(results, records=[*results.records])
    assert same.fingerprint() == results.fingerprint()
    assert len(same.fingerprint().split()[0]) == 16
    records = results.records
    others = [
        replace(results, score="average"), replace(results, tolerance=0.5),
        replace(results, records=records[:-1]), replace(results, records=records[::-1]),
        *(
            replace(results, records=[altered(records[0], **change), *records[1:]])
            for change in ({"checksum": "1"}, {"problem": "x"}, {"solver": "x"}, {"tuned": {}})
        ),
    ]  # fmt: skip
    prints = {one.fingerprint() for one in (results, *others)}
    assert len(prints) == 1 + len(others)
