"""`outcome.result` in every family: right values, whatever basis, order and signs a solver has."""

import pickle
from dataclasses import fields, replace

import numpy as np
import pytest
import scipy.linalg
from orthobench_kit.symmetric_tensors import composed

import orthobench as ob
from orthobench.tools.geometry import random_point

RNG = np.random.default_rng(0)
X = RNG.standard_normal((200, 12)) * np.linspace(3, 1, 12) + 5.0
Y = X[:, :4] @ RNG.standard_normal((4, 5)) + RNG.standard_normal((200, 5))
A, B = X[:12].T @ X[:12], Y.T @ Y
B = scipy.linalg.block_diag(B, B, np.eye(2))
U, W = random_point(5, 5, RNG), np.arange(1.0, 6.0)
CENTRED = X - X.mean(axis=0)


def leading(S, k, M=None):
    values, vectors = scipy.linalg.eigh(S, M)
    return values[::-1][:k], vectors[:, ::-1][:, :k]


def positive(V):
    """Return columns whose largest entries are positive, column by column."""
    return np.column_stack([v * np.sign(v[np.argmax(np.abs(v))]) for v in V.T])


def canonical():
    """Return what a singular value decomposition of whitened covariances gives."""
    whiten = [scipy.linalg.inv(scipy.linalg.sqrtm(np.cov(Z.T, ddof=0))) for Z in (X, Y)]
    cross = np.cov(X.T, Y.T, ddof=0)[:12, 12:]
    P, values, Qt = np.linalg.svd(whiten[0] @ cross @ whiten[1])
    x, y = whiten[0] @ P[:, :2], whiten[1] @ Qt.T[:, :2]
    flips = positive(x)[0] / x[0]
    return {"x_weights": x * flips, "y_weights": y * flips, "correlations": values[:2]}


def principal(k, data=X):
    values, vectors = leading(np.atleast_2d(np.cov(data.T)), k)
    return {
        "components": positive(vectors), "variance": values, "mean": data.mean(axis=0),
        "rank": np.linalg.matrix_rank(data - data.mean(axis=0)),
    }  # fmt: skip


def stream():
    values, vectors = leading(CENTRED.T @ CENTRED / len(X), 3)
    return {"components": positive(vectors), "variance": values}


def pencil():
    values, vectors = leading(A, 2, B)
    return {"vectors": positive(vectors), "values": values}


def factor(M):
    P, _, Qt = np.linalg.svd(M, full_matrices=False)
    return {"factor": P @ Qt}


LOW_RANK = X[:, :4] @ RNG.standard_normal((4, 9))
STACK = RNG.standard_normal((3, 4, 7))
CASES = {
    "pca": (lambda: ob.pca(X, 3), "gram-pca", lambda: principal(3)),
    "pca, far from one": (lambda: ob.pca(X * 1e6, 3), "gram-pca", lambda: principal(3, X * 1e6)),
    "pca, wide": (lambda: ob.pca(X[:9], 3), "block-krylov", lambda: principal(3, X[:9])),
    "pca, rank 4": (lambda: ob.pca(LOW_RANK, 2), "gram-pca", lambda: principal(2, LOW_RANK)),
    "stream": (lambda: ob.stochastic_pca(CENTRED, 3), "batch-pca", stream),
    "cca": (lambda: ob.cca(X, Y, 2), "cca-exact", canonical),
    "pencil": (lambda: ob.generalized_eigenvectors(A, B, 2), "generalized-exact", pencil),
    "wide matrix": (lambda: ob.polar(X[:7]), "qdwh", lambda: factor(X[:7])),
    "wide stack": (lambda: ob.polar(STACK), "qdwh", lambda: factor(STACK)),
    "tensor": (
        lambda: ob.orthogonal_tensor(composed(U, -W)), "givens-tensor",
        lambda: {"factors": -U[:, ::-1], "weights": W[::-1]},
    ),
    "tensor of order 4": (
        lambda: ob.orthogonal_tensor(composed(U, W, 4)), "subspace-power",
        lambda: {"factors": positive(U[:, ::-1]), "weights": W[::-1]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_result_equals_an_independent_decomposition(case):
    make, solver, expected = CASES[case]
    result = ob.solve(solver, make()).result
    wanted = expected()
    assert [f.name for f in fields(result)] == list(wanted)
    for name, value in wanted.items():
        scale = np.abs(value).max()
        np.testing.assert_allclose(getattr(result, name), value, atol=1e-6 * scale, err_msg=name)


@pytest.mark.parametrize("case", ["pca", "stream", "cca", "pencil"])
def test_result_of_a_rotated_point_is_the_same(case):
    make, solver, _ = CASES[case]
    instance = make()
    final = ob.solve(solver, instance).final
    rotated = final.point @ random_point(*[final.point.shape[1]] * 2, RNG)
    one, other = (instance.result(replace(final, point=p)) for p in (final.point, rotated))
    for field in fields(one):
        ours, theirs = (np.asarray(getattr(r, field.name)) for r in (one, other))
        np.testing.assert_allclose(ours, theirs, atol=1e-9 * np.abs(ours).max())


def test_sparse_result_has_variances_of_its_scores_in_order():
    result = ob.solve("gpower", ob.sparse_pca(CENTRED, m=3), gamma=0.2).result
    scores = CENTRED @ result.loadings
    np.testing.assert_allclose(result.variance, scores.var(axis=0, ddof=1))
    assert (np.diff(result.variance) <= 0).all()
    assert result.nonzeros.tolist() == np.count_nonzero(result.loadings, axis=0).tolist()
    np.testing.assert_array_equal(result.loadings, positive(result.loadings))


def test_tucker_result_approximates_as_the_basis_does():
    T = composed(RNG.standard_normal((6, 4)), np.array([4.0, -3.0, 2.0, 1.0]))
    outcome = ob.solve("hooi", ob.symmetric_tucker(tensor=T, rank=2))
    basis, core = outcome.result.basis, outcome.result.core
    approximation = np.einsum("abc,ia,jb,kc->ijk", core, basis, basis, basis)
    error = np.linalg.norm(T - approximation) ** 2 / np.linalg.norm(T) ** 2
    assert np.isclose(error, outcome.trace[-1].metrics["relative_error"])
    slices = core.reshape(2, -1)
    inner = slices @ slices.T
    assert abs(inner[0, 1]) < 1e-12 * inner[0, 0]
    assert inner[0, 0] >= inner[1, 1]


def test_result_of_an_outcome_is_short_and_survives_pickling():
    H = np.diag(np.arange(4.0))
    problem = ob.orthogonal_group(lambda V: -np.trace(V.T @ H @ V @ H), n=4)
    outcome = ob.solve("givens", problem)
    np.testing.assert_array_equal(outcome.result.point, outcome.solution)
    again = pickle.loads(pickle.dumps(ob.solve("gram-pca", ob.pca(X, 3))))  # noqa: S301
    np.testing.assert_allclose(again.result.variance, principal(3)["variance"])
    for shown in (str(again), str(again.result)):
        assert len(shown.splitlines()) <= 12
    assert "(12, 3)" in str(again.result)
