"""The table of an atlas: it reads back, and refuses foreign and damaged files."""

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from orthobench.atlas import table as module
from orthobench.atlas.table import KINDS, Atlas, AtlasRow, read, write
from orthobench.errors import DataError

ABOUT = {"date": "2026-01-02", "versions": {"orthobench": "1"}}


def written(rows, path):
    write(Atlas(tuple(rows), ABOUT), path)
    return read(path)


def test_written_atlas_reads_back(rows, tmp_path):
    wild = replace(
        rows()[0], problem="=1+1", value=math.inf, seconds=math.nan, failed=True,
        d=10**12,
    )  # fmt: skip
    given = [*rows(), wild]
    found = written(given, tmp_path / "a.parquet")
    assert found.about == ABOUT
    assert len(found.rows) == len(given)
    for one, other in zip(given, found.rows, strict=True):
        for attribute, kind in KINDS.items():
            a, b = getattr(one, attribute), getattr(other, attribute)
            if kind == "float":
                np.testing.assert_allclose(a, b, rtol=2.0**-23, err_msg=attribute)
            else:
                assert a == b, attribute


def test_reading_and_writing_again_changes_no_bit(rows, tmp_path):
    found = written(rows(), tmp_path / "a.parquet")
    write(found, tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def foreign(path):
    parquet.write_table(pa.table({"suite": ["x"]}), path)


def other_types(path):
    write(Atlas((), {}), path)
    schema = parquet.read_schema(path)
    names = [one.name for one in schema]
    values = [pa.array(["x"]) for _ in names]
    parquet.write_table(
        pa.table(values, names=names).replace_schema_metadata(schema.metadata), path
    )


def fewer_columns(path):
    write(Atlas((), {}), path)
    parquet.write_table(parquet.read_table(path).drop_columns(["seed"]), path)


def without_values(path):
    write(Atlas(()), path)
    schema = parquet.read_schema(path)
    values = [pa.nulls(1, one.type) for one in schema]
    nullable = pa.schema([one.with_nullable(True) for one in schema], schema.metadata)
    parquet.write_table(pa.table(values, schema=nullable), path)


def cut(path):
    write(Atlas((AtlasRow(suite="s", family="f", problem="p", name="p", solver="x", solver_name="x",
                          seed=0, metric="gap", ending="done"),)), path)  # fmt: skip
    path.write_bytes(path.read_bytes()[:-40])


def text(path):
    path.write_text("suite,family\n")


def nothing(path):
    del path


def test_foreign_and_damaged_files_are_refused_in_a_line(tmp_path):
    for make in (foreign, other_types, fewer_columns, without_values, cut, text, nothing):
        path = tmp_path / f"{make.__name__}-a.parquet"
        make(path)
        with pytest.raises(DataError, match=r"a\.parquet") as error:
            read(path)
        assert "\n" not in str(error.value)


def test_a_flipped_byte_changes_no_number_unseen(rows, tmp_path):
    path = tmp_path / "a.parquet"
    write(Atlas(tuple(rows())), path)
    whole, sound = path.read_bytes(), read(path)
    for at in np.random.default_rng(0).integers(0, len(whole), 60).tolist():
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
        try:
            found = read(path)
        except DataError:
            continue
        assert repr(found.rows) == repr(sound.rows)  # NaN is not equal to itself


def of(metric, problem, family="PCA", suite="s"):
    return AtlasRow(
        suite=suite, family=family, problem=problem, name=problem, solver="a",
        solver_name="a", seed=0, metric=metric, ending="done",
    )  # fmt: skip


def test_kinds_are_named_by_family_and_rarer_metrics():
    rows = [
        of("sub_error", "p"), of("gap", "p"), of("gap", "p"), of("sub_error", "q"),
        of("residual", "t", "tensors"), of("loss", "t", "tensors"),
    ]  # fmt: skip
    found = Atlas(tuple(rows)).kinds
    assert [*found] == ["PCA", "PCA by gap", "tensors", "tensors by residual"]
    assert {name: {row.metric for row in own} for name, own in found.items()} == {
        "PCA": {"sub_error"}, "PCA by gap": {"gap"},
        "tensors": {"loss"}, "tensors by residual": {"residual"},
    }  # fmt: skip
    assert len(found["PCA by gap"]) == 2
    twice = (of("sub_error", "p"), of("gap", "p"), of("gap", "p", suite="other"))
    turned = Atlas(twice).kinds
    assert [*turned] == ["PCA", "PCA by sub error"]


def test_huge_files_are_refused(rows, tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    made = rows()
    write(Atlas(tuple(made), ABOUT), path)
    size = sum(
        parquet.ParquetFile(path).metadata.row_group(i).total_byte_size
        for i in range(parquet.ParquetFile(path).num_row_groups)
    )
    for name, limit in (("MOST_ROWS", len(made)), ("MOST_BYTES", size)):
        with monkeypatch.context() as patched:
            patched.setattr(module, name, limit)
            assert len(read(path).rows) == len(made)
            patched.setattr(module, name, limit - 1)
            assert read(path, rows=False).about == ABOUT
            with pytest.raises(DataError, match="too many"):
                read(path)
