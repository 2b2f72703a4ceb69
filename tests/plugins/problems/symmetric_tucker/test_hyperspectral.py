"""The scene as a problem: what solvers see, what the judge says, what there is to look at."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
import scipy.io
from orthobench_tucker import ComponentSolution
from orthobench_tucker.problems import hyperspectral
from orthobench_tucker.problems.hyperspectral import HyperspectralAnomaly
from orthobench_tucker.sample_moments import gradient, partial_core

from orthobench.contract.exhibits import Curve, Image
from orthobench.contract.problem import Solution
from orthobench.errors import DataError, UsageError
from orthobench.tools import datasets
from orthobench.tools.geometry import orthonormalize, random_point, subspace_error

needs_gulfport = pytest.mark.needs_data(hyperspectral.GULFPORT)


def rng(seed=0):
    return np.random.default_rng(seed)


def built(problem, seed=0):
    return problem.build(rng(seed))


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


def test_components_are_scored_and_shown_through_their_span(scene):
    instance = built(HyperspectralAnomaly(path=scene, rank=2))
    V = rng(6).standard_normal((BANDS, 3))
    V /= np.linalg.norm(V, axis=0)
    found = instance.measure(ComponentSolution(V, np.ones(3)))
    span = instance.measure(Solution(orthonormalize(V)))
    assert found["roc_auc"] == pytest.approx(span["roc_auc"])
    assert list(found) == ["auc_gap", "roc_auc", "relative_error"]
    exhibits = instance.exhibits(ComponentSolution(V, np.ones(3)))
    assert [name for name in exhibits if name.startswith("band")] == ["band 1", "band 2"]


def test_what_there_is_to_look_at(scene):
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


def test_a_scene_of_ones_own_may_have_any_size(scene, tmp_path):
    problem = HyperspectralAnomaly(path=scene, rank=6)
    assert problem.tensor_shape is None
    with pytest.raises(UsageError, match="between 1 and 5"):
        built(problem)
    flat = cube()
    flat[:, :, 1] = 3
    scipy.io.savemat(tmp_path / "flat.mat", {"data": flat, "map": marks()})
    assert built(HyperspectralAnomaly(path=str(tmp_path / "flat.mat"))).oracle.n == 4
    scipy.io.savemat(tmp_path / "equal.mat", {"data": 0 * flat, "map": marks()})
    with pytest.raises(DataError, match=r"equal\.mat: all pixels are equal"):
        built(HyperspectralAnomaly(path=str(tmp_path / "equal.mat")))


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


# --- Gulfport ---


@pytest.fixture(scope="module")
def gulfport():
    return built(HyperspectralAnomaly())


@pytest.fixture(scope="module")
def flattened(gulfport):
    """mat(M) mat(M)', the Gram matrix of the flattened third moment, by equation 14."""
    X = gulfport.oracle.X
    K = X @ X.T
    return X.T @ (K * K @ X) / len(X) ** 2


def leading(A, r):
    return np.linalg.eigh(A)[1][:, ::-1][:, :r]


@needs_gulfport
def test_the_published_scene_is_what_it_is_known_to_be(gulfport):
    X = gulfport.oracle.X
    assert X.shape == (10_000, 191)
    assert np.abs(X.T @ X / 10_000 - np.eye(191)).max() < 1e-7
    gulfport.oracle.prepare(1)
    assert gulfport.oracle.remaining() == 200_000
    exhibits = gulfport.exhibits(Solution(np.eye(191, 4)))
    assert exhibits["anomalies"].values.sum() == 60
    assert np.array_equal(exhibits["ROC"].y, exhibits["PCA of the covariance"].y)


@needs_gulfport
def test_principal_components_reach_what_the_paper_prints(gulfport):
    assert gulfport.measure(Solution(np.eye(191, 4)))["roc_auc"] == pytest.approx(0.8893, abs=5e-5)


@needs_gulfport
def test_the_third_moment_says_more_than_the_covariance(gulfport, flattened):
    X, hoevd = gulfport.oracle.X, leading(flattened, 4)
    found = gulfport.measure(Solution(hoevd))
    square = found["objective"] / (1 - found["relative_error"])
    assert square == pytest.approx(np.trace(flattened))
    assert found["roc_auc"] == pytest.approx(0.9526, abs=2e-4)
    Q = hoevd
    for _ in range(40):
        W = partial_core(X, Q, 3)
        Q = orthonormalize(gradient(W, Q.T @ W, 3))
    ascended = gulfport.measure(Solution(Q))
    assert ascended["relative_error"] < found["relative_error"]
    assert ascended["roc_auc"] == pytest.approx(0.9646, abs=2e-4)
    assert subspace_error(Q, hoevd) > 0.1


@needs_gulfport
def test_batches_of_neighbours_in_a_column_find_the_aircraft_and_in_a_row_do_not():
    """Algorithm 3 with the paper's 500 batches of 100 and c1 = 0.35: section 5.1."""
    areas = {"column-major": [], "row-major": []}
    for pixels, found in areas.items():
        instance = built(HyperspectralAnomaly(pixels=pixels))
        for seed in range(3):
            Q, length = random_point(191, 4, rng(seed)), np.full(4, 1e-5)
            instance.oracle.rewind(rng())
            instance.oracle.prepare(50_000)
            for _ in range(500):
                B = instance.oracle.take(100)
                G = 2 / 100**2 * (B.T @ ((B @ B.T) ** 2 @ (B @ Q)))
                length = np.hypot(length, np.linalg.norm(G, axis=0))
                Q = orthonormalize(Q + 0.35 * G / length)
            found.append(instance.measure(Solution(Q))["roc_auc"])
    assert min(areas["column-major"]) > 0.96
    assert max(areas["row-major"]) < 0.93


@needs_gulfport
def test_the_sparse_image_shows_the_aircraft_and_that_of_pca_the_ground(gulfport, flattened):
    exhibits = gulfport.exhibits(Solution(leading(flattened, 4)))
    names = ("sparse detection image", "sparse detection image of PCA")
    found, ground = (np.abs(exhibits[name].values) for name in names)
    anomalies = exhibits["anomalies"].values == 1
    assert found.mean() < 0.8 * ground.mean()
    assert found[anomalies].mean() > 4 * found[~anomalies].mean()
