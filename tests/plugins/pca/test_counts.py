"""The flops of principal components, written out as the notes say, and where routes part."""

from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from orthobench_pca import scatter
from orthobench_pca.solvers.gram import GramPCA
from orthobench_pca.solvers.incremental import IncrementalPCA
from orthobench_pca.solvers.libraries import SklearnPCA, SklearnTruncatedSVD, randomized_flops
from orthobench_pca.solvers.randomized import BlockKrylovPCA, RandomizedPCA, _expansion, _nystrom
from orthobench_pca.solvers.scipy_methods import ScipyEigsh, ScipyLOBPCG, ScipySVDS
from scipy.sparse.linalg import aslinearoperator

import orthobench as ob
from orthobench.tools.flops import eigh, qr, svd

ROWS, D, K = 40, 12, 2


def data(rows=ROWS, d=D):
    return np.random.default_rng(0).standard_normal((rows, d)) * np.linspace(3, 1, d) + 1


def work(solver, X, k=K, center=True, budget=None):
    return ob.solve(solver, ob.pca(X, k, center), budget).work


def test_of_gram_matrices_of_the_smaller_side():
    assert work(GramPCA(), data()).flops == ROWS * D**2 + eigh(D)
    assert work(GramPCA(), data(D)).flops == D**3 + eigh(D)
    assert work(GramPCA(), data(10)).flops == 10**2 * D + eigh(10) + 2 * D * K * 10


def test_a_gram_matrix_of_rows_has_no_vectors_for_rounding():
    X = np.outer(np.arange(5.0), np.arange(1.0, 9))
    found, *_ = GramPCA().components(ob.pca(X, 3, center=False).oracle, None)
    assert found.shape == (8, 1)


@pytest.mark.parametrize("n_iter", [0, 3])
def test_of_randomized_iterations_on_the_shorter_side(n_iter):
    solver = RandomizedPCA(n_iter=n_iter, oversampling=3)
    products, b = 4 * ROWS * D * 5 * (n_iter + 1), 5
    assert work(solver, data()).flops == products + n_iter * qr(D, b) + svd(D, b)
    wide = products + (n_iter + 1) * qr(D, b) + svd(ROWS, b)
    assert work(solver, data(D, ROWS)).flops == wide
    assert work(solver, data(D, D)).flops == 4 * D**2 * b * (n_iter + 1) + n_iter * qr(D, b) + svd(
        D, b
    )


def test_no_more_columns_are_drawn_than_there_are():
    assert work(RandomizedPCA(n_iter=0), data()).flops == 4 * ROWS * D * 12 + svd(D, 12)
    assert work(RandomizedPCA(n_iter=0), data(), 1).flops == 4 * ROWS * D * 11 + svd(D, 11)


def krylov(rows, d, m, b):
    """Return the flops of a step with a basis of m columns, of which b are new."""
    side = min(rows, d)
    products = 4 * rows * d * b + 8 * side * m * b
    return products + eigh(m) + 6 * side * b * m + svd(side, b) + qr(side, b)


@pytest.mark.parametrize(("rows", "d"), [(ROWS, D), (D, ROWS), (D, D)])
def test_of_steps_of_block_krylov(rows, d):
    solver, b = BlockKrylovPCA(oversampling=1, tolerance=1e-14), 3
    for center in (True, False):
        instance = ob.pca(data(rows, d), K, center)
        outcome = ob.solve(solver, instance, ob.Budget(steps=2))
        passes = 2 * (1 if rows >= d else 2) + center
        assert outcome.trace[-1].metrics["passes"] == passes
        first = qr(min(rows, d), b) + rows * d * center
        assert outcome.trace[0].work.flops == first
        assert outcome.work.flops == first + sum(krylov(rows, d, m, b) for m in (b, 2 * b))


def test_of_blocks_of_incremental_pca():
    """A row for the move of the mean, and 5 components kept: 5 (K + 3) rows a block."""
    solver = IncrementalPCA(oversampling=3)
    found = work(solver, data())
    assert found.steps == 2
    assert found.flops == svd(25 + 5, D) + svd(15 + 5, D)
    assert work(IncrementalPCA(block=10), data()).steps == 4


@pytest.mark.parametrize("solver", [ScipySVDS(), ScipyEigsh(), ScipyLOBPCG()])
def test_of_products_alone(solver):
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


def of_sklearn(shape, k=K, sparse=False, **settings):
    oracle = SimpleNamespace(rows=shape[0], n=shape[1], k=k, sparse=sparse)
    return SklearnPCA(**settings)._flops(oracle)


def test_of_what_scikit_learn_decomposes():
    n, d = 100, 20
    covariance, whole = 2 * n * d**2 + eigh(d), svd(n, d)
    assert of_sklearn((n, d), svd_solver="covariance_eigh") == covariance
    assert of_sklearn((n, d), svd_solver="full") == whole
    assert of_sklearn((n, d), svd_solver="arpack") == 4 * n * d * 20
    assert of_sklearn((n, d), k=10, svd_solver="arpack") == 4 * n * d * 21
    assert of_sklearn((n, d), svd_solver="randomized") == 4 * n * d * 12 * 5
    randomized = {"svd_solver": "randomized", "n_iter": 0, "oversampling": 4}
    assert of_sklearn((n, d), **randomized) == 4 * n * d * 6


def test_scikit_learn_chooses_by_shape_what_is_counted():
    from sklearn.decomposition import PCA

    for shape, k in (
        ((500, 50), 2), ((499, 50), 2), ((10_000, 1000), 2), ((10_010, 1001), 2), ((400, 500), 2),
        ((400, 501), 2), ((501, 400), 2), ((501, 500), 400), ((501, 500), 399),
    ):  # fmt: skip
        chosen = SklearnPCA()._method(SimpleNamespace(rows=shape[0], n=shape[1], k=k, sparse=False))
        method = PCA(k, svd_solver="auto")
        with suppress(TypeError):
            method._fit_full = method._fit_truncated = None  # only what it chooses is asked
            method._fit(np.broadcast_to(0.0, shape))
        assert method._fit_svd_solver == chosen, (shape, k)


def test_a_sparse_matrix_is_decomposed_by_arpack_where_scikit_learn_chooses():
    assert of_sklearn((500, 50), sparse=True) == 4 * 500 * 50 * 20


def test_of_power_iterations_with_no_more_columns_than_there_are():
    oracle = SimpleNamespace(rows=ROWS, n=D, k=K)
    assert randomized_flops(oracle, 3, 4) == 4 * ROWS * D * 6 * 4
    assert randomized_flops(oracle, 0, 40) == 4 * ROWS * D * 12


def test_nystrom_leaves_out_what_is_rounding():
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    for unit in (1e-10, 1.0, 1e10):
        C = unit * np.diag([4.0, 2.0, 0.0])
        found = _nystrom(Q, C @ Q)
        assert found.shape == (3, 2)
        np.testing.assert_allclose(np.abs(found), np.eye(3, 2), atol=1e-7)


def test_an_expansion_has_the_directions_of_residuals_that_a_basis_lacks():
    Q = np.eye(5, 2)
    residuals = np.array([[1.0, 0, 0], [0, 1, 0], [3, 0, 0], [0, 1e-9, 0], [0, 0, 0]])
    for floor, count in ((1e-10, 2), (1e-8, 1), (4.0, 0)):
        found = _expansion(Q, residuals, floor)
        assert found.shape == (5, count)
        np.testing.assert_allclose(Q.T @ found, 0, atol=1e-15)
        np.testing.assert_allclose(found.T @ found, np.eye(count), atol=1e-12)
    assert (
        _expansion(np.eye(5, 4), np.random.default_rng(0).standard_normal((5, 3)), 0).shape[1] == 1
    )
    assert _expansion(np.eye(5), residuals, 0.0).shape[1] == 0


def test_a_basis_of_many_blocks_is_compressed_and_goes_on_up_to_the_tolerance():
    """It ends at the first residual below it, of the rows too where these are fewer."""
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


def test_a_direction_is_used_until_its_residual_is_far_below_the_tolerance():
    X = np.random.default_rng(0).standard_normal((300, 60)) * np.linspace(2, 1, 60)
    solver, oracle = BlockKrylovPCA(oversampling=0, tolerance=1e-3), ob.pca(X, 3).oracle
    oracle.start = np.eye(60, 3)
    state, widths = solver.init(oracle, np.random.default_rng(0)), []
    while state.status.name == "RUNNING":
        solver.step(oracle, state)
        widths.append(state.Q.shape[1])
    assert widths == [*range(3, 3 * len(widths) + 1, 3)]


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


def test_a_gram_matrix_of_two_gigabytes_is_formed_and_no_larger():
    for kind, side in ((np.float64, 2**14), (np.float32, 23_170)):
        matrix = SimpleNamespace(dtype=np.dtype(kind))
        scatter.refuse_large(SimpleNamespace(rows=side, n=10**6, matrix=matrix))
        with pytest.raises(
            ob.UsageError, match=f"would take {(side + 1) ** 2 * kind().itemsize:,}"
        ):
            scatter.refuse_large(SimpleNamespace(rows=10**6, n=side + 1, matrix=matrix))


def test_a_mirrored_matrix_is_symmetric():
    for side in (255, 256, 257, 600):
        C = np.random.default_rng(0).standard_normal((side, side))
        upper = np.triu(C)
        np.testing.assert_array_equal(scatter.mirrored(C), upper + np.triu(upper, 1).T)


def test_leading_eigenvectors_descend():
    for k in (1, 3, 4, 6, 7):
        values, vectors = scatter.leading(np.diag(np.arange(7.0)), k)
        np.testing.assert_allclose(values, np.arange(6.0, 6 - k, -1), atol=1e-12)
        np.testing.assert_allclose(np.abs(vectors), np.eye(7)[:, ::-1][:, :k], atol=1e-12)


@pytest.mark.parametrize(("kind", "edge"), [(np.float64, 1e4), (np.float32, 10.0)])
def test_rows_are_read_again_where_means_have_many_times_the_variance(kind, edge):
    """All columns have mean m and variance 1: where m² is above the edge."""
    signs = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])
    for share, passes in ((0.9, 1), (1.1, 2)):
        X = (signs + np.sqrt(share * edge)).astype(kind)
        oracle = ob.pca(X, 1).oracle
        np.testing.assert_allclose(np.triu(scatter.scatter(oracle)), 4 * np.eye(2), atol=1e-3)
        assert oracle.passes == passes
        np.testing.assert_allclose(scatter.shared_scatter(oracle), 4 * np.eye(2), atol=1e-3)
