"""The flops of canonical correlation analysis, written out as the notes say."""

import numpy as np
import pytest
from orthobench_cca.canonical import canonical, whitened
from orthobench_cca.solvers.alternating import AlternatingLeastSquares
from orthobench_cca.solvers.app_grad import AppGrad
from orthobench_cca.solvers.exact import Exact
from orthobench_cca.solvers.generalized import GenELinK, GeneralizedExact
from orthobench_cca.solvers.generalized_landing import PairsLanding
from orthobench_cca.solvers.krylov import BlockKrylov
from orthobench_cca.solvers.sklearn_methods import SklearnCCA, SklearnPLSSVD
from orthobench_cca.solvers.stochastic import CCAEY, SGHA, GammaEigengame
from scipy.sparse import csr_matrix

import orthobench as ob
from orthobench.tools.flops import eigh, qr, svd

N, P, Q, K = 60, 6, 5, 2


def pairs(n=N, p=P, q=Q):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((n, p)), rng.standard_normal((n, q))
    Y[:, :2] += X[:, :2]
    return X, Y


def work(solver, budget=None, instance=None):
    return ob.solve(solver, instance or ob.cca(*pairs(), k=K), budget).work


def root(k):
    return eigh(k) + k * k + k + 2 * k**3


def metric(p, k):
    return 2 * p**2 * k + 4 * p * k**2 + root(k)


COVARIANCES = 2 * N * (P * P + Q * Q + P * Q) + P * P + Q * Q + P * Q + P + Q


def test_of_alternating_regressions():
    first = COVARIANCES + sum(root(m) + 4 * P * Q * m + metric(m, K) for m in (P, Q))
    step = 4 * P * Q * K + 2 * P**2 * K + 3 * P * K + metric(P, K) + metric(Q, K)
    outcome = ob.solve(
        AlternatingLeastSquares(tolerance=0.0), ob.cca(*pairs(), k=K), ob.Budget(steps=3)
    )
    assert outcome.trace[0].work.flops == first
    assert outcome.work.flops == first + 3 * step


def of_a_batch(b):
    """Return the flops of a step of AppGrad."""
    both = 4 * 2 * b * (P + Q) * K + 2 * 2 * b * K**2 + 4 * (P + Q) * K**2
    return both + 2 * b * (P + Q) + 2 * b * K + 5 * (P + Q) * K + 2 * (3 * K**2 + root(K))


@pytest.mark.parametrize(("batch", "whole", "rest"), [(8, 7, 4), (29, 2, 2), (59, 1, 1)])
def test_of_batches_and_of_the_rest_which_is_used_if_it_has_as_many_pairs_as_variables(
    batch, whole, rest
):
    found = work(AppGrad(batch=batch))
    assert (found.steps, found.samples) == (whole + 1, N)
    assert found.flops == whole * of_a_batch(batch) + (of_a_batch(rest) if rest >= K else 0)


@pytest.mark.parametrize(
    ("cls", "own", "small"),
    [(CCAEY, 5, 3), (SGHA, 5, 3), (GammaEigengame, 36, 3), (PairsLanding, 8, 5)],
)
def test_of_a_batch_of_the_pencil(cls, own, small):
    found = work(cls(batch=20))
    assert (found.steps, found.samples) == (3, N)
    assert found.flops == 3 * ((P + Q) * K * (6 * 20 + 2 * small * K + own))


def test_of_whitening_by_each_way():
    X, Y = pairs()
    side = ob.cca(X, Y, k=K).oracle.sides[0]
    assert whitened(side, 0.0, "gram").flops == 2 * N * P**2 + 2 * P**3 // 3
    assert whitened(side, 0.0, "qr").flops == qr(N, P) + svd(P, P)
    close = np.hstack([X[:, :1], X[:, :1] + 1e-4 * X[:, 1:2]])
    side = ob.cca(close, Y, k=1).oracle.sides[0]
    assert whitened(side, 0.0, "gram").flops == 2 * N * 4 + eigh(2) + 2 * 4
    wide = ob.cca(X[:4], Y[:4], k=1, ridge=0.1).oracle.sides[0]
    assert whitened(wide, 0.1).flops == qr(P, 4) + svd(4, 4) + 2 * P * 4**2


def test_of_canonical_variables_in_whitened_bases():
    instance = ob.cca(*pairs(), k=K)
    left, right = (whitened(side, 0.0) for side in instance.oracle.sides)
    last = svd(P, Q) + 2 * P**2 * K + 2 * Q**2 * K
    assert canonical(instance.oracle, left, right).flops == (
        2 * P * Q * N + 2 * P**2 * Q + 2 * P * Q**2 + last
    )
    assert (
        work(Exact()).flops
        == left.flops + right.flops + canonical(instance.oracle, left, right).flops
    )
    few = ob.cca(*(M[:4] for M in pairs()), k=1, ridge=0.1).oracle
    left, right = (whitened(side, 0.1) for side in few.sides)
    assert canonical(few, left, right).flops == (
        2 * 4 * P * 4 + 2 * 4 * Q * 4 + 2 * 4**3 + svd(4, 4) + 2 * P * 4 + 2 * Q * 4
    )


@pytest.mark.parametrize(("p", "q"), [(20, 16), (16, 20)])
def test_of_few_leading_singular_vectors_by_the_smaller_gram_matrix(p, q):
    """From an eighth of all on; where one of them is small it is LAPACK's decomposition, too."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, p))
    for share, k, also in ((1.0, 2, 0), (0.0, 2, svd(20, 16)), (1.0, 3, None)):
        Y = rng.standard_normal((400, q))
        Y[:, :k] = X[:, :k]
        Y[:, 1] = share * X[:, 1] + (1 - share) * Y[:, 1]
        if share == 0:
            noise = np.linalg.qr(np.hstack([np.ones((400, 1)), X, Y]))[0]
            Y[:, 1:] = noise[:, p + 2 :]
        oracle = ob.cca(X, Y, k=k).oracle
        left, right = (whitened(side, 0.0) for side in oracle.sides)
        formed = 2 * p * q * 400 + 2 * p**2 * q + 2 * p * q**2
        gram = 2 * 16**2 * 20 + 4 * 16**3 // 3 + 2 * 20 * 16 * k
        last = 2 * p**2 * k + 2 * q**2 * k
        spent = svd(20, 16) if also is None else gram + also
        assert canonical(oracle, left, right).flops == formed + spent + last


def test_of_fits_of_scikit_learn():
    import sklearn.cross_decomposition as theirs

    X, Y = pairs()
    fit = theirs.CCA(K, scale=False).fit(X, Y)
    alternations = 4 * N * (P + Q) * sum(fit.n_iter_)
    assert work(SklearnCCA()).flops == K * 4 * N * (P**2 + Q**2) + alternations
    assert work(SklearnPLSSVD()).flops == 2 * N * P * Q + svd(P, Q)


@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_of_a_krylov_step(form, ridge):
    X, Y = pairs()
    instance = ob.cca(form(X), form(Y), K, ridge=ridge)
    outcome = ob.solve(BlockKrylov(oversampling=1, inner=3), instance, ob.Budget(steps=1))
    b, dense = K + 1, form is np.asarray
    counted = [0, 0]
    for m in (P, Q):
        inner = 0 if dense else 3
        counted[0] += (2 * N * m**2 + 2 * m**3 // 3) if dense else 0
        counted[1] += (2 * inner + 2) * (2 * N * m + N) * b + 12 * inner * m * b
        counted[1] += 4 * m * m * b if dense else 0
    counted[1] += 2 * eigh(b) + svd(b, b) + 2 * N * b**2
    counted[1] += sum(3 * 2 * rows * b**2 for rows in (N, N, P + Q))
    assert outcome.trace[0].work.flops == counted[0]
    assert outcome.work.flops == sum(counted)


def pencil():
    A = np.diag([5.0, 3, 1, 0.5, 0.25])
    B = np.diag([1.0, 2, 1, 1, 3]) + 0.1
    return A, B


def test_of_an_exact_pencil():
    instance = ob.generalized_eigenvectors(*pencil(), K)
    products = 3 * 2 * 5**3 + 5 * 5 + 5 + 2 * 5**2 * K
    assert work(GeneralizedExact(), None, instance).flops == 2 * eigh(5) + products


@pytest.mark.parametrize("shifted", [False, True])
def test_of_inverse_free_iterations(shifted):
    A, B = pencil()
    if shifted:
        A = A - 4 * np.diag([0, 0, 1, 1, 1])
    n, inner = 5, 3
    instance = ob.generalized_eigenvectors(A, B, K)
    instance.oracle.start = np.eye(n, K) if not shifted else np.eye(n)[:, [0, 4]]
    solver = GenELinK(inner=inner, tolerance=0.0)
    state = solver.init(instance.oracle, None)
    assert state.work.flops == metric(n, K)
    solver.step(instance.oracle, state)
    step = 2 * n * n * K * (inner + 4) + 3 * 2 * K * K * n + 2 * 2 * n * K * K
    step += (10 * inner + 6) * n * K + metric(n, K) + eigh(K)
    shift = 2 * n * n * K + 2 * n * K if shifted else 0
    assert (state.shift > 0) is shifted
    assert state.work.flops == metric(n, K) + step + shift
