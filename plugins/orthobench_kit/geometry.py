"""Rotations and distances, beside the geometry of `orthobench.contract`."""

from __future__ import annotations

from math import cos, sin

from orthobench.tools.arrays import AnyArray, Array
from orthobench_kit.arrays import norm


def subspace_error(U: AnyArray, V: AnyArray) -> float:
    """Return the distance |(I - UU')V|_F of two subspaces with orthonormal bases (n, k).

    The root of the sum of the squared sines of the principal angles. The residual keeps small
    distances, which ``k - |U'V|²`` loses to rounding.
    """
    return float(norm(V - U @ (U.T @ V)))


def rotate(A: Array, i: int, j: int, angle: float) -> None:
    """Rotate columns i and j of a matrix in the plane that they span, by radians, in place.

    A <- A G(i, j, angle), that is ``a_i <- cos a_i + sin a_j`` and ``a_j <- cos a_j - sin a_i``, as
    equation 6 and Algorithms 2 and 5 of Shalit and Chechik (2014) need it. Their section 2.2 calls
    this matrix G(i, j, -angle), a misprint. 6n flops.
    """
    c, s = cos(angle), sin(angle)
    a_i, a_j = A[:, i], A[:, j]
    turned = s * a_i
    a_i *= c
    a_i += s * a_j
    a_j *= c
    a_j -= turned
