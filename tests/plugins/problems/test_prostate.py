"""Gene expression: RData and CSV read as they are, split, and scaled gene by gene."""

from __future__ import annotations

import hashlib
import os
import sys

import numpy as np
import pytest
from orthobench_sparse_pca import SparseSolution
from orthobench_sparse_pca.loadings import solve_for_z
from orthobench_sparse_pca.problems import prostate
from orthobench_sparse_pca.problems.prostate import Prostate, read_csv, read_rdata

from orthobench.contract.problem import Solution
from orthobench.errors import DataError, UsageError
from orthobench.tools import datasets
from orthobench.tools.geometry import polar, random_point, unit_columns

needs_singh = pytest.mark.needs_data(prostate.SINGH)


def rng(seed=0):
    return np.random.default_rng(seed)


def built(problem, seed=0):
    return problem.build(rng(seed))


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


def text(x):
    table = frame(x).astype({"V3": object})
    table.loc[4, "V3"] = "7.5"
    return table


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lambda x: {"other": {"x": x}}, "holds no list 'singh' with a matrix x in it, but other"),
        (lambda x: {"singh": {"y": x}}, "holds no list 'singh' with a matrix x in it"),
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


def missing(x):
    table = frame(x)
    table.loc[4, "V2"] = None
    return table


@pytest.mark.parametrize(
    ("form", "message"),
    [
        (text, r"sample 4, gene 2 .* is '7\.5'"),
        (missing, r"sample 4, gene 1 .* is '<NA>'"),
        (lambda x: x.astype(str), r"sample 0, gene 0 .* is '"),
    ],
)
def test_what_is_no_number_is_named(tmp_path, monkeypatch, form, message):
    rdata = pytest.importorskip("rdata")
    found = {"singh": {"x": form(integers_in(expression(), 1))}}
    monkeypatch.setattr(rdata, "read_rda", lambda *_, **__: found)
    with pytest.raises(DataError, match=message):
        read_rdata(tmp_path / "a.RData", "singh")


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


def test_the_test_part_is_held_out_at_random_and_scaled_by_the_training_part(served):
    instance = built(Prostate(test=5, m=2))
    order = rng(0).permutation(20)
    train, test = served[np.sort(order[5:])], served[np.sort(order[:5])]
    centre, scale = train.mean(axis=0), train.std(axis=0)
    assert np.allclose(instance.oracle.A, ((train - centre) / scale).T)
    assert np.allclose(instance.measure.test, ((test - centre) / scale).T)
    assert not np.array_equal(built(Prostate(test=5, m=2), 1).oracle.A, instance.oracle.A)


def test_the_file_is_read_once_and_its_numbers_are_not_shared(served, monkeypatch):
    first = built(Prostate()).oracle.A.copy()
    monkeypatch.setattr(prostate, "read_rdata", None)
    assert np.array_equal(built(Prostate()).oracle.A, first)
    with pytest.raises(ValueError, match="read-only"):
        Prostate()._read()[0, 0] = 1


def test_a_wrong_checksum_and_a_missing_file_are_refused(served, tmp_path):
    path = tmp_path / "singh.RData"
    os.truncate(path, path.stat().st_size - 1)
    with pytest.raises(DataError, match=r"singh\.RData is not the file expected"):
        built(Prostate())
    path.unlink()
    with pytest.raises(DataError, match=r"singh\.RData is not in the data folder"):
        built(Prostate())


def test_the_checksum_and_the_samples_need_no_file(monkeypatch, tmp_path):
    monkeypatch.setenv("ORTHOBENCH_DATA", str(tmp_path))
    assert Prostate().checksum() == Prostate(m=3, test=20).checksum() == prostate.SINGH.sha256
    assert Prostate().samples == 102
    assert Prostate(test=20).samples == 82


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Prostate(m=103), "m = 103 .* 12600 features and 102 training samples"),
        (lambda: Prostate(m=83, test=20), "m = 83 .* 12600 features and 82 training samples"),
        (lambda: Prostate(test=102), "nothing is left to train on"),
        (lambda: Prostate(scaling="standardised"), "did you mean 'standardized'"),
        (lambda: Prostate(m=0), "m must be >= 1"),
    ],
)
def test_bad_parameters_are_refused_before_any_work(make, message):
    with pytest.raises(UsageError, match=message):
        make()


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


@needs_singh
def test_few_genes_explain_no_more_than_their_own_variance():
    instance = built(Prostate(m=5))
    left, s, right = np.linalg.svd(instance.oracle.A, full_matrices=False)
    pca = instance.measure(Solution(left[:, :5]))
    assert pca["explained_variance"] == pytest.approx(np.sum(s[:5] ** 2) / (12600 * 102))
    pattern = np.abs(left[:, :5]) > np.quantile(np.abs(left[:, :5]), 0.95, axis=0)
    sparse = instance.measure(Solution(solve_for_z(instance.oracle.A, pattern, right[:5].T)))
    assert sparse["nonzeros"] == 630
    assert 0.1 < sparse["adjusted_explained_variance"] < 5 * 630 / 12600


@needs_singh
def test_standardized_genes_give_the_density_and_the_variance_of_figure_1():
    """Block GPM with a component a sample and gamma a quarter of the row norms: .60 with 323."""
    instance = built(Prostate(m=102))
    A, gamma = instance.oracle.A, 0.25 * np.sqrt(102)
    X = random_point(102, 102, rng(1))
    for _ in range(25):
        AX = A @ X
        Z = np.sign(AX) * np.maximum(np.abs(AX) - gamma, 0)
        X = polar(A.T @ Z)
    metrics = instance.measure(SparseSolution(unit_columns(Z), gamma=gamma))
    assert metrics["nonzeros"] == pytest.approx(323, abs=4)
    assert metrics["adjusted_explained_variance"] == pytest.approx(0.601, abs=0.003)
    assert metrics["empty"] < 20


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


@pytest.mark.parametrize("corner", ["", "gene", '"a, b"'])
def test_the_corner_may_be_anything(csv_path, corner):
    csv_path.write_text(table(expression(), corner))
    assert np.array_equal(read_csv(csv_path), expression())


def test_a_byte_order_mark_and_empty_lines_are_no_part_of_the_table(csv_path):
    content = table(expression(), '"a, b"').replace("\n", "\r\n")
    csv_path.write_bytes(b"\xef\xbb\xbf" + content.encode() + b"\r\n")
    assert np.array_equal(read_csv(csv_path), expression())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "line 1 must name the samples, separated by commas, but has 0 fields"),
        ("gene\ts1\ts2\ng\t1\t2\n", "but has 1 field"),
        ("1,2,3\n4,5,6\n", "line 1 must name the samples, .* holds numbers only"),
        ("gene,s1,s2\n", "no line of numbers"),
        ("gene,s1,s2\na,1,2\nb,3\n", "line 3 has 2 fields, the first line 3"),
        ("gene,s1,s2\na,1,2\nb,3,4,5\n", "line 3 has 4 fields"),
        ("gene,s1,s2\na,1,2\nb,3,NA\n", "line 3, column 3 is not a finite number: 'NA'"),
        ("gene,s1,s2\na,1,2\nb,,4\n", "line 3, column 2 is not a finite number: ''"),
        ("gene,s1,s2\na,nan,2\nb,3,4\n", "line 2, column 2 is not a finite number: 'nan'"),
        ("gene,s1,s2\na,1,inf\nb,3,4\n", "line 2, column 3 is not a finite number: 'inf'"),
        ('gene,s1,s2\na,"1,5",2\n', "line 2, column 2 is not a finite number: '1,5'"),
    ],
)
def test_malformed_tables_are_refused_by_line_and_column(csv_path, content, message):
    csv_path.write_text(content)
    with pytest.raises(DataError, match=message) as raised:
        built(Prostate(path=str(csv_path), m=1))
    assert "own.csv" in str(raised.value)


def test_files_that_are_no_text_or_not_there_are_refused(csv_path, tmp_path):
    csv_path.write_bytes(b"\xff\xfe\x00gene,s1\n")
    with pytest.raises(DataError, match=r"own\.csv cannot be read as a CSV file"):
        read_csv(csv_path)
    missing = Prostate(path=str(tmp_path / "nowhere.csv"))
    for act in (lambda: built(missing), missing.checksum):
        with pytest.raises(DataError, match=r"there is no file .*nowhere\.csv"):
            act()
    with pytest.raises(DataError, match="cannot be read"):
        Prostate(path=str(tmp_path)).checksum()


def test_genes_that_do_not_vary_in_the_training_part_are_dropped(csv_path):
    x = expression()
    x[:, 4] = 0.1
    x[:, 9] = 0
    x[7, 9] = 1  # varies where sample 7 is held out not
    csv_path.write_text(table(x))
    for seed in range(6):
        instance = built(Prostate(path=str(csv_path), test=4, m=2), seed)
        order = rng(seed).permutation(12)
        lost = {4, 9} if 7 in order[:4] else {4}
        kept = [gene for gene in range(30) if gene not in lost]
        train = x[np.sort(order[4:])][:, kept]
        assert np.allclose(instance.oracle.A, ((train - train.mean(axis=0)) / train.std(axis=0)).T)
        assert instance.measure.test.shape == (len(kept), 4)


def test_the_size_of_a_table_is_known_once_it_is_read(csv_path):
    problem = Prostate(path=str(csv_path), m=12)
    assert problem.samples is None
    assert built(problem).oracle.samples == 12
    with pytest.raises(UsageError, match=r"m = 13 .* 30 features and 12 training samples"):
        built(Prostate(path=str(csv_path), m=13))
    with pytest.raises(UsageError, match="nothing is left"):
        built(Prostate(path=str(csv_path), test=12))


def test_a_changed_table_is_read_anew(csv_path):
    problem = Prostate(path=str(csv_path), scaling="centred")
    first, before = problem.checksum(), built(problem).oracle.A.copy()
    x = expression()
    x[0, 0] += 1
    csv_path.write_text(table(x))
    assert problem.checksum() != first
    assert not np.allclose(built(problem).oracle.A, before)
