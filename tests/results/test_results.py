"""Results as tables: one row a checkpoint, with dtypes that do not depend on what failed."""

import io
import json
import math
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from records import altered

from orthobench import api
from orthobench.errors import StoreError
from orthobench.registry.suite_file import from_table
from orthobench.results.export import to_csv, write
from orthobench.results.results import Results
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


def test_a_folder_or_a_string_names_the_store_too(results):
    assert Results.read(str(results.path.parent)).records == results.records


def test_it_says_what_it_is(results):
    assert repr(results) == (
        "<Results of 'toys': 3 problems, 2 solvers, 18 cells, 6 failed, 1 not run yet; "
        f"{results.path}>"
    )


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


def test_the_chosen_runs_are_those_of_the_entries(results, frame):
    finals = frame[frame.chosen].groupby(["problem", "solver", "seed"]).last()
    for entry in results.entries:
        for record in entry.records:
            if record.trace:
                final = finals.gap[entry.problem, entry.solver, record.seed]
                assert final == record.trace[-1].metrics["gap"]
    assert len(finals) == sum(len(entry.records) for entry in results.entries)


def test_parameters_of_mixed_types_are_kept_as_they_are(results):
    mixed = [
        altered(record, settings={"a": a, "b": b, "c": None, "d": d})
        for record, a, b, d in zip(
            results.records, [1, 2.5, None], ["x", 1, True], [True, None, False], strict=False
        )
    ]
    frame = replace(results, records=mixed).to_pandas()
    dtypes = {name: str(frame[f"problem.{name}"].dtype) for name in "abcd"}
    assert dtypes == {"a": "float64", "b": "object", "c": "object", "d": "boolean"}


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


def test_json_lines_are_json_where_a_metric_is_no_number(results, tmp_path):
    record = next(r for r in results.records if r.trace)
    first = replace(record.trace[0], metrics={"gap": math.nan, "validation_gap": -math.inf})
    odd = replace(record, trace=(first, *record.trace[1:]))
    write(replace(results, records=[odd]), tmp_path / "odd.jsonl")

    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    lines = (tmp_path / "odd.jsonl").read_text().splitlines()
    rows = [json.loads(line, parse_constant=refuse) for line in lines]
    assert rows[0]["gap"] is rows[0]["validation_gap"] is None
    assert rows[1]["gap"] == record.trace[1].metrics["gap"]


@pytest.mark.parametrize(
    "text", ["tuning", "tuning = 1", '[tuning]\nscore = "best"', "a = [", "tolerance = 2"]
)
def test_a_store_whose_suite_was_damaged_is_refused(results, tmp_path, text):
    path = tmp_path / "damaged.sqlite"
    shutil.copy(results.path, path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE session SET text = ?", (text,))
    with pytest.raises(StoreError, match=r"damaged\.sqlite is damaged \(its suite"):
        Results.read(path)
