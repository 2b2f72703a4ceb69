"""The problems on the orthogonal group: gradients, restrictions, and the optima they name."""

import itertools

import numpy as np
import pytest
from drawn import built
from orthobench_stiefel.problems.ica import ICA, SIGNS, amari_distance
from orthobench_stiefel.problems.orthogonal_brockett import Brockett
from orthobench_stiefel.problems.orthogonal_procrustes import Optima, Procrustes
from scipy.linalg import expm

from orthobench.contract.problem import Solution
from orthobench.errors import DataError
from orthobench.tools.geometry import random_point

PROBLEMS = [
    Procrustes(n=5, rows=9),
    Procrustes(n=4, rows=2, noise=1.0),
    Brockett(n=5),
    *(ICA(n=4, samples=300, sources=kind) for kind in SIGNS),
]
named = pytest.mark.parametrize("problem", PROBLEMS, ids=str)


def point(n, seed=0):
    return random_point(n, n, np.random.default_rng(seed))


def measured(instance, U):
    return instance.measure(Solution(U))


@named
def test_the_gradient_is_that_of_finite_differences(problem):
    oracle = built(problem).oracle
    U = point(problem.n)
    G, step = oracle.gradient(U), 1e-6
    for i, j in np.ndindex(U.shape):
        E = np.zeros(U.shape)
        E[i, j] = step
        difference = (oracle.cost(U + E) - oracle.cost(U - E)) / (2 * step)
        assert G[i, j] == pytest.approx(difference, rel=1e-5, abs=1e-6 * np.abs(G).max())


@named
def test_a_restriction_is_the_cost_along_the_rotation(problem):
    oracle = built(problem).oracle
    U = point(problem.n)
    carried, scale = oracle.carry(U), abs(oracle.cost(U)) + 1
    for i, j in itertools.permutations(range(problem.n), 2):
        f = oracle.restricted(carried, i, j)
        H = np.zeros(U.shape)
        H[i, j], H[j, i] = 1.0, -1.0
        for angle in (-2.5, -0.3, 1e-3, 0.7, 3.0):
            turned = U @ expm(-angle * H)
            change = oracle.cost(turned) - oracle.cost(U)
            assert f(angle) - f(0.0) == pytest.approx(change, abs=1e-12 * scale)


@named
def test_the_metrics(problem):
    instance = built(problem)
    metrics = measured(instance, point(problem.n))
    assert list(metrics)[:3] == ["objective_gap", "objective", "gradient_norm"]
    gap = metrics["objective"] - instance.best["objective"]
    assert metrics["objective_gap"] == pytest.approx(gap, rel=1e-12)
    assert metrics["objective_gap"] > 0
    assert instance.best["objective_gap"] == 0


# Brockett


def test_brockett_has_a_matrix_of_the_gaussian_orthogonal_ensemble():
    """Variance 1 on the diagonal and 1/2 elsewhere: |A|² is n (n + 1) / 2 on average."""
    n = 120
    A = built(Brockett(n=n)).oracle.A
    assert np.array_equal(A, A.T)
    assert np.sum(A**2) == pytest.approx(n * (n + 1) / 2, rel=0.05)


# Procrustes


@pytest.mark.parametrize("seed", range(4))
def test_procrustes_has_its_optimum_on_either_component(seed):
    problem = Procrustes(n=5, rows=8, noise=0.5)
    instance = built(problem, seed)
    optima = Optima(instance.oracle.M)
    assert np.linalg.det(optima.best) * np.linalg.det(optima.reflected) == pytest.approx(-1)
    values = np.linalg.svd(instance.oracle.M, compute_uv=False)
    cost = instance.oracle.cost
    worse = cost(optima.reflected) - cost(optima.best)
    assert worse == pytest.approx(4 * values[-1], rel=1e-10)
    for U, component in ((optima.best, 0), (optima.reflected, worse)):
        metrics = measured(instance, U)
        assert metrics["objective_gap"] == pytest.approx(component, rel=1e-10, abs=1e-25)
        assert metrics["component_gap"] == pytest.approx(0, abs=1e-25)
        assert metrics["gradient_norm"] < 1e-12
    for k in range(300):
        U = point(5, k)
        best = (
            optima.best if np.linalg.det(U) * np.linalg.det(optima.best) > 0 else optima.reflected
        )
        assert cost(U) > cost(best)
        assert measured(instance, U)["component_gap"] == pytest.approx(cost(U) - cost(best))


def eigenvectors(oracle):
    values, vectors = np.linalg.eigh(oracle.A)
    assert np.all(np.diff(oracle.weights) < 0)
    return vectors[:, np.argsort(-values)]


# Brockett


def test_brockett_is_minimized_by_the_eigenvectors_in_their_order():
    instance = built(Brockett(n=4))
    oracle = instance.oracle
    V = eigenvectors(oracle)
    arranged = {p: oracle.cost(V[:, p]) for p in itertools.permutations(range(4))}
    assert min(arranged, key=arranged.get) == (0, 1, 2, 3)
    assert arranged[0, 1, 2, 3] == pytest.approx(instance.best["objective"], rel=1e-14)
    assert measured(instance, V * [1, -1, 1, 1])["objective_gap"] == pytest.approx(0, abs=1e-25)


# ICA


@pytest.mark.parametrize("kind", SIGNS)
def test_ica_is_whitened_and_its_best_is_next_to_the_truth(kind):
    instance = built(ICA(n=4, samples=20_000, sources=kind))
    truth = instance.measure.further.unmixing
    Z = instance.oracle.Z
    np.testing.assert_allclose(Z.T @ Z / len(Z), np.eye(4), atol=1e-12)
    np.testing.assert_allclose(truth.T @ instance.measure.further.mixed, np.eye(4), atol=0.05)
    metrics = measured(instance, truth)
    assert metrics["amari_distance"] < 0.02
    assert 0 <= metrics["objective_gap"] < 1e-3 * abs(metrics["objective"])
    elsewhere = measured(instance, point(4))
    assert elsewhere["objective_gap"] > 0.5
    assert metrics["gradient_norm"] < 0.3 * elsewhere["gradient_norm"]


def test_ica_refuses_sources_that_are_linearly_dependent():
    problem = ICA(n=2, samples=8, sources="binary")
    refused = 0
    for seed in range(50):
        S = np.random.default_rng(seed).choice([-1.0, 1.0], (8, 2))
        if np.linalg.matrix_rank(S - S.mean(axis=0)) == 2:
            Z = built(problem, seed).oracle.Z
            np.testing.assert_allclose(Z.T @ Z / len(Z), np.eye(2), atol=1e-10)
        else:
            refused += 1
            with pytest.raises(DataError, match=r"linearly dependent.*take more samples than 8"):
                built(problem, seed)
    assert refused >= 3


def test_the_amari_distance_by_its_definition():
    P = np.array([[1.0, -0.5, 0.2], [0.1, 2.0, 0.4], [-0.3, 0.6, 3.0]])
    rows = [1.7 - 1, 2.5 / 2 - 1, 3.9 / 3 - 1]
    columns = [1.4 - 1, 3.1 / 2 - 1, 3.6 / 3 - 1]
    assert amari_distance(P) == pytest.approx((sum(rows) + sum(columns)) / 12, rel=1e-14)
    assert amari_distance(np.ones((6, 6))) == 1
    assert amari_distance(np.array([[-3.0]])) == 0
