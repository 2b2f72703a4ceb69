"""What libraries of principal components are asked for, and what they refuse."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from orthobench_pca.problems.matrices import SparseTermsPCA, TallPCA
from orthobench_pca.solvers.libraries import (
    SklearnPCA,
    SklearnTruncatedSVD,
    TorchPCALowrank,
    fitted,
    refuse_sparse,
)
from scipy.sparse.linalg import aslinearoperator

import orthobench as ob
from orthobench.errors import UsageError

X = np.random.default_rng(0).standard_normal((40, 6)) * np.linspace(3, 1, 6) + 1


def checked(solver, form=np.asarray, center=True, scale=False):
    solver.check(ob.pca(form(X), 2, center, scale).oracle)


def test_a_library_centres_always_or_never_or_as_it_is_told():
    checked(SklearnPCA())
    checked(SklearnTruncatedSVD(), center=False)
    with pytest.raises(UsageError, match="it always centres: make the problem with center=true"):
        checked(SklearnPCA(), center=False)
    with pytest.raises(UsageError, match="it never centres: make the problem with center=false"):
        checked(SklearnTruncatedSVD())


def test_a_problem_is_refused_for_its_centring():
    tall, terms = TallPCA(), SparseTermsPCA()
    assert SklearnPCA().refuses(tall) is None
    assert "always centres" in SklearnPCA().refuses(terms)
    assert SklearnTruncatedSVD().refuses(terms) is None
    assert "never centres" in SklearnTruncatedSVD().refuses(tall)


def test_a_library_neither_scales_nor_takes_an_operator():
    with pytest.raises(UsageError, match="sklearn-pca does not scale"):
        checked(SklearnPCA(), scale=True)
    with pytest.raises(UsageError, match="would take 1,920 bytes as one"):
        checked(SklearnPCA(), form=aslinearoperator)


def test_what_would_make_a_sparse_matrix_dense_is_refused():
    for svd_solver in ("full", "randomized"):
        solver = SklearnPCA(svd_solver=svd_solver)
        checked(solver)
        with pytest.raises(UsageError, match=f'svd_solver="{svd_solver}" would make the sparse'):
            checked(solver, form=sp.csr_matrix)
    for svd_solver in ("arpack", "auto"):
        for form in (np.asarray, sp.csr_matrix):
            checked(SklearnPCA(svd_solver=svd_solver), form=form)


def test_only_a_sparse_matrix_is_refused_with_its_bytes():
    refuse_sparse(ob.pca(X, 2).oracle, "it")
    with pytest.raises(UsageError, match="it would make the sparse matrix dense"):
        refuse_sparse(ob.pca(sp.csr_matrix(X), 2).oracle, "it")
    with pytest.raises(UsageError, match="which takes 960 bytes"):
        refuse_sparse(ob.pca(sp.csr_matrix(X.astype(np.float32)), 2).oracle, "it")


def test_what_a_library_refuses_is_refused_in_its_words():
    def fit(_):
        raise ValueError("no\n  such   thing")

    with pytest.raises(UsageError, match="scikit-learn: no such thing"):
        fitted(SimpleNamespace(fit=fit), ob.pca(X, 2).oracle)


@pytest.mark.parametrize("name", ["scipy-svds", "scipy-eigsh"])
def test_arpack_gives_equal_bits_where_the_rank_is_low(name):
    """It goes on from random vectors there."""
    low = np.kron(np.eye(2), np.ones((30, 15)))
    first, again = (ob.solve(name, ob.pca(low, 5, center=False)).solution for _ in range(2))
    assert first.tobytes() == again.tobytes()


@pytest.fixture
def asked(monkeypatch):
    """The settings that an estimator of scikit-learn is made with."""
    import sklearn.decomposition

    found = {}

    def estimator(k, **settings):
        found.update(settings, k=k)
        return SimpleNamespace(fit=lambda X: None, components_=np.eye(k, 6))

    for name in ("PCA", "TruncatedSVD"):
        monkeypatch.setattr(sklearn.decomposition, name, estimator)
    return found


def test_scikit_learn_is_asked_for_what_the_parameters_say(asked):
    for n_iter, power in ((-1, "auto"), (0, 0), (3, 3)):
        solver = SklearnPCA(svd_solver="randomized", n_iter=n_iter, oversampling=4, tolerance=0.5)
        _, spent, *_ = solver.components(ob.pca(X, 2).oracle, np.random.default_rng(0))
        seed = asked.pop("random_state")
        assert seed == np.random.default_rng(0).integers(2**31)
        assert asked == {
            "k": 2, "svd_solver": "randomized", "iterated_power": power, "tol": 0.5,
            "n_oversamples": 4,
        }  # fmt: skip
        assert spent == 4 * 40 * 6 * 6 * (1 + (4 if n_iter < 0 else n_iter))


def test_a_truncated_decomposition_is_asked_for_likewise(asked):
    solver = SklearnTruncatedSVD(n_iter=3, oversampling=1)
    _, spent, *_ = solver.components(ob.pca(X, 2, False).oracle, np.random.default_rng(0))
    asked.pop("random_state")
    assert asked == {"k": 2, "algorithm": "randomized", "n_iter": 3, "n_oversamples": 1}
    assert spent == 4 * 40 * 6 * 3 * 4


def test_torch_gets_no_more_columns_than_there_are():
    torch = pytest.importorskip("torch")
    solver = TorchPCALowrank(n_iter=0, oversampling=40)
    before = torch.random.get_rng_state()
    oracle = ob.pca(X, 2).oracle
    found, spent, *_ = solver.components(oracle, np.random.default_rng(0))
    right = np.linalg.svd(X - X.mean(axis=0))[2][:2]
    np.testing.assert_allclose(np.abs(right @ found), np.eye(2), atol=1e-10)
    assert spent == 4 * 40 * 6 * 6
    assert torch.equal(before, torch.random.get_rng_state())
    with pytest.raises(UsageError, match="a tensor of it would make the sparse matrix dense"):
        checked(solver, form=sp.csr_matrix)
