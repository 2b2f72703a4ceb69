"""Samples in many files: their order, their parts, their errors, and the memory that they take."""

import json
import os
import pickle
import tracemalloc

import numpy as np
import pytest
from orthobench_kit import rows as rows_module
from orthobench_kit.data.row_files import checksum, files_at
from orthobench_stochastic_pca.problems.files import NpyPCA

import orthobench as ob
from orthobench.errors import DataError, UsageError

X = (np.random.default_rng(0).exponential(size=(1000, 6)) * np.arange(1, 7)).astype(np.float32)


def write(folder, parts, suffix=".npy", name="part-{}"):
    for number, part in enumerate(parts):
        file = folder / f"{name.format(number)}{suffix}"
        if suffix == ".npy":
            np.save(file, part)
        else:
            pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
            table = pa.table({f"x{j}": column for j, column in enumerate(part.T)})
            parquet = pytest.importorskip("pyarrow.parquet")
            parquet.write_table(table, file, row_group_size=70)
    return str(folder / f"*{suffix}")


def hdf5(folder):
    h5py = pytest.importorskip("h5py", reason="needs h5py")
    with h5py.File(folder / "x.h5", "w") as file:
        file.create_dataset("deep/X", data=X, chunks=(70, 3), compression="gzip")
        file["labels"] = np.arange(1000)
    return str(folder / "x.h5")


def zarr(folder, **options):
    library = pytest.importorskip("zarr", reason="needs zarr")
    group = library.create_group(str(folder / "x.zarr"))
    group.create_array("X", data=X, chunks=(70, 3), **options)
    group.create_array("labels", data=np.arange(1000))
    return str(folder / "x.zarr")


SOURCES = {
    "npy": lambda folder: write(folder, np.array_split(X, 12)),
    "parquet": lambda folder: write(folder, np.array_split(X, 3), ".parquet"),
    "hdf5": hdf5,
    "zarr": zarr,
}


def built(path, **parameters):
    options = {"normalization": "none", "k": 2, "shuffle": False, **parameters}
    return NpyPCA(path=path, **options).build(np.random.default_rng(0))


def training(instance):
    instance.oracle.prepare(10**6)
    return instance.oracle.take(int(instance.oracle.remaining()))


@pytest.mark.parametrize("kind", SOURCES)
def test_each_format_has_the_parts_that_one_file_has(tmp_path, kind):
    np.save(tmp_path / "one", X)
    whole = built(str(tmp_path / "one.npy"))
    (tmp_path / "many").mkdir()
    path = SOURCES[kind](tmp_path / "many")
    instance = built(path)
    assert np.array_equal(training(instance), X[:400])
    source = pickle.loads(pickle.dumps(instance.oracle.source))  # noqa: S301 - made here
    blocks = [source.block(index) for index in range(source.count)]
    assert {block.dtype for block in blocks} == {np.dtype(np.float32)}
    assert np.array_equal(np.concatenate(blocks), X[:400])
    assert str(tmp_path / "many") in source.label(0)
    point = ob.Solution(np.eye(6)[:, :2])
    assert instance.measure(point) == pytest.approx(whole.measure(point), rel=1e-9)


@pytest.mark.parametrize("kind", SOURCES)
def test_each_format_is_centred_and_scaled_by_all_its_rows(tmp_path, kind):
    rows = X.astype(float) - X.mean(axis=0, dtype=float)
    scaled = rows / np.sqrt(np.mean(np.sum(rows**2, axis=1)))
    found = training(built(SOURCES[kind](tmp_path), normalization="common"))
    np.testing.assert_allclose(found, scaled[:400], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", SOURCES)
def test_the_digest_changes_with_any_file(tmp_path, kind):
    path = SOURCES[kind](tmp_path)
    before = checksum(path)
    assert checksum(path) == before == NpyPCA(path=path).checksum()
    chosen = max((f for f in tmp_path.rglob("*") if f.is_file()), key=lambda f: f.stat().st_size)
    content = bytearray(chosen.read_bytes())
    content[-1] ^= 1
    chosen.write_bytes(content)
    assert checksum(path) != before


def test_numbers_in_names_are_compared_as_numbers(tmp_path):
    for name in ("p10.npy", "p9.npy", "p1.npy", "p09.npy", "q1.npy", "p.npy"):
        np.save(tmp_path / name, X[:1])
    names = [file.name for file in files_at(str(tmp_path / "*.npy"))]
    assert names == ["p1.npy", "p09.npy", "p9.npy", "p10.npy", "p.npy", "q1.npy"]
    (tmp_path / "x[1].npy").write_bytes((tmp_path / "p1.npy").read_bytes())
    assert len(files_at(str(tmp_path / "x[1].npy"))) == 1


@pytest.mark.parametrize("kind", ["parquet", "hdf5", "zarr"])
def test_other_formats_cannot_be_shuffled_when_they_are_read(tmp_path, kind):
    path = SOURCES[kind](tmp_path)
    with pytest.raises(DataError, match="cannot be drawn one by one: shuffle them when"):
        built(path, shuffle=True)
    assert np.array_equal(training(built(path, shuffle=None)), X[:400])


@pytest.mark.parametrize(
    ("odd", "message"),
    [
        (X[:, :5], r"part-1\.npy has columns 5 where .*part-0\.npy has 6"),
        (X.astype(float), r"part-1\.npy has dtype float64 where .*part-0\.npy has float32"),
        (X[:0], r"part-1\.npy are empty: shape \(0, 6\)"),
        (X[:, 0], r"part-1\.npy must be a matrix"),
        (X * 1j, r"part-1\.npy must be real numbers"),
        (np.asfortranarray(X), r"part-1\.npy is in Fortran order"),
        (np.array([[None] * 6]), r"part-1\.npy cannot be read"),
    ],
)
def test_a_file_unlike_the_others_is_named_before_any_work(tmp_path, odd, message):
    path = write(tmp_path, [X, odd, X])
    with pytest.raises(DataError, match=message):
        built(path)


def test_missing_and_damaged_files_are_named(tmp_path):
    with pytest.raises(DataError, match=r"there is no file .*\*\.npy"):
        built(str(tmp_path / "*.npy"))
    with pytest.raises(DataError, match=r"is a folder: name the files in it, such as .*\*\.npy"):
        built(str(tmp_path))
    path = write(tmp_path, [X, X, X])
    (tmp_path / "part-1.npy").unlink()
    (tmp_path / "part-1.npy").symlink_to(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"there is no file .*part-1\.npy"):
        built(path)
    (tmp_path / "part-1.npy").unlink()
    (tmp_path / "part-1.npy").write_bytes(b"\x93NUMPY\x01\x00")
    with pytest.raises(DataError, match=r"part-1\.npy cannot be read"):
        built(path)


def test_a_file_that_goes_away_or_shrinks_while_it_is_read_is_named(tmp_path):
    source = built(write(tmp_path, np.array_split(X, 2))).oracle.source
    with (tmp_path / "part-0.npy").open("r+b") as file:
        file.truncate(2000)
    with pytest.raises(DataError, match=r"part-0\.npy has become shorter: it ends at row \d+"):
        source.block(0)
    (tmp_path / "part-0.npy").unlink()
    with pytest.raises(DataError, match=r"there is no file .*part-0\.npy"):
        source.block(0)


def test_a_bad_row_is_named_by_its_file(tmp_path):
    bad = X.copy()
    bad[700, 3] = np.nan
    path = write(tmp_path, np.array_split(bad, 4))
    with pytest.raises(DataError, match=r"sample 200 of .*part-2\.npy .*feature 3 is nan"):
        built(path)


def test_a_pass_over_a_folder_takes_the_memory_of_a_few_blocks(tmp_path):
    parts = [np.ones((20_000, 64), np.float32)] * 8
    path = write(tmp_path, parts)
    tracemalloc.start()
    source = built(path, k=1, validation=0.0, test=0.1).oracle.source
    for _ in source.one_pass():
        pass
    for index in range(source.count):
        source.block(index)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * rows_module.BLOCK_ROWS * 64 * 8 < sum(part.nbytes for part in parts) / 4


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (["a", "b"], r"column 'y' of .*x\.parquet holds string, not real numbers"),
        ([[1.0], [2.0]], r"column 'y' of .*x\.parquet holds list"),
        ([1.0, None], r"sample 1 of .*x\.parquet .*feature 1 is nan"),
    ],
)
def test_parquet_columns_that_are_no_numbers_are_named(tmp_path, column, message):
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    table = pa.table({"x": [1.0, 2.0], "y": column})
    pytest.importorskip("pyarrow.parquet").write_table(table, tmp_path / "x.parquet")
    with pytest.raises(DataError, match=message):
        built(str(tmp_path / "x.parquet"))


def outside(h5py, folder):
    """A file with what is elsewhere: by link, in external storage, and in a virtual data set."""
    with h5py.File(folder / "other.h5", "w") as file:
        file["secret"] = X
    X.tofile(folder / "raw.bin")
    with h5py.File(folder / "x.h5", "w") as file:
        file["own"] = X
        file["soft"] = h5py.SoftLink("/own")
        file["external"] = h5py.ExternalLink(str(folder / "other.h5"), "secret")
        file["through"] = h5py.SoftLink("/external")
        file.create_dataset(
            "raw", X.shape, X.dtype, external=[(str(folder / "raw.bin"), 0, X.nbytes)]
        )
        layout = h5py.VirtualLayout(X.shape, X.dtype)
        layout[:] = h5py.VirtualSource(str(folder / "other.h5"), "secret", X.shape)
        file.create_virtual_dataset("virtual", layout)
        file.create_group("group")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("external", "external in .* is a link, and none is followed"),
        ("through", "through in .* is a link, and none is followed"),
        ("soft", "soft in .* is a link, and none is followed"),
        ("raw", "the numbers of raw are in other files than"),
        ("virtual", "the numbers of virtual are in other files than"),
        ("absent", "has no data set absent"),
        ("group", "group in .* is no data set"),
        ("", r"holds 3 matrices: name one, such as .*x\.h5/"),
    ],
)
def test_an_hdf5_file_reads_nothing_but_itself(tmp_path, name, message):
    h5py = pytest.importorskip("h5py", reason="needs h5py")
    outside(h5py, tmp_path)
    assert np.array_equal(training(built(str(tmp_path / "x.h5/own"))), X[:400])
    with pytest.raises(DataError, match=message):
        built(str(tmp_path / "x.h5" / name))


def test_a_damaged_hdf5_file_is_named(tmp_path):
    path = hdf5(tmp_path)
    source = built(path).oracle.source
    size = (tmp_path / "x.h5").stat().st_size
    with (tmp_path / "x.h5").open("r+b") as file:
        file.truncate(size // 2)
    with pytest.raises(DataError, match=r"x\.h5 cannot be read as an HDF5 file"):
        source.block(0)
    (tmp_path / "x.h5").write_bytes(b"nothing")
    with pytest.raises(DataError, match=r"x\.h5 cannot be read as an HDF5 file"):
        built(path)


def test_a_zarr_store_cannot_have_anything_unpickled(tmp_path):
    library = pytest.importorskip("zarr", reason="needs zarr")
    store = tmp_path / "x.zarr"
    library.create_array(store=str(store), data=X[:10], chunks=(10, 6), zarr_format=2)
    described = json.loads((store / ".zarray").read_text())
    for key, codec in (("filters", [{"id": "pickle"}]), ("compressor", {"id": "pickle"})):
        (store / ".zarray").write_text(json.dumps({**described, key: codec}))
        with pytest.raises(DataError, match="has the codec 'pickle', which is not among those"):
            built(str(store))


@pytest.mark.parametrize("special", ["link", "pipe"])
def test_a_zarr_store_reads_nothing_but_its_own_files(tmp_path, special):
    (tmp_path / "other").write_bytes(X.tobytes())
    store = tmp_path / "x.zarr"
    (store / "c").mkdir(parents=True)
    described = {"shape": [9, 3], "node_type": "array", "codecs": ["bytes"]}
    (store / "zarr.json").write_text(json.dumps(described))
    if special == "link":
        (store / "c" / "0").symlink_to(tmp_path / "other")
    else:
        os.mkfifo(store / "c" / "0")
    with pytest.raises(DataError, match=r"c/0 is no regular file"):
        built(str(store))


@pytest.mark.parametrize(
    "codecs",
    [
        [{"name": "numcodecs.pickle"}],
        [{"name": "sharding_indexed", "configuration": {"codecs": [{"name": "evil"}]}}],
        [{"name": "sharding_indexed", "configuration": {"index_codecs": ["evil"]}}],
        [{"name": "bytes"}, [{"name": "evil"}], {"name": "evil"}],
        [{}],
    ],
)
def test_codecs_are_refused_wherever_they_are_named(tmp_path, codecs):
    (tmp_path / "x.zarr").mkdir()
    described = {"shape": [9, 3], "node_type": "array", "codecs": codecs}
    (tmp_path / "x.zarr" / "zarr.json").write_text(json.dumps(described))
    with pytest.raises(DataError, match="has the codec "):
        built(str(tmp_path / "x.zarr"))


@pytest.mark.parametrize(
    ("name", "extra"), [("x.h5", "hdf5"), ("x.zarr", "zarr"), ("x.parquet", "export")]
)
def test_a_library_that_is_missing_is_named_with_its_extra(tmp_path, monkeypatch, name, extra):
    for module in ("h5py", "zarr", "pyarrow"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    if extra == "zarr":
        (tmp_path / name).mkdir()
        (tmp_path / name / "zarr.json").write_text('{"shape": [9, 3]}')
    else:
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(UsageError, match=rf"pip install 'orthobench\[{extra}\]'"):
        built(str(tmp_path / name))
