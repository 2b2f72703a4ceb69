"""Digits and MNIST: normalized as a whole, split 40/20/40, read with their checksums."""

import gzip
import hashlib
import struct

import numpy as np
import pytest
from drawn import built
from orthobench_kit.data import digits
from orthobench_stochastic_pca.problems import images
from orthobench_stochastic_pca.problems.images import MNIST, Digits

from orthobench.contract.problem import Solution
from orthobench.errors import DataError
from orthobench.tools import datasets
from orthobench.tools.geometry import random_point


def training(instance):
    count = int(instance.oracle.remaining())
    rows = []
    while count:
        part = min(count, instance.oracle.window)
        instance.oracle.prepare(part)
        rows.append(instance.oracle.take(part))
        count -= part
    return np.concatenate(rows)


def test_digits_are_split_and_normalized_over_all():
    from sklearn.datasets import load_digits

    pixels = load_digits().data
    Z = pixels - pixels.mean(axis=0)
    Z /= np.sqrt(np.mean(np.sum(Z**2, axis=1)))
    X = training(built(Digits()))
    assert X.shape == (718, 64)
    # every training row is one of the normalized data set's, and none is there twice
    nearest = np.array([np.argmin(np.abs(Z - x).max(axis=1)) for x in X])
    assert np.abs(X - Z[nearest]).max() < 1e-14
    assert len(np.unique(nearest)) > 700


def test_the_judge_of_the_digits_sees_the_test_part():
    instance = built(Digits(k=2))
    X = digits.pixels().astype(float)
    X = (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0).sum())
    order = np.random.default_rng(0).permutation(len(X))
    test, validation = X[order[718 + 359 :]], X[order[718 : 718 + 359]]
    U = random_point(64, 2, np.random.default_rng(1))
    metrics = instance.measure(Solution(U))
    for part, metric in ((test, "suboptimality"), (validation, "validation_suboptimality")):
        C = part.T @ part / len(part)
        expected = np.linalg.eigvalsh(C)[-2:].sum() - np.trace(U.T @ C @ U)
        assert metrics[metric] == pytest.approx(expected)


def test_other_digits_than_those_known_are_refused(monkeypatch):
    monkeypatch.setattr(digits, "CHECKSUM", "0" * 64)
    with pytest.raises(DataError, match="not those expected"):
        built(Digits())


def test_checksums_name_the_data_and_need_no_file(monkeypatch, tmp_path):
    monkeypatch.setenv("ORTHOBENCH_DATA", str(tmp_path))
    digests = {MNIST(part=part).checksum() for part in images.FILES}
    assert len(digests) == 3
    assert MNIST().checksum() == MNIST(k=8, normalization="per-feature").checksum()
    assert Digits().checksum() == digits.CHECKSUM


@pytest.fixture
def served(tmp_path, monkeypatch):
    """Put stand-ins for both files into a data folder, 5 and 7 images."""

    def put():
        rng = np.random.default_rng(0)
        files = []
        for name, count in (("train", 5), ("test", 7)):
            pixels = rng.integers(0, 256, (count, 28, 28)).astype(np.uint8)
            header = struct.pack(">HBB3I", 0, 8, 3, *pixels.shape)
            content = gzip.compress(header + pixels.tobytes())
            (tmp_path / name).write_bytes(content)
            files.append(datasets.DataFile(name, hashlib.sha256(content).hexdigest(), (), "me"))
        parts = {"train": (files[0],), "test": (files[1],), "all": tuple(files)}
        monkeypatch.setattr(images, "FILES", parts)
        monkeypatch.setenv("ORTHOBENCH_DATA", str(tmp_path))
        return tmp_path

    return put


@pytest.mark.parametrize(("part", "count"), [("train", 5), ("test", 7), ("all", 12)])
def test_the_parts_of_mnist_are_its_files(served, part, count):
    served()
    source = built(MNIST(k=1, part=part)).oracle.source
    assert source.rows.shape == (count, 784)
    assert source.rows.dtype == np.uint8
    assert source.length == 2 * count // 5


def test_a_file_that_was_tampered_with_is_refused(served):
    folder = served()
    (folder / "test").write_bytes((folder / "train").read_bytes())
    with pytest.raises(DataError, match="not the file expected"):
        built(MNIST())
