"""Givens rotations for sparse PCA and for tensors in plain numpy."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array


def rotate_columns(AU: Array, pairs: NDArray[np.int32], gamma: float, xatol: float = 1e-5) -> None:
    """Rotate pairs of columns of AU (d, N), Fortran order, in place (Algorithm 2).

    `xatol` is the accuracy of the angle in scipy's search.
    """
    from scipy.optimize import minimize_scalar

    for i, j in pairs:
        x, y = AU[:, i].copy(), AU[:, j].copy()

        def loss(t: float, x: Array = x, y: Array = y) -> float:
            u = np.maximum(np.abs(np.cos(t) * x + np.sin(t) * y) - gamma, 0.0)
            v = np.maximum(np.abs(np.cos(t) * y - np.sin(t) * x) - gamma, 0.0)
            return -float(u @ u + v @ v)

        bounds, options = (-np.pi / 4, np.pi / 4), {"xatol": xatol}
        found = minimize_scalar(loss, bounds=bounds, method="bounded", options=options)
        if found.fun < loss(0.0):
            c, s = np.cos(found.x), np.sin(found.x)
            AU[:, i], AU[:, j] = c * x + s * y, c * y - s * x


def best_angle(T: Array, i: int, j: int) -> float:
    """Return the angle of the largest T(u_i, u_i, u_i) + T(u_j, u_j, u_j), by a cubic in tan."""
    iii, iij, ijj, jjj = T[i, i, i], T[i, i, j], T[i, j, j], T[j, j, j]
    p0, p1, p2, p3 = iii + jjj, 3 * (iij - ijj), 3 * (iij + ijj), jjj - iii
    roots = np.roots([-p2, 3 * p3 - 2 * p1, 2 * p2 - 3 * p0, p1])
    near = np.arctan(roots[np.abs(roots.imag) < 1e-9].real)
    angles = np.concatenate([near, near + np.pi, [np.pi / 2, -np.pi / 2]])
    c, s = np.cos(angles), np.sin(angles)
    values = p0 * c**3 + p1 * c**2 * s + p2 * c * s**2 + p3 * s**3
    return float(angles[np.argmax(values)])


def rotate(T: Array, U: Array, i: int, j: int) -> None:
    """Rotate columns i and j of U, and T along each of its modes, in place."""
    angle = best_angle(T, i, j)
    c, s = np.cos(angle), np.sin(angle)
    G = np.array([[c, -s], [s, c]])
    both = [i, j]
    U[:, both] = U[:, both] @ G
    T[both] = np.tensordot(G, T[both], axes=(0, 0))
    T[:, both] = np.einsum("xb,axc->abc", G, T[:, both])
    T[:, :, both] = T[:, :, both] @ G


def rotated(T: Array, U: Array) -> Array:
    """Return T(U, U, U)."""
    return np.asarray(np.einsum("abc,ai,bj,ck->ijk", T, U, U, U, optimize=True))


def run(T: Array, U: Array, pairs: Iterable[tuple[int, int]], target: float = np.inf) -> int:
    """Rotate pair after pair, U in place, until the objective is `target`; return their number."""
    T = rotated(T, U)
    count = 0
    for i, j in pairs:
        rotate(T, U, i, j)
        count += 1
        if np.einsum("iii->", T) >= target:
            break
    return count
