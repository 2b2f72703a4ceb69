"""Hyperspectral scenes: MAT-files read as they are, pixels whitened."""

from contextlib import suppress

import numpy as np
import pytest
import scipy.io
from drawn import rng
from orthobench_tucker.problems.scenes import read_scene, whitened_pixels

from orthobench.errors import DataError


def cube(height=6, width=5, bands=4):
    return rng(1).integers(0, 5000, (height, width, bands)).astype(np.uint16)


def marks(height=6, width=5):
    found = np.zeros((height, width), dtype=np.uint8)
    found[1, 2] = found[4, 0] = 1
    return found


def write(path, **variables):
    scipy.io.savemat(path, variables, appendmat=False)
    return path


# --- MAT-files ---


@pytest.mark.parametrize("kind", [np.uint16, np.int32, np.float64])
def test_a_scene_is_read_as_it_was_written(tmp_path, kind):
    data = cube().astype(kind)
    scene = read_scene(write(tmp_path / "scene", data=data, map=marks(), other=np.eye(2)))
    assert np.array_equal(scene.data, data)
    assert scene.shape == (6, 5)
    assert np.array_equal(scene.anomalies, marks() == 1)
    assert scene.pixels.dtype == np.float64
    assert np.array_equal(scene.pixels[1 * 5 + 2], data[1, 2])


def changed(array, at, value):
    array = array.astype(np.float64)
    array[at] = value
    return array


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"map": marks()}, "no variable 'data' of real numbers: it holds map"),
        ({"data": cube()}, "no variable 'map' of real numbers: it holds data"),
        ({"data": cube()[0], "map": marks()}, r"data must be .* not of shape \(5, 4\)"),
        ({"data": cube()[:, :, :0], "map": marks()}, r"not of shape \(6, 5, 0\)"),
        ({"data": cube() * 1j, "map": marks()}, "no variable 'data' of real numbers: it holds map"),
        ({"data": np.array(["a", "b"]), "map": marks()}, "no variable 'data'"),
        ({"data": changed(cube(), (2, 3, 1), np.nan), "map": marks()}, "row 2, column 3, band 1"),
        ({"data": cube(), "map": marks().T}, r"map has shape \(5, 6\), data \(6, 5, 4\)"),
        ({"data": cube(), "map": changed(marks(), (0, 0), 2)}, "map must be one where"),
        ({"data": cube(), "map": changed(marks(), (0, 0), np.nan)}, "map must be one where"),
        ({"data": cube(), "map": 0 * marks()}, "no pixel is anomalous"),
        ({"data": cube(), "map": 0 * marks() + 1}, "every pixel is anomalous"),
    ],
)
def test_file_without_a_scene_is_refused(tmp_path, variables, message):
    path = write(tmp_path / "scene.mat", **variables)
    with pytest.raises(DataError, match=message) as raised:
        read_scene(path)
    assert "scene.mat" in str(raised.value)


def test_foreign_and_damaged_files_are_refused(tmp_path):
    path = write(tmp_path / "scene.mat", data=cube(), map=marks())
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], whole[:100], b"", b"no MATLAB", b"\x1f\x8b" * 100):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"scene\.mat (cannot be read|has no variable)"):
            read_scene(path)
    with pytest.raises(DataError, match=r"nowhere\.mat cannot be read"):
        read_scene(tmp_path / "nowhere.mat")


def test_a_file_is_never_followed_outside_of_its_bytes(tmp_path):
    path = write(tmp_path / "scene.mat", data=cube(), map=marks())
    whole = path.read_bytes()
    for number in range(300):
        chance = rng(number)
        bent = bytearray(whole)
        for at in chance.integers(len(whole) if number % 2 else 400, size=3):
            bent[at : at + 4] = chance.choice([0, 1, 2**31 - 1, 2**32 - 1]).astype("<u4").tobytes()
        path.write_bytes(bent)
        with suppress(DataError):
            read_scene(path)


def test_the_newest_form_says_how_to_save_instead(tmp_path):
    path = tmp_path / "new.mat"
    path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + bytes(100))
    with pytest.raises(DataError, match=r"version 7\.3; save it with the option -v7"):
        read_scene(path)


# --- whitening ---


def samples(p=300, n=6):
    return rng(2).exponential(size=(p, n)) @ rng(3).standard_normal((n, n)) + 100


def covariance(X):
    return np.cov(X.T, bias=True)


def test_whitened_pixels_have_identity_covariance_in_pca_order():
    X = samples()
    Z = whitened_pixels(X)
    assert Z.flags.c_contiguous
    assert np.abs(Z.mean(axis=0)).max() < 1e-10
    assert np.abs(covariance(Z) - np.eye(6)).max() < 1e-9
    values, axes = np.linalg.eigh(covariance(X))
    for j in range(6):
        component = (X - X.mean(axis=0)) @ axes[:, -1 - j] / np.sqrt(values[-1 - j])
        assert abs(Z[:, j] @ component) / 300 == pytest.approx(1)


@pytest.mark.parametrize("more", [1, 3])
def test_directions_without_variance_are_left_out(more):
    X = samples()
    extra = [X[:, :1] * 0 + 7, X[:, :1] + X[:, 1:2], X[:, 2:3]]
    Z = whitened_pixels(np.hstack([X, *extra[:more]]))
    assert Z.shape == (300, 6)
    assert np.abs(covariance(Z) - np.eye(6)).max() < 1e-8


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_whitened_pixels_do_not_depend_on_the_unit(unit):
    X = samples()
    found, expected = whitened_pixels(unit * X), whitened_pixels(X)
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-8)


def test_fewer_pixels_than_bands_leave_one_direction_less():
    Z = whitened_pixels(rng(4).standard_normal((5, 9)))
    assert Z.shape == (5, 4)
    assert np.abs(covariance(Z) - np.eye(4)).max() < 1e-10


@pytest.mark.parametrize("value", [0.0, 0.1, 3e7])
def test_pixels_that_are_all_equal_are_refused(value):
    with pytest.raises(DataError, match="all pixels are equal"):
        whitened_pixels(np.full((7, 3), value))
