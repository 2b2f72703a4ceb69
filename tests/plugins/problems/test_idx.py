"""The IDX reader: what is written comes back; what is damaged is refused with its bytes."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.data import idx

from orthobench.errors import DataError

CODES = {"u1": 8, "i1": 9, "i2": 11, "i4": 12, "f4": 13, "f8": 14}


def packed(array):
    """Return the bytes of an IDX file, after the format's description."""
    kind = array.dtype.str[1:]
    header = struct.pack(f">HBB{array.ndim}I", 0, CODES[kind], array.ndim, *array.shape)
    return header + array.astype(">" + kind).tobytes()


@given(
    kind=st.sampled_from(sorted(CODES)),
    shape=st.lists(st.integers(0, 5), min_size=1, max_size=4),
    compressed=st.booleans(),
)
def test_what_is_written_comes_back(tmp_path_factory, kind, shape, compressed):
    array = np.random.default_rng(0).integers(0, 100, shape).astype(kind)
    content = packed(array)
    path = tmp_path_factory.mktemp("idx") / "file"
    path.write_bytes(gzip.compress(content) if compressed else content)
    found = idx.read(path)
    assert found.dtype == array.dtype
    assert found.dtype.isnative
    assert np.array_equal(found, array)


IMAGES = packed(np.arange(300, dtype=np.uint8).reshape(3, 10, 10))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (IMAGES[:-1], "truncated: 316 bytes expected .*shape .3, 10, 10., 315 found"),
        (IMAGES + b"xy", "too long: 316 bytes expected .* 318 found"),
        (IMAGES[:10], "truncated: 16 bytes expected for its header, 10 found"),
        (IMAGES[:3], "not an IDX file: it begins with 00 00 08"),
        (b"", "begins with nothing"),
        (b"\x01" + IMAGES[1:], "not an IDX file"),
        (b"\x00\x00\x0a" + IMAGES[3:], "not an IDX file"),
        (b"\x00\x00\x08\x00", "not an IDX file"),
        (b"<html>", "not an IDX file: it begins with 3c 68 74 6d"),
        (struct.pack(">HBB4I", 0, 8, 4, *[2**32 - 1] * 4) + b"1", "truncated: .* 21 found"),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_wrong_file_is_refused_with_its_bytes(tmp_path, content, message, pack):
    path = tmp_path / "images"
    path.write_bytes(pack(content))
    with pytest.raises(DataError, match=message) as raised:
        idx.read(path)
    assert str(path) in str(raised.value)


def test_a_gzip_file_that_is_cut_off_is_truncated(tmp_path):
    path = tmp_path / "images.gz"
    whole = gzip.compress(np.random.default_rng(0).bytes(5000))
    for length in (len(whole) - 1, len(whole) // 2, 11, 4):
        path.write_bytes(whole[:length])
        with pytest.raises(DataError, match=r"images\.gz is truncated: its gzip stream ends"):
            idx.read(path)


def test_a_damaged_gzip_file_is_refused(tmp_path):
    path = tmp_path / "images.gz"
    damaged = bytearray(gzip.compress(IMAGES))
    damaged[-5] ^= 0xFF
    path.write_bytes(damaged)
    with pytest.raises(DataError, match=r"images\.gz cannot be read"):
        idx.read(path)
    path.write_bytes(b"\x1f\x8b\x08\x00garbage garbage garbage")
    with pytest.raises(DataError, match=r"images\.gz (cannot be read|is truncated)"):
        idx.read(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match="nowhere"):
        idx.read(tmp_path / "nowhere")


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_file_larger_than_any_is_not_read_to_its_end(tmp_path, pack, monkeypatch):
    (tmp_path / "file").write_bytes(pack(IMAGES))
    monkeypatch.setattr(idx, "LARGEST", 316)
    assert idx.read(tmp_path / "file").shape == (3, 10, 10)
    monkeypatch.setattr(idx, "LARGEST", 315)
    with pytest.raises(DataError, match="too long: it has more than 315 bytes"):
        idx.read(tmp_path / "file")


def test_an_empty_array_of_impossible_shape_is_refused(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(packed(np.zeros((0, 20, 20), dtype=np.uint8)))
    monkeypatch.setattr(idx, "LARGEST", 400)
    assert idx.read(tmp_path / "file").shape == (0, 20, 20)
    monkeypatch.setattr(idx, "LARGEST", 399)
    with pytest.raises(DataError, match="is empty, and has the shape"):
        idx.read(tmp_path / "file")
