"""The flops of canonical correlation analysis, written out as the notes say."""

import numpy as np
from orthobench_cca.canonical import whitened
from orthobench_cca.solvers.generalized import GeneralizedExact

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


def test_whitening_flops_are_those_of_its_way():
    X, Y = pairs()
    side = ob.cca(X, Y, k=K).oracle.sides[0]
    assert whitened(side, 0.0, "gram").flops == 2 * N * P**2 + 2 * P**3 // 3
    assert whitened(side, 0.0, "qr").flops == qr(N, P) + svd(P, P)
    close = np.hstack([X[:, :1], X[:, :1] + 1e-4 * X[:, 1:2]])
    side = ob.cca(close, Y, k=1).oracle.sides[0]
    assert whitened(side, 0.0, "gram").flops == 2 * N * 4 + eigh(2) + 2 * 4
    wide = ob.cca(X[:4], Y[:4], k=1, ridge=0.1).oracle.sides[0]
    assert whitened(wide, 0.1).flops == qr(P, 4) + svd(4, 4) + 2 * P * 4**2


def pencil():
    A = np.diag([5.0, 3, 1, 0.5, 0.25])
    B = np.diag([1.0, 2, 1, 1, 3]) + 0.1
    return A, B


def test_exact_pencil_flops_are_those_of_its_notes():
    instance = ob.generalized_eigenvectors(*pencil(), K)
    products = 3 * 2 * 5**3 + 5 * 5 + 5 + 2 * 5**2 * K
    assert work(GeneralizedExact(), None, instance).flops == 2 * eigh(5) + products
