"""The scene as a problem: what solvers see, what the judge says, what there is to look at."""

import hashlib

import numpy as np
import pytest
import scipy.io
from drawn import built, rng
from orthobench_tucker.problems import hyperspectral
from orthobench_tucker.problems.hyperspectral import HyperspectralAnomaly

from orthobench.contract.exhibits import Curve, Image
from orthobench.contract.problem import Solution
from orthobench.errors import DataError
from orthobench.tools import datasets
from orthobench.tools.geometry import random_point

HEIGHT, WIDTH, BANDS = 12, 10, 5


def cube():
    """Smooth background, noise, and a few pixels that differ in one direction of bands."""
    data = rng(1).standard_normal((HEIGHT, WIDTH, BANDS)) * [50, 20, 10, 5, 5] + 1000
    data[np.nonzero(marks())] += [0, 0, 0, 40, 40]
    return data


def marks():
    found = np.zeros((HEIGHT, WIDTH), dtype=np.uint8)
    found[3, 4:8] = found[9, 1] = 1
    return found


@pytest.fixture
def scene(tmp_path):
    scipy.io.savemat(tmp_path / "scene.mat", {"data": cube(), "map": marks()})
    return str(tmp_path / "scene.mat")


def test_solvers_see_the_whitened_pixels_in_the_order_asked_for(scene):
    flat = (cube() - cube().mean(axis=(0, 1))).reshape(-1, BANDS)
    inverse = np.linalg.inv(flat.T @ flat / len(flat))
    distances = np.einsum("ij,jk,ik->i", flat, inverse, flat)
    orders = {
        "row-major": np.arange(120),
        "column-major": np.arange(120).reshape(HEIGHT, WIDTH).T.ravel(),
        "random": rng(3).permutation(120),
    }
    for pixels, order in orders.items():
        instance = built(HyperspectralAnomaly(path=scene, rank=2, pixels=pixels, passes=3), 3)
        X = instance.oracle.X
        assert np.abs(X.T @ X / 120 - np.eye(BANDS)).max() < 1e-10
        assert np.allclose(np.sum(X**2, axis=1), distances[order])
        instance.oracle.prepare(1000)
        assert instance.oracle.remaining() == 360
        assert np.array_equal(instance.oracle.take(360), np.tile(X, (3, 1)))


def test_the_judge_measures_detection_first_and_then_as_its_family(scene):
    instance = built(HyperspectralAnomaly(path=scene, rank=2, order=3))
    Q = random_point(BANDS, 2, rng(4))
    metrics = instance.measure(Solution(Q))
    assert list(metrics) == [
        "auc_gap", "roc_auc", "relative_error", "objective", "relative_gradient",
    ]  # fmt: skip
    X = built(HyperspectralAnomaly(path=scene, pixels="row-major")).oracle.X
    scores, found = np.linalg.norm(X @ Q, axis=1), marks().ravel() == 1
    wins = np.mean(scores[found][:, None] > scores[~found])
    assert metrics["roc_auc"] == pytest.approx(wins)
    assert metrics["auc_gap"] == 1 - metrics["roc_auc"]
    T = np.einsum("ia,ib,ic->abc", X, X, X) / len(X)
    core = np.einsum("abc,ai,bj,ck->ijk", T, Q, Q, Q)
    assert metrics["relative_error"] == pytest.approx(1 - np.sum(core**2) / np.sum(T**2))
    assert metrics["objective"] == pytest.approx(np.sum(core**2))
    turned = Solution(Q @ random_point(2, 2, rng(5)))
    assert instance.measure(turned)["roc_auc"] == metrics["roc_auc"]


def test_exhibits_have_images_and_curves(scene):
    instance = built(HyperspectralAnomaly(path=scene, rank=2))
    Q = random_point(BANDS, 2, rng(4))
    exhibits = instance.exhibits(Solution(Q))
    assert {name: e.reference for name, e in exhibits.items()} == {
        "band 1": False,
        "band 2": False,
        "sparse detection image": False,
        "ROC": False,
        "mean of the bands": True,
        "anomalies": True,
        "sparse detection image of PCA": True,
        "PCA of the covariance": True,
        "random classifier": True,
    }
    images = {name: e.values for name, e in exhibits.items() if isinstance(e, Image)}
    assert {image.shape for image in images.values()} == {(HEIGHT, WIDTH)}
    X = built(HyperspectralAnomaly(path=scene, pixels="row-major")).oracle.X
    assert np.allclose(images["band 2"], (X @ Q[:, 1]).reshape(HEIGHT, WIDTH), rtol=1e-5, atol=1e-6)
    assert np.allclose(images["mean of the bands"], cube().mean(axis=2))
    assert np.array_equal(images["anomalies"], marks())
    shares = np.linalg.lstsq(X @ Q, images["sparse detection image"].ravel(), rcond=None)
    assert np.linalg.norm(shares[0]) == pytest.approx(1, rel=1e-5)
    curves = [e for e in exhibits.values() if isinstance(e, Curve)]
    assert len({(curve.x_label, curve.y_label) for curve in curves}) == 1


def test_a_changed_file_is_read_anew_and_a_missing_one_refused(scene, tmp_path):
    problem = HyperspectralAnomaly(path=scene, rank=2)
    first, before = problem.checksum(), built(problem).oracle.X
    scipy.io.savemat(scene, {"data": cube() ** 2, "map": marks()})
    assert problem.checksum() != first
    assert not np.allclose(built(problem).oracle.X, before)
    missing = HyperspectralAnomaly(path=str(tmp_path / "nowhere.mat"))
    for act in (lambda: built(missing), missing.checksum):
        with pytest.raises(DataError, match=r"there is no file .*nowhere\.mat"):
            act()


def test_the_published_file_is_insisted_on(tmp_path, monkeypatch):
    monkeypatch.setenv("ORTHOBENCH_DATA", str(tmp_path))
    assert HyperspectralAnomaly().checksum() == hyperspectral.GULFPORT.sha256
    assert HyperspectralAnomaly(order=4).tensor_shape == (191,) * 4
    path = tmp_path / hyperspectral.GULFPORT.name
    scipy.io.savemat(path, {"data": cube(), "map": marks()})
    with pytest.raises(DataError, match=r"abu-airport-4\.mat is not the file expected"):
        built(HyperspectralAnomaly())
    own = datasets.DataFile(path.name, hashlib.sha256(path.read_bytes()).hexdigest(), (), "me")
    monkeypatch.setattr(hyperspectral, "GULFPORT", own)
    assert built(HyperspectralAnomaly(rank=2)).oracle.X.shape == (120, 5)
