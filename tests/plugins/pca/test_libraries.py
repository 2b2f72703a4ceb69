"""Libraries of principal components: centring and refusals."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from orthobench_pca.problems.matrices import SparseTermsPCA, TallPCA
from orthobench_pca.solvers.libraries import SklearnPCA, SklearnTruncatedSVD, fitted, refuse_sparse

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


def test_methods_that_make_sparse_matrices_dense_are_refused():
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


def test_refusal_of_a_library_keeps_its_words():
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
