"""Geometry of orthonormal matrices: drift, retractions, rotations, principal angles."""

from __future__ import annotations

from math import cos, sin

import numpy as np

from orthobench.tools.arrays import Array


def drift(U: Array) -> float:
    """Return the orthogonality defect of a point, the Frobenius norm of U'U - I.

    Parameters
    ----------
    U : ndarray, shape (n, k)

    Notes
    -----
    2nk² flops.
    """
    return float(np.linalg.norm(U.T @ U - np.eye(U.shape[1])))


def orthonormalize(A: Array) -> Array:
    """Return the Q factor of a matrix of full rank, with a positive diagonal of R: a retraction.

    Parameters
    ----------
    A : ndarray, shape (n, k)

    Returns
    -------
    ndarray, shape (n, k)
        The orthonormal basis that Gram-Schmidt in exact arithmetic gives: unique.

    Notes
    -----
    4nk² - 4k³/3 flops (Householder, with Q formed).
    """
    Q, R = np.linalg.qr(A)
    signs = np.where(np.diagonal(R) < 0, -1.0, 1.0)
    return np.ascontiguousarray(Q * signs)


def random_point(n: int, k: int, rng: np.random.Generator) -> Array:
    """Return an (n, k) orthonormal point drawn from the uniform (Haar) distribution.

    Parameters
    ----------
    n, k : int
        Rows and columns, k <= n.
    rng : numpy.random.Generator
    """
    return orthonormalize(rng.standard_normal((n, k)))


def complete(U: Array, start: Array, k: int) -> Array:
    """Return k orthonormal columns: those of `U`, then directions of `start` where `U` has fewer.

    Parameters
    ----------
    U : ndarray, shape (n, m)
        Orthonormal columns; the first k are kept.
    start : ndarray, shape (n, k)
        Orthonormal columns to fill up with, once `U` is taken out of them.
    k : int

    Returns
    -------
    ndarray, shape (n, k)
        A fresh array.
    """
    if U.shape[1] >= k:
        return np.ascontiguousarray(U[:, :k]).copy()
    rest = start - U @ (U.T @ start)
    rest -= U @ (U.T @ rest)
    left, _, _ = np.linalg.svd(rest, full_matrices=False)
    return np.ascontiguousarray(np.hstack([U, left[:, : k - U.shape[1]]]))


def subspace_error(U: Array, V: Array) -> float:
    """Return the distance between two subspaces, |(I - UU')V|_F.

    Zero where they are equal; the root of the sum of the squared sines of the principal
    angles. Computed from the residual, so that small distances do not drown in rounding as
    they do in ``k - |U'V|²``.

    Parameters
    ----------
    U, V : ndarray, shape (n, k)
        Orthonormal bases.
    """
    return float(np.linalg.norm(V - U @ (U.T @ V)))


def polar(A: Array) -> Array:
    """Return the orthonormal factor of the polar decomposition: the nearest orthonormal matrix.

    The maximizer of tr(U'A) over U'U = I; unique where A has full rank.

    Parameters
    ----------
    A : ndarray, shape (n, k), k <= n

    Notes
    -----
    A thin SVD, about 6nk² + 20k³ flops (`flops.svd`).
    """
    left, _, right = np.linalg.svd(A, full_matrices=False)
    return np.ascontiguousarray(left @ right)


def unit_columns(A: Array) -> Array:
    """Return the columns of a matrix at unit length; columns of zeros stay zero.

    Parameters
    ----------
    A : ndarray, shape (d, m)

    Returns
    -------
    ndarray, shape (d, m)
        A fresh array.

    Notes
    -----
    3dm flops.
    """
    norms = np.linalg.norm(A, axis=0)
    unit: Array = A / np.where(norms > 0, norms, 1.0)
    return unit


def rotate(A: Array, i: int, j: int, angle: float) -> None:
    """Set A <- A G(i, j, angle), in place: rotate columns i and j in the plane they span.

    ``a_i <- cos a_i + sin a_j`` and ``a_j <- cos a_j - sin a_i``: G = Expm(-angle H) with
    H = e_i e_j' - e_j e_i', as equation 6 and Algorithms 2 and 5 of Shalit and Chechik (2014)
    need it. Their section 2.2 calls this matrix G(i, j, -angle), a misprint.

    Parameters
    ----------
    A : ndarray, shape (n, k)
    i, j : int
        Different columns.
    angle : float
        Radians.

    Notes
    -----
    6n flops.
    """
    c, s = cos(angle), sin(angle)
    a_i, a_j = A[:, i], A[:, j]
    turned = s * a_i
    a_i *= c
    a_i += s * a_j
    a_j *= c
    a_j -= turned
