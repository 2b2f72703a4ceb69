"""Estimators: scikit-learn's own checks, and the values of plain decompositions."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import check_estimator

import orthobench as ob
from orthobench import estimators
from orthobench.estimators import CCA, PCA, SparsePCA, TruncatedSVD

RNG = np.random.default_rng(0)


def noise(rows, d, offset=2.0):
    return RNG.standard_normal((rows, d)) * np.linspace(3, 1, d) + offset


def graded(rows, d, smallest):
    left, right = (np.linalg.qr(RNG.standard_normal((n, d)))[0] for n in (rows, d))
    return (left - left.mean(axis=0)) * np.geomspace(1, smallest, d) @ right.T


def agrees(fitted, X, k, center=True, rtol=1e-8, angle=1e-6):
    """Assert that singular values and vectors are those of NumPy, signs included."""
    Z = X - X.mean(axis=0) if center else X
    sizes, Vt = np.linalg.svd(np.asarray(Z, np.float64), full_matrices=False)[1:]
    np.testing.assert_allclose(fitted.singular_values_, sizes[:k], rtol, rtol * sizes[0])
    V = fitted.components_
    assert (V[np.arange(k), np.abs(V).argmax(axis=1)] > 0).all()
    gaps = sizes[:k] - np.append(sizes, 0.0)[1 : k + 1]
    last = int(np.count_nonzero(sizes[:k] > 1e-12 * sizes[0]))
    assert (gaps[:last] > 0).all()
    along = np.abs(np.einsum("ij,ij->i", V[:last], Vt[:last]))
    assert (along > 1 - angle).all()
    np.testing.assert_allclose(V @ V.T, np.eye(k), atol=max(rtol, 1e-12))


@pytest.mark.parametrize(
    "estimator", [PCA(), TruncatedSVD(), SparsePCA(), CCA(n_components=1)], ids=repr
)
def test_check_estimator_finds_nothing(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(estimator)


TALL, WIDE, LARGE = noise(200, 12), noise(9, 60), noise(1010, 1010)
SPARSE = sp.random_array((300, 150), density=0.1, format="csr", random_state=0)
CHOICES = {
    "tall": (TALL, 3, "gram-pca"),
    "wide": (WIDE, 4, "gram-pca"),
    "wide, all": (WIDE, 9, "gram-pca"),
    "large, one": (LARGE, 1, "block-krylov"),
    "square, all": (noise(40, 30), 30, "svd"),
    "graded": (graded(300, 8, 1e-9), 8, "svd"),
    "offset of a million": (noise(200, 6, 1e6), 6, "gram-pca"),
    "units of a million": (1e6 * TALL, 5, "gram-pca"),
    "rank 4": (TALL[:, :4] @ RNG.standard_normal((4, 20)), 6, "svd"),
    "sparse": (SPARSE, 5, "scipy-eigsh"),
    "sparse CSC, wide": (SPARSE.T.tocsc(), 5, "scipy-eigsh"),
    "sparse, many": (SPARSE, 60, "gram-pca"),
}


@pytest.mark.parametrize("case", CHOICES)
def test_auto_agrees_with_numpy_by_the_solver_it_names(case):
    X, k, solver = CHOICES[case]
    fitted = PCA(k).fit(X)
    assert fitted.solver_ == solver
    dense = X.toarray() if sp.issparse(X) else X
    agrees(fitted, dense, k)
    sizes = np.linalg.svd(dense - dense.mean(axis=0), compute_uv=False)
    variances = sizes**2 / (len(dense) - 1)
    shares = variances[:k] / variances.sum()
    np.testing.assert_allclose(fitted.explained_variance_ratio_, shares, atol=1e-10)
    rest = variances[k:].mean() if k < len(variances) else 0.0
    np.testing.assert_allclose(fitted.noise_variance_, rest, atol=1e-10 * variances[0])
    np.testing.assert_allclose(fitted.mean_, dense.mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("solver", ["svd", "gram-pca", "block-krylov", "scipy-eigsh"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_every_named_solver_agrees_with_numpy(solver, kind):
    agrees(PCA(3, solver=solver).fit(kind(TALL)), TALL, 3)
    agrees(TruncatedSVD(3, solver=solver).fit(kind(TALL)), TALL, 3, center=False)


@given(
    rows=st.integers(3, 40), d=st.integers(2, 30), seed=st.integers(0, 2**16),
    unit=st.sampled_from([1e-6, 1.0, 1e6]), single=st.booleans(), share=st.floats(0, 1),
)  # fmt: skip
def test_scores_and_reconstruction_are_those_of_numpy(rows, d, seed, unit, single, share):
    rng = np.random.default_rng(seed)
    X = unit * (rng.standard_normal((rows, d)) + 1.0)
    X = X.astype(np.float32) if single else X
    k = 1 + int(share * (min(rows, d) - 1))
    pca = PCA(k)
    scores = pca.fit_transform(X)
    U, sizes, Vt = np.linalg.svd(X - X.mean(axis=0, dtype=np.float64), full_matrices=False)
    loose = (2e-3 if single else 1e-7) * sizes[0]
    assert pca.components_.dtype == scores.dtype == X.dtype
    nearest = (U[:, :k] * sizes[:k]) @ Vt[:k] + X.mean(axis=0)
    np.testing.assert_allclose(np.abs(scores), np.abs(U[:, :k] * sizes[:k]), atol=20 * loose)
    np.testing.assert_allclose(pca.inverse_transform(scores), nearest, atol=20 * loose)
    np.testing.assert_allclose(pca.transform(X), scores, atol=loose)


def test_share_of_the_variance_takes_as_few_as_reach_it():
    variances = np.linalg.eigvalsh(np.cov(TALL.T))[::-1]
    shares = np.cumsum(variances) / variances.sum()
    assert PCA(0.7).fit(TALL).n_components_ == 1 + np.count_nonzero(shares <= 0.7)


def test_tolerance_bounds_the_residual_of_iterations():
    exact = PCA(2, solver="svd").fit(LARGE)
    loose = PCA(2, solver="block-krylov", tolerance=1e-2).fit(LARGE)
    C = np.cov(LARGE.T)
    residual = C @ loose.components_.T - loose.components_.T * loose.explained_variance_
    assert 1e-8 < np.linalg.norm(residual) / exact.explained_variance_[0] < 2e-2


def test_truncated_svd_of_one_row_and_of_sparse_counts():
    row = TALL[:1]
    agrees(TruncatedSVD(1).fit(row), row, 1, center=False)
    agrees(TruncatedSVD(5).fit(SPARSE), SPARSE.toarray(), 5, center=False)
    scores = TruncatedSVD(5).fit_transform(SPARSE)
    assert np.isclose(
        TruncatedSVD(5).fit(SPARSE).explained_variance_ratio_.sum(),
        scores.var(axis=0).sum() / SPARSE.toarray().var(axis=0).sum(),
    )


def test_tables_give_names_and_tables_back():
    table = pd.DataFrame(TALL, columns=[f"c{i}" for i in range(12)])
    for estimator in (PCA(2), TruncatedSVD(2), SparsePCA(2)):
        names = [f"{type(estimator).__name__.lower()}{i}" for i in range(2)]
        out = estimator.set_output(transform="pandas").fit_transform(table)
        assert list(out.columns) == list(estimator.get_feature_names_out()) == names
        assert list(estimator.feature_names_in_) == list(table.columns)


def pairs(N=400):
    X = noise(N, 6)
    return X, X[:, :3] @ RNG.standard_normal((3, 4)) + RNG.standard_normal((N, 4))


def correlations(X, Y):
    bases = [np.linalg.svd(M - M.mean(axis=0), full_matrices=False) for M in (X, Y)]
    left, right = (U[:, s > 1e-10 * s[0]] for U, s, _ in bases)
    return np.linalg.svd(left.T @ right, compute_uv=False)


@pytest.mark.parametrize(
    ("change", "solver"),
    [
        (lambda X, Y: (X, Y), "cca-exact"),
        (lambda X, Y: (1e6 * X + 1e8, Y), "cca-exact"),
        (lambda X, Y: (np.hstack([X, np.full((len(X), 1), 0.1)]), Y), "svd"),
        (lambda X, Y: (np.hstack([X, X[:, :2] - X[:, 2:4]]), Y), "svd"),
        (lambda X, Y: (X[:5], Y[:5]), "svd"),
    ],
    ids=["plain", "units and offset", "constant column", "collinear", "wide"],
)
def test_cca_finds_the_correlations_of_the_column_spaces(change, solver):
    X, Y = change(*pairs())
    cca = CCA(3).fit(X, Y)
    assert cca.solver_ == solver
    np.testing.assert_allclose(cca.correlations_, correlations(X, Y)[:3], atol=1e-7)
    a, b = cca.transform(X, Y)
    np.testing.assert_allclose(a.T @ b / len(X), np.diag(cca.correlations_), atol=1e-7)
    np.testing.assert_allclose(a.T @ a / len(X), np.eye(3), atol=1e-7)


def test_cca_with_all_components_predicts_by_least_squares():
    X, Y = pairs()
    design = np.column_stack([np.ones(len(X)), X])
    wanted = design @ np.linalg.lstsq(design, Y)[0]
    np.testing.assert_allclose(CCA(4).fit(X, Y).predict(X), wanted)
    one = CCA(1).fit(X, Y[:, 0])
    np.testing.assert_allclose(one.predict(X), wanted[:, 0])


def test_ridge_lowers_correlations_that_few_pairs_make_up():
    X, Y = (M[:12] for M in pairs())
    plain, damped = (CCA(2, ridge=ridge).fit(X, Y).correlations_ for ridge in (0.0, 1.0))
    assert (damped < plain).all()


def test_sparse_pca_has_so_many_loadings_and_projects_on_them():
    pca = SparsePCA(3, cardinality=4).fit(TALL)
    assert np.count_nonzero(pca.components_, axis=1).tolist() == [4, 4, 4]
    scores = pca.transform(TALL)
    rest = TALL - pca.inverse_transform(scores)
    np.testing.assert_allclose(rest @ pca.components_.T, 0.0, atol=1e-12)
    alone = ((TALL - TALL.mean(axis=0)) @ pca.components_.T).var(axis=0, ddof=1)
    np.testing.assert_allclose(pca.explained_variance_, alone)
    exact = SparsePCA(1, cardinality=4, solver="sparse-pca-exact").fit(TALL)
    assert exact.explained_variance_[0] >= pca.explained_variance_[0] * (1 - 1e-9)


@pytest.mark.parametrize(
    ("fit", "told"),
    [
        (lambda: PCA(13).fit(TALL), r"between 1 and 12.*\(200, 12\)"),
        (lambda: PCA(2.0).fit(TALL), "whole number"),
        (lambda: PCA(2, solver="grm-pca").fit(TALL), "gram-pca"),
        (lambda: PCA(2, tolerance=-1).fit(TALL), "tolerance must be"),
        (lambda: PCA(2).fit(TALL[:1]), "minimum of 2"),
        (lambda: PCA(2).fit(np.where(TALL > 9, np.nan, TALL)), "contains NaN"),
        (lambda: PCA(2).fit(1e200 * TALL), "overflow"),
        (lambda: CCA(5).fit(*pairs()), "between 1 and 4"),
        (lambda: CCA(1, ridge=-1).fit(*pairs()), "ridge"),
        (lambda: CCA(1, solver="gram-pca").fit(*pairs()), "solver of CCA"),
        (lambda: SparsePCA(1, cardinality=0).fit(TALL), "cardinality"),
        (lambda: estimators.ICA, "no installed family"),
    ],
    ids=range(12),
)
def test_refusals_say_what_is_wrong(fit, told):
    with pytest.raises((ob.UsageError, ValueError, AttributeError), match=told):
        fit()


def test_the_door_lists_what_families_bring():
    assert {"CCA", "PCA", "SparsePCA", "TruncatedSVD"} <= set(dir(estimators))
