"""Arrays of other libraries are read by blocks: none of them is ever loaded as a whole."""

import pickle
import tracemalloc

import numpy as np
import pytest
from orthobench_kit.reading import rows_of
from orthobench_kit.rows import DaskRows, SparseRows
from orthobench_kit.sources import ArraySource
from scipy import sparse

import orthobench as ob

X = np.random.default_rng(0).exponential(size=(500, 6)) * np.arange(1, 7)


def dask_array(chunks=(120, 6), data=X):
    return pytest.importorskip("dask.array", reason="needs Dask").from_array(data, chunks=chunks)


def hdf5_array(tmp_path, data=X, **options):
    h5py = pytest.importorskip("h5py", reason="needs h5py")
    return h5py.File(tmp_path / "x.h5", "w").create_dataset("X", data=data, **options)


def zarr_array(tmp_path, data=X, **options):
    zarr = pytest.importorskip("zarr", reason="needs zarr")
    return zarr.create_array(store=str(tmp_path / "x.zarr"), data=data, **options)


def lazy(kind, tmp_path):
    return {
        "dask": lambda: dask_array(),
        "hdf5": lambda: hdf5_array(tmp_path, chunks=(70, 6)),
        "zarr": lambda: zarr_array(tmp_path, chunks=(70, 4)),
        "sparse": lambda: sparse.csc_array(X),
    }[kind]()


KINDS = ("dask", "hdf5", "zarr", "sparse")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("solver", ["oja", "frequent-directions"])
def test_streaming_solvers_find_the_same_on_each_kind(tmp_path, kind, solver):
    options = {"step": 0.01} if solver == "oja" else {}
    with_array = ob.solve(solver, ob.stochastic_pca(X, k=2), **options)
    found = ob.solve(solver, ob.stochastic_pca(lazy(kind, tmp_path), k=2), **options)
    assert np.array_equal(found.solution, with_array.solution)
    expected = with_array.trace[-1].metrics
    assert found.trace[-1].metrics == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_tensor_solvers_take_each_kind_as_a_stream_of_rows(tmp_path, kind):
    def error(samples, **options):
        instance = ob.symmetric_tucker(samples, order=3, rank=2, test=X, **options)
        return ob.solve("khatri-rao-sketch", instance).trace[-1].metrics["relative_error"]

    assert error(lazy(kind, tmp_path)) == error(ArraySource(X))
    twice = ob.symmetric_tucker(rows_of(X, "x"), order=3, rank=2, test=X)
    assert twice.oracle.n == 6


def test_only_chunks_that_are_read_are_computed():
    array = pytest.importorskip("dask.array", reason="needs Dask")
    made = []

    def make(block_info=None):
        where = block_info[None]["array-location"]
        made.append(where[0])
        return X[slice(*where[0])]

    lazily = array.map_blocks(make, chunks=((100,) * 5, 6), dtype=float, meta=np.empty((0, 0)))
    made.clear()
    source = ArraySource(DaskRows(lazily), range(100, 350))
    assert made == []
    assert np.array_equal(source.block(1), X[200:300])
    assert made == [(200, 300)]
    assert np.array_equal(pickle.loads(pickle.dumps(source.block(2))), X[300:350])  # noqa: S301 - made here


def test_sparse_rows_become_dense_a_block_at_a_time():
    wide = sparse.random_array((20_000, 1000), density=0.001, format="csr", rng=0)
    source = ArraySource(SparseRows(wide))
    tracemalloc.start()
    total = sum(float(block.sum()) for block in source.one_pass())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total == pytest.approx(wide.sum())
    assert peak < 30 * 2**20 < 8 * 20_000 * 1000
    assert np.array_equal(source.rows.gather(np.array([7, 3])), wide[[7, 3]].toarray())
