"""Gene expression: RData and CSV read as they are, split, and scaled gene by gene."""

import hashlib
import os
import sys

import numpy as np
import pytest
from drawn import built, rng
from orthobench_sparse_pca.problems import prostate
from orthobench_sparse_pca.problems.prostate import Prostate, read_csv, read_rdata

from orthobench.errors import DataError, UsageError
from orthobench.tools import datasets

needs_singh = pytest.mark.needs_data(prostate.SINGH)


def expression(samples=12, genes=30):
    return np.round(rng(5).standard_normal((samples, genes)) * 50, 3)


# --- RData ---


def frame(x):
    """A data frame as rdata reads those of R: real columns, integer ones, and factors beside."""
    import pandas as pd

    table = pd.DataFrame(x, columns=[f"V{j + 1}" for j in range(x.shape[1])])
    return table.astype({"V2": "Int32"})


def write(path, content):
    pytest.importorskip("rdata").write_rda(path, content)
    return path


def integers_in(x, *columns):
    x = x.copy()
    x[:, columns] = np.round(x[:, columns])
    return x


@pytest.mark.parametrize("form", [frame, np.asarray], ids=["data frame", "matrix"])
def test_the_matrix_of_an_rdata_file_is_read_as_float64(tmp_path, form):
    pd = pytest.importorskip("pandas")
    x = integers_in(expression(), 1)
    y = pd.Categorical(["Tumor", "Normal"] * 6)
    found = read_rdata(write(tmp_path / "a.RData", {"singh": {"x": form(x), "y": y}}), "singh")
    assert found.dtype == np.float64
    assert found.flags.c_contiguous
    assert np.array_equal(found, x)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lambda x: {"other": {"x": x}}, "holds no list 'singh' with a matrix x in it, but other"),
        (lambda x: {"singh": x}, "holds no list 'singh' with a matrix x in it"),
        (lambda x: {"singh": {"x": x[0]}}, r"must be a matrix .* not of shape \(30,\)"),
        (lambda x: {"singh": {"x": x * 1j}}, "must be numbers: sample 0, gene 0"),
    ],
)
def test_rdata_without_the_matrix_of_numbers_is_refused(tmp_path, content, message):
    path = write(tmp_path / "a.RData", content(expression()))
    with pytest.raises(DataError, match=message) as raised:
        read_rdata(path, "singh")
    assert "a.RData" in str(raised.value)


def test_damaged_and_foreign_files_are_refused(tmp_path):
    path = write(tmp_path / "a.RData", {"singh": {"x": expression()}})
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], whole[:20], b"", b"not R at all", b"\x1f\x8b" * 9):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"a\.RData cannot be read as an RData file"):
            read_rdata(path, "singh")
    with pytest.raises(DataError, match=r"nowhere\.RData cannot be read"):
        read_rdata(tmp_path / "nowhere.RData", "singh")


def test_without_rdata_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rdata", None)
    with pytest.raises(UsageError, match=r"needs the package rdata .*pip install 'orthobench\[dat"):
        read_rdata(tmp_path / "a.RData", "singh")


# --- the published data, and a stand-in for them ---


@pytest.fixture
def served(tmp_path, monkeypatch):
    """A small singh.RData in the data folder, with its checksum."""
    x = expression(20, 40)
    path = write(tmp_path / "singh.RData", {"singh": {"x": x}})
    file = datasets.DataFile(path.name, hashlib.sha256(path.read_bytes()).hexdigest(), (), "me")
    monkeypatch.setattr(prostate, "SINGH", file)
    monkeypatch.setenv("ORTHOBENCH_DATA", str(tmp_path))
    return x


def test_genes_are_standardized_or_centred_over_all_samples(served):
    A = built(Prostate()).oracle.A
    assert np.allclose(A, ((served - served.mean(axis=0)) / served.std(axis=0)).T)
    assert np.linalg.norm(A, axis=1) == pytest.approx(np.full(40, np.sqrt(20)))
    A = built(Prostate(scaling="centred")).oracle.A
    assert np.allclose(A, (served - served.mean(axis=0)).T)


def test_test_part_is_random_and_scaled_by_the_training_part(served):
    instance = built(Prostate(test=5, m=2))
    order = rng(0).permutation(20)
    train, test = served[np.sort(order[5:])], served[np.sort(order[:5])]
    centre, scale = train.mean(axis=0), train.std(axis=0)
    assert np.allclose(instance.oracle.A, ((train - centre) / scale).T)
    assert np.allclose(instance.measure.test, ((test - centre) / scale).T)
    assert not np.array_equal(built(Prostate(test=5, m=2), 1).oracle.A, instance.oracle.A)


def test_a_wrong_checksum_and_a_missing_file_are_refused(served, tmp_path):
    path = tmp_path / "singh.RData"
    os.truncate(path, path.stat().st_size - 1)
    with pytest.raises(DataError, match=r"singh\.RData is not the file expected"):
        built(Prostate())
    path.unlink()
    with pytest.raises(DataError, match=r"singh\.RData is not in the data folder"):
        built(Prostate())


@needs_singh
def test_the_published_data_are_what_they_are_known_to_be():
    instance = built(Prostate())
    A = instance.oracle.A
    assert A.shape == (12600, 102)
    assert Prostate().samples == instance.oracle.samples == 102
    assert instance.oracle.norms == pytest.approx(np.full(12600, np.sqrt(102)))
    assert built(Prostate(scaling="centred", test=20)).oracle.A.shape == (12600, 82)
    x = Prostate()._read()
    assert (x.min(), x.max()) == (-1807, 17530)
    assert x[0, :5] == pytest.approx([-9, 1, 1, 15, -2])


# --- a table of one's own ---


def table(x, corner="gene"):
    """Genes in lines, samples in columns."""
    lines = [[corner, *(f"s{j}" for j in range(len(x)))]]
    lines += [[f"g{i}", *map(repr, map(float, gene))] for i, gene in enumerate(x.T)]
    return "".join(",".join(line) + "\n" for line in lines)


@pytest.fixture
def csv_path(tmp_path):
    (tmp_path / "own.csv").write_text(table(expression()))
    return tmp_path / "own.csv"


def test_genes_in_lines_come_back_as_columns(csv_path):
    found = read_csv(csv_path)
    assert np.array_equal(found, expression())
    assert found.flags.c_contiguous
    A = built(Prostate(path=str(csv_path), scaling="centred")).oracle.A
    assert np.allclose(A, (expression() - expression().mean(axis=0)).T)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "line 1 must name the samples, separated by commas, but has 0 fields"),
        ("gene\ts1\ts2\ng\t1\t2\n", "but has 1 field"),
        ("1,2,3\n4,5,6\n", "line 1 must name the samples, .* holds numbers only"),
        ("gene,s1,s2\n", "no line of numbers"),
        ("gene,s1,s2\na,1,2\nb,3\n", "line 3 has 2 fields, the first line 3"),
        ("gene,s1,s2\na,1,2\nb,3,NA\n", "line 3, column 3 is not a finite number: 'NA'"),
        ("gene,s1,s2\na,1,inf\nb,3,4\n", "line 2, column 3 is not a finite number: 'inf'"),
        ('gene,s1,s2\na,"1,5",2\n', "line 2, column 2 is not a finite number: '1,5'"),
    ],
)
def test_malformed_tables_are_refused_by_line_and_column(csv_path, content, message):
    csv_path.write_text(content)
    with pytest.raises(DataError, match=message) as raised:
        built(Prostate(path=str(csv_path), m=1))
    assert "own.csv" in str(raised.value)
