"""Data of users in the forms of every library: the same numbers, or a refusal with a remedy."""

from types import SimpleNamespace

import numpy as np
import pytest
from cases import case
from orthobench_kit.arrays import unshared
from orthobench_kit.reading import array_of, is_data, is_lazy, read, real, rows_of
from orthobench_kit.rows import Rows
from scipy import sparse

from orthobench.errors import DataError

X = np.round(np.random.default_rng(0).standard_normal((60, 4)) * 8)
"""Whole numbers, so that every type of numbers holds them."""


class Table:
    def to_numpy(self):
        return X


class OnDisk:
    """As an array of h5py or zarr."""

    def __init__(self, values=X, chunks=(25, 4)):
        self.values, self.chunks = values, chunks
        self.shape, self.dtype = values.shape, values.dtype

    def __getitem__(self, part):
        return self.values[part]


class Elsewhere:
    def __init__(self, kind=TypeError):
        self.kind = kind

    def __array__(self, *_, **__):
        raise self.kind("it is on a device\nand more")


def pandas_frame(**types):
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["a", "b", "ä", "😀"])
    return frame.astype(types)


def polars_frame():
    polars = pytest.importorskip("polars")
    return polars.DataFrame(X, schema=[*"abcd"]).with_columns(polars.col("b").cast(polars.Int8))


def xarray_of(chunks=None):
    found = pytest.importorskip("xarray").DataArray(X, dims=("time", "place"))
    return found if chunks is None else found.chunk({"time": chunks, "place": 3})


def dask_array(chunks=(25, 4), form=np.asarray):
    lazily = pytest.importorskip("dask.array").from_array(X, chunks=chunks)
    return lazily if form is np.asarray else lazily.map_blocks(form)


def hdf5(tmp_path, chunks):
    h5py = pytest.importorskip("h5py")
    return h5py.File(tmp_path / "x.h5", "w").create_dataset("X", data=X, chunks=chunks)


def zarr_array(tmp_path):
    zarr = pytest.importorskip("zarr")
    return zarr.create_array(store=str(tmp_path / "x.zarr"), data=X, chunks=(25, 3))


def anndata_of(values, tmp_path, backed=False):
    anndata = pytest.importorskip("anndata")
    found = anndata.AnnData(values)
    if backed:
        anndata.settings.allow_write_nullable_strings = True  # its default fails with pandas 3
        found.write_h5ad(tmp_path / "x.h5ad")
        found = anndata.read_h5ad(tmp_path / "x.h5ad", backed="r")
    return found


def tensor(kind="float64"):
    torch = pytest.importorskip("torch")
    return torch.tensor(X, dtype=getattr(torch, kind), requires_grad=True)


FORMS = {
    "lists": lambda _: X.tolist(),
    "columns first": lambda _: np.asfortranarray(X),
    "strides": lambda _: np.repeat(X, 2, axis=0)[::2],
    "small whole numbers": lambda _: X.astype(np.int8),
    "big-endian": lambda _: X.astype(">f4"),
    "nothing masked": lambda _: np.ma.masked_array(X, mask=np.zeros(X.shape, bool)),
    "a table": lambda _: Table(),
    "pandas": lambda _: pandas_frame(),
    "pandas, nullable": lambda _: pandas_frame().convert_dtypes(),
    "pandas, some nullable": lambda _: pandas_frame(a="Int64", b="float32", ä="Float64"),
    "pandas, sparse": lambda _: pandas_frame().astype(
        pytest.importorskip("pandas").SparseDtype(float, 0)
    ),
    "pandas, sparse without zeros": lambda _: pandas_frame().astype("Sparse[float]"),
    "polars": lambda _: polars_frame(),
    "xarray": lambda _: xarray_of(),
    "xarray in chunks": lambda _: xarray_of(25),
    "dask": lambda _: dask_array(),
    "dask, short fat chunks": lambda _: dask_array((-1, 3)),
    "dask, sparse chunks": lambda _: dask_array(form=sparse.csr_matrix),
    "h5py": lambda path: hdf5(path, (25, 4)),
    "h5py without chunks": lambda path: hdf5(path, None),
    "zarr": zarr_array,
    "another array on disk": lambda _: OnDisk(),
    "another array on disk without chunks": lambda _: OnDisk(chunks=None),
    "anndata": lambda path: anndata_of(X, path),
    "anndata, sparse": lambda path: anndata_of(sparse.csr_matrix(X), path),
    "anndata on disk": lambda path: anndata_of(X, path, backed=True),
    "anndata on disk, sparse": lambda path: anndata_of(sparse.csr_matrix(X), path, backed=True),
    "an annotated matrix": lambda _: SimpleNamespace(X=X, shape=X.shape, obs=None),
    "torch": lambda _: tensor(),
    "torch, bfloat16": lambda _: tensor("bfloat16"),
    "duplicates": lambda _: sparse.csr_matrix(
        (np.repeat(X.ravel() / 2, 2), np.tile(np.arange(4).repeat(2), 60), np.arange(61) * 8)
    ),
    **{
        f"sparse {kind}": lambda _, kind=kind: sparse.csr_array(X).asformat(kind)
        for kind in ("csr", "csc", "bsr", "coo", "dia", "lil", "dok")
    },
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_matrix_is_its_numbers(form, tmp_path):
    found = read(FORMS[form](tmp_path), "the samples")
    lazy = isinstance(found, Rows)
    dense = found.read(0, 60) if lazy else found
    if sparse.issparse(found):
        assert found.format in ("csr", "csc")
        assert found.has_canonical_format
        dense = found.toarray()
    np.testing.assert_array_equal(dense, X)
    if lazy:
        np.testing.assert_array_equal(found.read(20, 31), X[20:31])
        np.testing.assert_array_equal(found.columns(1, 3), X[:, 1:3])
    assert is_lazy(found) is isinstance(rows_of(found, "it"), Rows)
    assert is_data(found)


def test_an_array_in_memory_may_have_any_shape():
    for data in (X[:, 0], X.reshape(5, 12, 4), 3.0 * np.ones(())):
        np.testing.assert_array_equal(array_of(data, "it"), data)
    assert real(X.astype(np.int8), "it").dtype == np.float64
    series = pandas_frame(a="Int64")["a"]
    np.testing.assert_array_equal(array_of(series, "it"), X[:, 0])


def test_an_array_and_a_memory_map_are_taken_as_they_are(tmp_path):
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    for data in (X, mapped):
        assert read(data, "") is data
        assert unshared(mapped) is mapped
    assert type(array_of(X.view(np.recarray), "")) is np.ndarray
    csr = sparse.csr_array(X)
    assert read(csr, "") is csr


MASKED = np.ma.masked_array(X, np.arange(240).reshape(60, 4) == 14)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (lambda: MASKED, r"masked array: pass data.filled\(value\).*\[3, 2\]"),
        (lambda: [*MASKED], "masked array"),
        (lambda: "x.npy", "path: load the file first"),
        (lambda: [[1, 2], [3]], "lists of different lengths"),
        (lambda: Elsewhere(), "cannot be read as an array of numpy: it is on a device$"),
        (lambda: Elsewhere(RuntimeError), "as an array of numpy: it is on a device$"),
        (lambda: {"train": X}, r"of type dict with the keys \['train'\]: pass one of"),
        (lambda: X[0], r"a matrix .* shape \(4,\): pass data\[:, None\]"),
        (lambda: X[:0], "are empty"),
        (lambda: X.astype(object), r"not of dtype object: pass data.astype\(float\)"),
        (lambda: X.astype([("a", "f8")]), r"fields \('a',\).*structured_to_unstructured"),
        (lambda: pandas_frame(ä=str), r"column 'ä' .*\.astype\(float\)"),
        (lambda: pandas_frame().reindex(range(61)).convert_dtypes(), "'a' .* is nan in row 60"),
        (lambda: pandas_frame().replace(X[0, 1], np.inf), "'b' of the samples is inf in row 0"),
        (lambda: dask_array()[dask_array()[:, 0] > 0], r"call compute_chunk_sizes\(\)"),
        (lambda: pytest.importorskip("dask.dataframe").from_pandas(pandas_frame(), npartitions=2),
         r"to_dask_array\(lengths=True\)"),
        (lambda: OnDisk(X * 1j), "real numbers, not of dtype complex"),
    ],
)  # fmt: skip
def test_data_that_are_no_real_matrix_are_refused_with_a_remedy(data, said):
    assert is_data(data())
    with pytest.raises(DataError, match=f"(?s)^(?=.*samples|.*Dask).*{said}"):
        read(data(), "the samples")


def test_a_sparse_matrix_is_refused_where_entries_are_needed():
    with pytest.raises(DataError, match=r"it are a sparse matrix: pass data.toarray\(\)"):
        array_of(sparse.csr_array(X), "it")
    with pytest.raises(DataError, match="a sparse matrix"):
        array_of(SimpleNamespace(nnz=3), "it")


def test_lists_of_blocks_are_streams_and_lists_of_rows_are_data():
    for stream in ([X, X], (X, X[:1]), [Table(), X], iter([X])):
        assert not is_data(stream)
    for data in ([*X], [X[None]], [], [3.0]):
        with case(str(data)[:20]):
            assert is_data(data)
