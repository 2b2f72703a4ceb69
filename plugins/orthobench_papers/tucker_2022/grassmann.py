"""Formulae of section 6 on the Grassmannian, as printed."""

from __future__ import annotations

import numpy as np
from orthobench_tucker.reference import multiplied

from orthobench.contract import Array, complete
from orthobench_papers.tucker_2022 import dense


def symmetrized(A: Array) -> Array:
    """Return sym(A) = (A + A') / 2."""
    return np.asarray((A + A.T) / 2)


def projector(Q: Array) -> Array:
    """Return P = QQ'."""
    return np.asarray(Q @ Q.T)


def w(T: Array, P: Array) -> Array:
    """Return w(P) (equation 26)."""
    partial = multiplied(T, np.eye(len(T)), *[P] * (T.ndim - 1))
    return T.ndim * dense.inner_but_first(partial, partial)


def v(T: Array, P: Array, D: Array) -> Array:
    """Return v(P)[D] (equation 40)."""
    d, eye = T.ndim, np.eye(len(T))
    left = multiplied(T, eye, D, *[P] * (d - 2))
    right = multiplied(T, eye, eye, *[P] * (d - 2))
    return d * (d - 1) * dense.inner_but_first(left, right) @ P


def gradient(T: Array, P: Array) -> Array:
    """Return grad f(P) (equation 27)."""
    return symmetrized(2 * (np.eye(len(P)) - P) @ w(T, P) @ P)


def hessian(T: Array, P: Array, D: Array) -> Array:
    """Return Hess f(P)[D] (equation 41)."""
    W = w(T, P)
    return 2 * symmetrized((np.eye(len(P)) - P) @ v(T, P, D) + W @ D @ P - D @ W @ P)


def update(T: Array, P: Array, gamma: float) -> Array:
    """Return phi(P) (equation 21): the projector onto the range of (I + 2 gamma w(P)) P."""
    basis = np.linalg.eigh(P)[1][:, -round(np.trace(P)) :]
    return projector(np.linalg.qr(basis + 2 * gamma * w(T, P) @ basis)[0])


def differential(T: Array, P: Array, D: Array, gamma: float) -> Array:
    """Return D phi(P)[D] (equation 42)."""
    W = w(T, P)
    moved = D + 2 * gamma * W @ D + 2 * gamma * v(T, P, D)
    rest = np.eye(len(P)) - update(T, P, gamma)
    return 2 * symmetrized(rest @ moved @ np.linalg.pinv(P + 2 * gamma * W @ P, rcond=1e-10))


def tangents(Q: Array) -> list[Array]:
    """Return an orthonormal basis of the tangent space at QQ', as matrices D."""
    n, r = Q.shape
    normal = complete(Q, np.eye(n), n)[:, r:]
    halves = [np.outer(a, b) for a in normal.T for b in Q.T]
    return [(half + half.T) / np.sqrt(2) for half in halves]


def geodesic(Q: Array, D: Array, t: float) -> Array:
    """Return the basis at `t` of the geodesic from `Q` along the tangent D."""
    left, sizes, right = np.linalg.svd(D @ Q, full_matrices=False)
    turned = Q @ right.T * np.cos(t * sizes) + left * np.sin(t * sizes)
    return np.asarray(turned @ right)


def curvatures(T: Array, Q: Array) -> Array:
    """Return the eigenvalues of Hess f at QQ', ascending."""
    P, basis = projector(Q), tangents(Q)
    images = [hessian(T, P, D) for D in basis]
    form = np.array([[np.vdot(D, image) for image in images] for D in basis])
    return np.asarray(np.linalg.eigvalsh(symmetrized(form)), dtype=np.float64)


def multipliers(T: Array, Q: Array, gamma: float) -> Array:
    """Return the real parts of the eigenvalues of D phi at a fixed point QQ'."""
    P, basis = projector(Q), tangents(Q)
    images = [differential(T, P, D, gamma) for D in basis]
    matrix = np.array([[np.vdot(D, image) for image in images] for D in basis])
    return np.asarray(np.linalg.eigvals(matrix).real, dtype=np.float64)
