"""Problems on the Stiefel manifold: gradients, optima and what is refused."""

import numpy as np
import pytest
from drawn import built
from orthobench_stiefel import FiniteSumOracle, projected
from orthobench_stiefel.problems.assignment import QuadraticAssignment
from orthobench_stiefel.problems.brockett import StiefelBrockett
from orthobench_stiefel.problems.diagonalization import JointDiagonalization
from orthobench_stiefel.problems.eigenvalue import (
    KohnShamOracle,
    NonlinearEigenvalue,
    self_consistent,
)
from orthobench_stiefel.problems.procrustes import StiefelProcrustes, StiefelProcrustesBatch
from orthobench_stiefel.problems.rotation import WeightRotation
from orthobench_stiefel.solvers.riemannian_gradient import RiemannianGradient
from scipy.linalg import hadamard

import orthobench as ob
from orthobench.contract.problem import Solution
from orthobench.tools.geometry import random_point

SMALL = [
    StiefelBrockett(n=12, p=4, condition=100.0),
    StiefelBrockett(n=6, p=6),
    StiefelProcrustes(n=10, p=3, rows=25, noise=0.5),
    StiefelProcrustes(n=6, p=6, rows=9, noise=0.0),
    StiefelProcrustesBatch(matrices=3, n=7, p=2, rows=9, noise=0.5),
    QuadraticAssignment(n=6),
    JointDiagonalization(n=6, matrices=4),
    JointDiagonalization(n=5, matrices=3, noise=0.0),
    NonlinearEigenvalue(n=10, p=2),
    WeightRotation(n=8, rows=30),
]
OUTLYING = WeightRotation(n=6, rows=30, outliers=2)


def points(oracle, seed=0):
    rng = np.random.default_rng(100 + seed)
    shape = (*oracle.stack, -1, oracle.k)
    oracle.start = random_point(oracle.n, oracle.k, rng)
    return oracle.start, rng.standard_normal((oracle.n, oracle.k)).reshape(shape)


@pytest.mark.parametrize("problem", [*SMALL, OUTLYING], ids=repr)
def test_gradients_are_those_of_the_cost(problem):
    """By central differences of two steps, extrapolated; off the manifold too."""
    oracle = built(problem).oracle
    X, V = points(oracle)
    assert problem.square == (oracle.k == oracle.n)
    for at in (X, X + 0.1 * V):
        wide, narrow = (
            (oracle.value(at + h * V) - oracle.value(at - h * V)) / (2 * h) for h in (2e-3, 1e-3)
        )
        exact = float(np.vdot(oracle.gradient(at), V))
        scale = float(np.linalg.norm(oracle.gradient(at)) * np.linalg.norm(V))
        assert abs((4 * narrow - wide) / 3 - exact) < 1e-9 * scale
        value, G = oracle.value_and_gradient(at)
        assert value == pytest.approx(oracle.value(at), rel=1e-13)
        assert np.abs(G - oracle.gradient(at)).max() <= 1e-14 * np.abs(G).max()


@pytest.mark.parametrize("problem", SMALL, ids=repr)
def test_rows_and_terms_are_those_of_the_gradient(problem):
    oracle = built(problem).oracle
    X, _ = points(oracle)
    G = oracle.gradient(X)
    rows = np.array([3, 0])
    assert np.abs(oracle.gradient_rows(X, rows) - G[..., rows, :]).max() < 1e-13
    if isinstance(oracle, FiniteSumOracle):
        oracle.rewind(np.random.default_rng(0))
        single = [oracle.stochastic_gradient(X, 1) for _ in range(oracle.terms)]
        assert np.abs(np.mean(single, axis=0) - G).max() < 1e-12 * np.abs(G).max()


@pytest.mark.parametrize("problem", SMALL, ids=repr)
def test_the_gap_is_the_cost_less_the_best(problem):
    instance = built(problem)
    for seed in range(3):
        metrics = instance.measure(Solution(points(instance.oracle, seed)[0]))
        difference = metrics["objective"] - instance.best["objective"]
        assert metrics["objective_gap"] == pytest.approx(difference, rel=1e-11, abs=1e-13)
        assert metrics["objective_gap"] > 0


def optimum(problem):
    """Return the point of minimum cost, computed independently of the problem."""
    oracle = built(problem).oracle
    rng = np.random.default_rng(0)
    if isinstance(problem, StiefelBrockett):
        return np.linalg.eigh(oracle.A)[1][:, : problem.p]
    if isinstance(problem, StiefelProcrustes):
        rng.standard_normal((problem.rows, problem.n))
        return random_point(problem.n, problem.p, rng)
    if isinstance(problem, StiefelProcrustesBatch):
        return np.stack([problem.single.planted(rng)[1] for _ in range(problem.matrices)])
    if isinstance(problem, QuadraticAssignment):
        rng.standard_normal((problem.n, problem.n))
        return np.eye(problem.n)[rng.permutation(problem.n)]
    if isinstance(problem, JointDiagonalization):
        return random_point(problem.n, problem.n, rng)
    if isinstance(problem, NonlinearEigenvalue):
        return self_consistent(oracle)
    Q = random_point(problem.n, problem.n, rng)
    return Q.T @ hadamard(problem.n) / np.sqrt(problem.n)


EXACT = [p for p in SMALL if not (isinstance(p, JointDiagonalization) and p.noise)]


@pytest.mark.parametrize("problem", EXACT, ids=repr)
def test_the_optimum_is_attained_and_stationary(problem):
    instance = built(problem)
    X = optimum(problem)
    metrics = instance.measure(Solution(X))
    assert abs(metrics["objective_gap"]) < 1e-12
    assert np.linalg.norm(projected(X, instance.oracle.gradient(X))) < 1e-10


@pytest.mark.parametrize(
    ("n", "p", "alpha", "energy"),
    [(10, 2, 1.0, 1.18442609637), (100, 10, 1.0, 35.708570777), (100, 10, 10.0, 284.293773467)],
)
def test_energies_of_the_nonlinear_eigenvalue_problem(n, p, alpha, energy):
    best = built(NonlinearEigenvalue(n=n, p=p, alpha=alpha)).best
    assert best["objective"] == pytest.approx(energy, abs=1e-9)


LAPLACIAN = 2 * np.eye(7) - np.eye(7, k=1) - np.eye(7, k=-1)


@pytest.mark.parametrize("form", [np.float64, np.float32])
def test_the_energy_is_that_of_its_matrices_in_either_precision(form):
    """NumPy's float32 takes the way of other libraries."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((7, 2)).astype(form)
    density = (X.astype(float) ** 2).sum(axis=1)
    potential = 3 * np.linalg.solve(LAPLACIAN, density)
    energy = np.vdot(X, LAPLACIAN @ X) / 2 + density @ potential / 4
    value, G = KohnShamOracle(7, 2, 3.0).value_and_gradient(X)
    assert value == pytest.approx(energy, rel=1e-5)
    assert pytest.approx(LAPLACIAN @ X + potential[:, None] * X, rel=1e-4, abs=1e-4) == G


def test_a_rotation_takes_out_columns_of_outliers():
    """The bound on the kurtosis holds, and learning beats no rotation, a random one and Hadamard's.

    It is a proxy of the rounding error, which falls with it.
    """
    instance = built(WeightRotation(n=32, rows=400, tail=3.0, outliers=3))
    learned = ob.solve(RiemannianGradient(), instance, ob.Budget(steps=300)).solution
    random = random_point(32, 32, np.random.default_rng(5))
    points = np.eye(32), random, hadamard(32) / np.sqrt(32), learned
    metrics = [instance.measure(Solution(X)) for X in points]
    gaps, errors = ([m[name] for m in metrics] for name in ("objective_gap", "rounding_error"))
    assert min(gaps) > 0
    assert gaps == sorted(gaps, reverse=True)
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.97 * errors[2] < 0.8 * errors[1] < 0.7 * errors[0]


@pytest.mark.parametrize(
    ("problem", "settings", "message"),
    [
        (StiefelBrockett, {"n": 3, "p": 4}, "p = 4 columns are more than n = 3 rows"),
        (StiefelProcrustes, {"n": 3, "p": 4}, "p = 4 columns are more than n = 3 rows"),
        (StiefelProcrustes, {"n": 30, "rows": 29}, "rows = 29 are fewer than n = 30"),
        (NonlinearEigenvalue, {"n": 3, "p": 4}, "p = 4 columns are more than n = 3 rows"),
        (WeightRotation, {"n": 12}, "n must be a power of two, not 12"),
        (WeightRotation, {"n": 4, "outliers": 5}, "outliers = 5 columns are more than n = 4"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(problem, settings, message):
    with pytest.raises(ob.UsageError, match=message):
        problem(**settings)


def test_an_energy_without_a_reference_is_refused():
    with pytest.raises(ob.DataError, match="not self-consistent"):
        built(NonlinearEigenvalue(n=16, p=3, alpha=1e5))
