"""Degenerate data of pairs, pencils, tensors and polar factors, as they are met in practice.

Each row has a right value from a formula of its own. Most come from public reports of faults in
other libraries.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from kinds import one_of
from orthobench_stiefel.autodiff import Differentiated
from scipy.linalg import eigh

import orthobench as ob

CCA = ("cca-exact", "cca-als", "cca-block-krylov")
POLAR = ("polar-eigh", "polar-svd", "qdwh", "zolotarev", "scipy-polar")

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 5))
Y = X @ RNG.standard_normal((5, 4)) + RNG.standard_normal((300, 4))
COUNTS = RNG.poisson(1.0, (500, 8)).astype(float)
OTHERS = COUNTS[:, :5] + RNG.poisson(1.0, (500, 5))
GENOTYPES = RNG.binomial(2, 0.3, (47, 30)).astype(np.int8)
GENOTYPES[:, 7] = 2
TURN = np.linalg.qr(RNG.standard_normal((6, 6)))[0]
RANK_2 = RNG.standard_normal((40, 2)) @ RNG.standard_normal((2, 10))


def with_column(values, at=2):
    return np.insert(X, at, values, axis=1)


def correlations(x, y, k):
    """Return the canonical correlations by orthonormal bases of what varies, of numpy alone."""
    bases = []
    for M in (x, y):
        U, values, _ = np.linalg.svd(M - M.mean(axis=0), full_matrices=False)
        bases.append(U[:, values > 1e-9 * values[0]])
    return np.linalg.svd(bases[0].T @ bases[1], compute_uv=False)[:k]


def last(solver, instance, **options):
    return dict(ob.solve(solver, instance, **options).trace[-1].metrics)


PAIRS = {
    "constant column": (with_column(7.0), Y),
    "constant that floats round": (with_column(0.1), Y),
    "constant in y": (X, np.insert(Y, 0, -1e9, axis=1)),
    "constant genotype": (GENOTYPES[:, :20], GENOTYPES[:, 20:]),
    "constant in sparse columns": (sp.csr_matrix(with_column(7.0)), sp.csr_matrix(Y)),
    "copied column": (with_column(X[:, 0]), Y),
    "sum of columns": (with_column(X[:, 0] - 1e3 * X[:, 3]), Y),
    "copies in both": (with_column(5 * X[:, 1] + 2), np.hstack([Y, Y[:, :2]])),
    "sparse copies": (sp.csr_matrix(with_column(X[:, 0])), sp.csc_array(Y)),
    "sparse with a large mean": (sp.csr_matrix(COUNTS + 1e6), sp.csr_matrix(OTHERS)),
    "sparse with two large means": (sp.csc_array(COUNTS - 1e8), sp.csr_array(OTHERS + 1e7)),
    "sparse with one large mean": (
        sp.coo_matrix(COUNTS + np.eye(1, 8, 3) * 1e9), sp.csr_matrix(OTHERS),
    ),
    "one target": (X, Y[:, 0]),
    "one target in a Series": (X, pd.Series(Y[:, 1])),
    "nullable integers": (pd.DataFrame(COUNTS).astype("Int64"), OTHERS),
}  # fmt: skip


def dense(M):
    M = M.toarray() if sp.issparse(M) else np.asarray(M, dtype=float)
    return M if M.ndim == 2 else M[:, None]


@pytest.mark.parametrize("solver", CCA)
@pytest.mark.parametrize("name", PAIRS)
def test_dependent_columns_leave_correlations_as_they_are(name, solver):
    x, y = PAIRS[name]
    if sp.issparse(x) and solver == "cca-als":
        solver = "cca-exact by=gram"
    k = min(2, dense(y).shape[1])
    expected = correlations(dense(x), dense(y), k)
    instance = ob.cca(x, y, k)
    np.testing.assert_allclose(instance.measure.correlations, expected, atol=1e-9)
    outcome = ob.solve(solver, instance)
    metrics = outcome.trace[-1].metrics
    assert abs(metrics["suboptimality"]) < 1e-7
    assert metrics["captured"] == pytest.approx(expected.sum(), abs=1e-7)
    constant = np.ptp(np.hstack([dense(x), dense(y)]), axis=0) == 0
    assert not outcome.solution[constant].any()


def test_samples_of_constant_columns_get_no_weight_from_streams():
    outcome = ob.solve("cca-appgrad", ob.cca(with_column(7.0), Y, 2, passes=20), batch=50)
    assert not outcome.solution[2].any()


def test_a_constant_column_that_varies_in_the_test_part_is_left_out():
    test = (with_column(RNG.standard_normal(300)), Y)
    found = last("cca-exact", ob.cca(with_column(7.0), Y, 2, test=test))["test_captured"]
    assert found == pytest.approx(correlations(X, Y, 2).sum(), abs=1e-9)


def few_pairs(rows, columns, k, rank=None):
    Z = RNG.standard_normal((rows, rank or columns))
    x = Z if rank is None else Z @ RNG.standard_normal((rank, columns))
    y = x if rank is None else Z @ RNG.standard_normal((rank, columns + 7))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ob.cca(x, y, k)


@pytest.mark.parametrize(
    ("rows", "columns", "k", "rank"),
    [(60, 40, 40, None), (40, 40, 39, None), (12, 30, 3, None), (200, 300, 2, 2), (9, 5, 1, 1)],
)
@pytest.mark.parametrize("solver", ["cca-exact", "cca-als"])
def test_views_of_the_same_have_correlations_of_one(rows, columns, k, rank, solver):
    instance = few_pairs(rows, columns, k, rank)
    np.testing.assert_allclose(instance.measure.correlations, 1, atol=1e-10)
    metrics = last(solver, instance)
    assert abs(metrics["suboptimality"]) < 1e-9
    assert max(metrics["x_error"], metrics["y_error"]) < 1e-5


def test_one_pair_of_columns_has_the_correlation_of_pearson():
    np.random.seed(0)  # noqa: NPY002 - the numbers of a report
    x, y = np.random.normal(size=(100, 1)), np.random.normal(size=(100, 1))  # noqa: NPY002
    found = ob.cca(x, y, 1).measure.correlations[0]
    assert found == pytest.approx(0.111729, abs=1e-6)
    assert found == pytest.approx(abs(np.corrcoef(x[:, 0], y[:, 0])[0, 1]))


def exact_pairs(rho, p=6, q=5, N=80):
    """Pairs with these sample correlations."""
    white = RNG.standard_normal((N, p + q))
    white = np.linalg.qr(white - white.mean(axis=0))[0]
    y = white[:, p:].copy()
    y[:, : len(rho)] = white[:, : len(rho)] * rho + y[:, : len(rho)] * np.sqrt(1 - rho**2)
    return white[:, :p] @ RNG.standard_normal((p, p)), y @ RNG.standard_normal((q, q))


@pytest.mark.parametrize(
    ("rho", "k"),
    [([0.8, 0.5, 0.5, 0.2], 2), ([0.6] * 5, 3), ([0.9, 0.4], 3), ([0.9, 0.4], 5), ([0.7] * 3, 1)],
)
@pytest.mark.parametrize("solver", ["cca-exact", "cca-als"])
def test_errors_do_not_depend_on_a_basis_of_tied_correlations(rho, k, solver):
    metrics = last(solver, ob.cca(*exact_pairs(np.array(rho)), k), seed=3)
    assert abs(metrics["suboptimality"]) < 1e-9
    assert max(metrics["x_error"], metrics["y_error"]) < 1e-5


PENCILS = {
    "8, 2, 2": (np.full((3, 3), 2.0) + 2 * np.eye(3), np.eye(3), 2),
    "three ones": (TURN @ np.diag([2, 1, 1, 1, 0.5, 0.1]) @ TURN.T, np.eye(6), 2),
    "all equal": (3 * np.eye(4), 3 * np.eye(4), 2),
    "tied in a metric": (np.diag([8.0, 2, 2, 1]), np.diag([2.0, 1, 1, 4]), 2),
}


@pytest.mark.parametrize("solver", ["generalized-exact", "genelink"])
@pytest.mark.parametrize("name", PENCILS)
def test_errors_do_not_depend_on_a_basis_of_tied_eigenvectors(name, solver):
    A, B, k = PENCILS[name]
    metrics = last(solver, ob.generalized_eigenvectors(A, B, k), seed=1)
    assert abs(metrics["suboptimality"]) < 1e-10
    assert metrics["error"] < 1e-5
    tilted = np.eye(len(A))[:, :k] + 0.3 * np.eye(len(A))[:, -k:]
    assert ob.generalized_eigenvectors(A, B, k).measure(ob.Solution(tilted))["error"] >= 0


def test_an_error_beside_tied_eigenvectors_is_seen():
    A = np.diag([3.0, 2, 2, 1])
    measure = ob.generalized_eigenvectors(A, np.eye(4), 2).measure
    angle = 0.1
    tilted = np.array([[1, 0], [0, np.cos(angle)], [0, 0], [0, np.sin(angle)]])
    assert measure(ob.Solution(tilted))["error"] == pytest.approx(np.sin(angle))


SEMIDEFINITE = np.array([[1, 1, 0.01], [1, 1, 0.01], [0.01, 0.01, 1]])


@pytest.mark.parametrize("solver", ["generalized-exact", "genelink"])
@pytest.mark.parametrize(
    ("A", "B", "values"),
    [
        (SEMIDEFINITE + np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0]]) / 100, SEMIDEFINITE,
         [1.00990099, 0.98989899]),
        (np.diag([3.0, 0, 2]), np.diag([1.0, 0, 4]), [3, 0.5]),
        (np.ones((4, 4)), np.ones((4, 4)) / 2, [2]),
    ],
)  # fmt: skip
def test_eigenvalues_of_a_semidefinite_metric_are_those_on_its_range(A, B, values, solver):
    instance = ob.generalized_eigenvectors(A, B, len(values))
    np.testing.assert_allclose(instance.measure.values, values, rtol=1e-8)
    assert abs(last(solver, instance)["suboptimality"]) < 1e-9


def single(n):
    Z = RNG.standard_normal((500, n)).astype(np.float32)
    weights = RNG.random(500).astype(np.float32)
    return (Z * weights[:, None]).T @ Z


def third_moment(s):
    return np.einsum("as,bs,cs->abc", s, s, s, optimize=True) / s.shape[1]


@pytest.mark.parametrize("n", [6, 30, 64])
def test_rounding_of_single_precision_is_no_asymmetry(n, tmp_path):
    A = single(n)
    assert not np.array_equal(A, A.T)
    mean = (A.astype(float) + A.T) / 2
    expected = eigh(mean, eigvals_only=True)[:-3:-1]
    for given in (A, A.astype(float)):
        found = ob.generalized_eigenvectors(given, np.eye(n), 2).measure.values
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.save(tmp_path / "A.npy", A)
    np.save(tmp_path / "C.npy", np.stack([A, A @ A]))
    oracle = ob.instance(f"npy-brockett path={tmp_path / 'A.npy'} k=2").oracle
    np.testing.assert_array_equal(oracle.A, mean)
    assert ob.instance(f"npy-joint-diagonalization path={tmp_path / 'C.npy'}").oracle.n == n


@pytest.mark.parametrize("count", [400, 3000])
def test_moments_in_single_precision_are_symmetric(count):
    T = third_moment(RNG.exponential(size=(6, count)).astype(np.float32))
    assert not np.array_equal(T, T.transpose(1, 0, 2))
    for make in (lambda: ob.symmetric_tucker(tensor=T, rank=2), lambda: ob.orthogonal_tensor(T)):
        found = make().oracle.T
        np.testing.assert_allclose(found, T, atol=1e-5 * np.abs(T).max())
        np.testing.assert_array_equal(found, found.transpose(2, 0, 1))
    with pytest.raises(ob.DataError, match="not symmetric"):
        ob.symmetric_tucker(tensor=T + np.eye(6)[:, :, None] * 1e-4, rank=2)


def one_column(n=8):
    A = np.linalg.qr(RNG.standard_normal((n, 4)))[0]
    A[:, 1] = 0
    return A


LOST = {
    "rank 2 of 10": RANK_2,
    "a column of zeros": one_column(),
    "square": np.diag([3.0, 2, 0, 0]),
    "equal rows": np.ones((7, 5)),
    "tiny singular values": np.linalg.qr(RNG.standard_normal((30, 5)))[0]
    * np.geomspace(1, 1e-12, 5),
    "wide": RANK_2.T,
    "a batch": np.stack([RANK_2, RNG.standard_normal((40, 10)), np.eye(40, 10)]),
}


@pytest.mark.parametrize("solver", POLAR)
@pytest.mark.parametrize("name", LOST)
def test_polar_factors_of_lost_directions_are_orthonormal(name, solver):
    A = LOST[name]
    outcome = ob.solve(solver, ob.polar(A))
    metrics = outcome.trace[-1].metrics
    assert outcome.stop.reason.startswith("converged")
    assert metrics["orthogonality"] < 1e-10
    assert metrics["distance"] < 1e-3  # of singular values of 1e-12 few digits are left
    assert metrics["gain"] == pytest.approx(1, abs=1e-10)


@pytest.mark.parametrize("solver", ["newton-schulz", "gram-newton-schulz"])
def test_a_partial_isometry_is_no_polar_factor(solver):
    metrics = last(solver, ob.polar(RANK_2), coefficients="cubic")
    assert metrics["orthogonality"] == pytest.approx(np.sqrt(8))
    assert metrics["distance"] == pytest.approx(np.sqrt(8 / 10), rel=1e-6)


@pytest.mark.parametrize(("shape", "zeros"), [((3, 8, 4), [1]), ((5, 3, 9), [0, 4])])
def test_zero_matrices_of_a_batch_are_left_out_and_counted(shape, zeros):
    Z = RNG.standard_normal(shape)
    Z[zeros] = 0
    with pytest.warns(UserWarning, match=f"{len(zeros)} of {len(Z)} matrices of A are zero"):
        instance = ob.polar(Z)
    U, _, Vt = np.linalg.svd(np.delete(Z, zeros, axis=0), full_matrices=False)
    expected = U @ Vt if shape[1] >= shape[2] else (U @ Vt).swapaxes(1, 2)
    outcome = ob.solve("polar-svd", instance)
    np.testing.assert_allclose(outcome.solution.reshape(expected.shape), expected, atol=1e-12)
    factor = outcome.result.factor
    assert factor.shape == shape
    assert not factor[zeros].any()
    np.testing.assert_allclose(np.delete(factor, zeros, axis=0), (U @ Vt), atol=1e-12)


@pytest.mark.parametrize("shape", [(8, 3), (3, 8), (4, 64, 27), (2, 3, 9)])
def test_a_polar_factor_has_the_shape_of_its_matrix(shape):
    A = RNG.standard_normal(shape)
    U, _, Vt = np.linalg.svd(A, full_matrices=False)
    factor = ob.solve("polar-eigh", ob.polar(A)).result.factor
    np.testing.assert_allclose(factor, U @ Vt, atol=1e-9)


def columns(n):
    return np.linalg.qr(RNG.standard_normal((n, n)))[0]


def fourth_order(U, weights):
    return np.einsum("k,ak,bk,ck,dk->abcd", weights, U, U, U, U)


@pytest.mark.parametrize("solver", ["randomized-joint-diagonalization", "subspace-power"])
@pytest.mark.parametrize(
    "weights", [[-5, -4, -3, -2, -1], [5, -4, 3, -2, 1], [-2.2, -1.2, -1.2, -1.2, -1.2]]
)
def test_negative_weights_of_order_4_have_their_factors(weights, solver):
    U, weights = columns(5), np.array(weights, dtype=float)
    T = fourth_order(U, weights)
    instance = ob.orthogonal_tensor(T, factors=U, weights=weights)
    assert "objective_gap" not in instance.best
    metrics = last(solver, instance)
    assert metrics["residual"] < 1e-8
    assert metrics["recovery_error"] < 1e-7


TUCKER = ("pgd", "hoqri", "hooi", "hoevd", "quasi-newton", "trust-region", "jacobi-tucker")


@pytest.mark.parametrize("solver", one_of(3, TUCKER))
@pytest.mark.parametrize(("true_rank", "rank"), [(1, 3), (1, 6), (2, 5)])
def test_ranks_above_that_of_the_tensor_are_said_and_solved(true_rank, rank, solver):
    V = RNG.standard_normal((6, true_rank))
    T = np.einsum("ar,br,cr->abc", V, V, V)
    with pytest.warns(UserWarning, match=f"above the rank of the tensor, which is {true_rank}"):
        instance = ob.symmetric_tucker(tensor=T, rank=rank)
    outcome = ob.solve(solver, instance)
    Q = outcome.solution
    np.testing.assert_allclose(Q.T @ Q, np.eye(rank), atol=1e-8)
    assert outcome.trace[-1].metrics["relative_error"] < 1e-8


def test_ranks_above_that_of_samples_are_said():
    rows = RNG.exponential(size=(50, 2)) @ RNG.standard_normal((2, 7))
    with pytest.warns(UserWarning, match="above the rank of the samples, which is 2"):
        ob.symmetric_tucker(rows, order=3, rank=3)
    with pytest.warns(UserWarning, match="above the rank of the samples, which is 3"):
        ob.symmetric_tucker(RNG.exponential(size=(3, 7)), order=3, rank=5)
    ob.symmetric_tucker(rows, order=3, rank=2)


def test_samples_of_tucker_are_rows():
    rows = RNG.exponential(size=(200, 4))
    moment = third_moment(rows.T)
    Q = ob.Solution(columns(4)[:, :2])
    expected = ob.symmetric_tucker(tensor=moment, rank=2).measure(Q)
    for given in (rows, rows.tolist(), pd.DataFrame(rows), np.asfortranarray(rows)):
        assert ob.symmetric_tucker(given, order=3, rank=2).measure(Q) == pytest.approx(expected)


L = RNG.standard_normal((40, 40))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: few_pairs(40, 40, 40), "above the rank of X: 40 pairs less their mean .* rank 39"),
        (lambda: ob.cca(with_column(X[:, 0])[:, [0, 2]], Y, 2), "the rank of X: it has rank 1"),
        (lambda: ob.cca(X, np.outer(X[:, 0], [1, 2, 3]), 2), "above the rank of Y: it has rank 1"),
        (lambda: ob.cca(np.full((9, 2), 0.1), X[:9], 1), "X does not vary"),
        (lambda: ob.cca(*exact_pairs(np.array([])), 1), "uncorrelated: there is nothing to find"),
        (lambda: ob.cca(X, pd.DataFrame(Y).assign(label="x"), 1), "column 'label'"),
        (lambda: ob.cca(X, Y, 5), "between 1 and 4"),
        (lambda: ob.generalized_eigenvectors(np.eye(3), np.diag([1, 1, 0]), 1),
         "B has rank 2 of 3, and A does not vanish"),
        (lambda: ob.generalized_eigenvectors(np.eye(3), np.diag([1, 1, -1]), 1), "eigenvalue -1"),
        (lambda: ob.generalized_eigenvectors(np.eye(3), np.zeros((3, 3)), 1), "not zero"),
        (lambda: ob.generalized_eigenvectors(np.triu(np.ones((3, 3))), np.eye(3), 1),
         r"A is not symmetric: entry \(0, 1\) is 1"),
        (lambda: ob.polar(np.ones((8, 3, 3, 3))), r"pass A.reshape\(len\(A\), -1\)"),
        (lambda: ob.polar(np.ones(5)), r"not of shape \(5,\)"),
        (lambda: ob.polar(np.zeros((2, 4, 3))), "A is zero"),
        (lambda: ob.symmetric_tucker(samples=L, order=3, rank=2), "samples are rows now: pass X.T"),
    ],
)  # fmt: skip
def test_data_without_an_answer_are_refused_in_a_sentence(call, words):
    with pytest.raises((ob.DataError, ob.UsageError), match=words):
        call()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ob.cca(L, L, 39), "39 of the correlations are 1 whatever the data"),
        (lambda: ob.cca(L[:20, :15], L[:20, 20:30], 2), "6 of the correlations are 1"),
        (lambda: ob.generalized_eigenvectors(np.diag([2, 1e-9]), np.diag([1, 1e-10]), 1),
         r"condition number 1.0e\+10"),
    ],
)  # fmt: skip
def test_answers_with_few_digits_or_no_meaning_are_said(call, words):
    with pytest.warns(UserWarning, match=words):
        call()


class Unstable(Differentiated):
    """A cost whose library finds NaN in its derivative, as that of vectors of an SVD of X."""

    def differentiate(self, X):
        return self.cost(X), np.full_like(X, np.nan)

    def from_numpy(self, X):
        return X

    def to_numpy(self, values):
        return values


def test_derivatives_of_singular_vectors_are_recognized(monkeypatch):
    own = Unstable(lambda X: float(-np.sum(np.linalg.svd(X)[0][:, 0] ** 4)))
    monkeypatch.setattr("orthobench_stiefel.maker.differentiated", lambda *_: own)
    with pytest.raises(ob.UsageError, match=r"not finite .* all singular values are 1"):
        ob.stiefel(own.cost, n=8, p=3)


@pytest.mark.parametrize(("n", "fits"), [(400, True), (4000, False)])
def test_rotations_that_do_not_fit_are_refused(n, fits, monkeypatch):
    d = np.linspace(0, 1, n)[:, None]
    instance = ob.stiefel(lambda X: float(np.vdot(X, d * X)), lambda X: 2 * d * X, n=n, p=3)
    monkeypatch.setattr("orthobench_kit.memory.total", lambda: 10**7)
    options = {"budget": ob.Budget(steps=2)}
    assert ob.solve("random-submanifold", instance, size=6, **options).solution.shape == (n, 3)
    if fits:
        assert ob.solve("random-submanifold", instance, **options).solution.shape == (n, 3)
        return
    with pytest.raises(ob.UsageError, match=r"2000 coordinates needs .* such as 6"):
        ob.solve("random-submanifold", instance, **options)
