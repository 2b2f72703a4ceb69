"""The flops of principal components, and the ends of block Krylov."""

import numpy as np
import pytest
import scipy.sparse as sp
from orthobench_pca import scatter
from orthobench_pca.solvers.gram import GramPCA
from orthobench_pca.solvers.libraries import SklearnTruncatedSVD
from orthobench_pca.solvers.randomized import BlockKrylovPCA
from orthobench_pca.solvers.scipy_methods import ScipyEigsh, ScipyLOBPCG, ScipySVDS
from scipy.sparse.linalg import aslinearoperator

import orthobench as ob
from orthobench.tools.flops import eigh

ROWS, D, K = 40, 12, 2


def data(rows=ROWS, d=D):
    return np.random.default_rng(0).standard_normal((rows, d)) * np.linspace(3, 1, d) + 1


def work(solver, X, k=K, center=True, budget=None):
    return ob.solve(solver, ob.pca(X, k, center), budget).work


def test_gram_pca_flops_are_those_of_the_smaller_side():
    assert work(GramPCA(), data()).flops == ROWS * D**2 + eigh(D)
    assert work(GramPCA(), data(D)).flops == D**3 + eigh(D)
    assert work(GramPCA(), data(10)).flops == 10**2 * D + eigh(10) + 2 * D * K * 10


@pytest.mark.parametrize("solver", [ScipySVDS(), ScipyEigsh(), ScipyLOBPCG()])
def test_scipy_flops_are_those_of_products(solver):
    for rows, d in ((ROWS, D), (D, ROWS)):
        outcome = ob.solve(solver, ob.pca(data(rows, d), K))
        products = outcome.trace[-1].metrics["products"]
        assert outcome.work.flops == 2 * rows * d * products > 0


@pytest.mark.parametrize(
    "solver", [ScipySVDS(), ScipyEigsh(), SklearnTruncatedSVD(algorithm="arpack")]
)
def test_arpack_takes_fewer_components_than_the_smaller_side_has(solver):
    center = not isinstance(solver, SklearnTruncatedSVD)
    for shape in ((8, 4), (4, 8)):
        assert work(solver, data(*shape), 3, center).steps == 1
        with pytest.raises(ob.UsageError, match=r"takes k below min\(rows, columns\) = 4"):
            ob.solve(solver, ob.pca(data(*shape), 4, center))


def test_krylov_basis_is_compressed_and_ends_at_the_tolerance():
    """It ends at the first residual below it, for tall and for wide matrices."""
    tall = np.random.default_rng(0).standard_normal((300, 60))
    for tolerance in (1e-3, 1e-9):
        for X in (tall, tall.T):
            solver, oracle = (
                BlockKrylovPCA(oversampling=0, tolerance=tolerance),
                ob.pca(X, 1).oracle,
            )
            oracle.start = np.eye(X.shape[1], 1)
            state = solver.init(oracle, np.random.default_rng(0))
            Z = X - X.mean(axis=0)
            widths, residuals = [], []
            while state.status.name == "RUNNING":
                solver.step(oracle, state)
                widths.append(state.Q.shape[1])
                u = state.Q @ state.Y[:, 0]
                w = Z.T @ (Z @ u) if X is tall else Z @ (Z.T @ u)
                residuals.append(np.linalg.norm(w - u * (u @ w)) / (u @ w))
            assert widths[:14] == [*range(1, 13), 1, 2][: len(widths)]
            assert residuals[-1] <= tolerance
            assert min(residuals[:-1]) > tolerance
            right = np.linalg.svd(Z)[2][0]
            assert abs(right @ solver.solution(state).point[:, 0]) > 1 - 1e4 * tolerance**2 - 1e-14


@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, sp.csr_matrix, aslinearoperator])
def test_both_gram_matrices_are_those_of_the_centred_and_scaled_rows(kind):
    X = data(7, 5)
    deviations = np.std(X, axis=0)
    for center in (True, False):
        Z = (X - X.mean(axis=0) if center else X) / deviations
        oracle = ob.pca(kind(X), 2, center).oracle
        oracle.scale = deviations
        np.testing.assert_allclose(np.triu(scatter.scatter(oracle)), np.triu(Z.T @ Z), atol=1e-10)
        inner = np.triu(scatter.inner_products(oracle))
        np.testing.assert_allclose(inner, np.triu(Z @ Z.T), atol=1e-10)


@pytest.mark.parametrize(("kind", "edge"), [(np.float64, 1e4), (np.float32, 10.0)])
def test_rows_are_read_again_where_means_have_many_times_the_variance(kind, edge):
    """All columns have mean m and variance 1; m² is above the edge or below."""
    signs = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])
    for share, passes in ((0.9, 1), (1.1, 2)):
        X = (signs + np.sqrt(share * edge)).astype(kind)
        oracle = ob.pca(X, 1).oracle
        np.testing.assert_allclose(np.triu(scatter.scatter(oracle)), 4 * np.eye(2), atol=1e-3)
        assert oracle.passes == passes
        np.testing.assert_allclose(scatter.shared_scatter(oracle), 4 * np.eye(2), atol=1e-3)
