"""Truncated conjugate gradients for the trust-region subproblem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from orthobench.contract import Array


@dataclass(frozen=True, slots=True)
class Step:
    """The solution of a trust-region subproblem.

    Attributes
    ----------
    V : ndarray, shape (n, r)
        The tangent vector.
    gain : float
        Its predicted gain, <g, V> + <V, HV> / 2.
    products : int
        Number of Hessian-vector products.
    bounded : bool
        Whether V lies on the boundary.
    """

    V: Array
    gain: float
    products: int
    bounded: bool


def truncated_cg(
    gradient: Array,
    product: Callable[[Array], Array],
    inverse: Array,
    radius: float,
    reduction: float,
    most: int,
) -> Step:
    """Maximize <g, V> + <V, HV> / 2 over |V|_M <= radius approximately.

    Conjugate gradients, preconditioned by M, from zero. They end at the boundary, where they cross
    it or meet a direction P with <P, HP> >= 0; or where the residual g + HV has fallen by
    `reduction`, in the norm of the inverse of M.

    Parameters
    ----------
    gradient : ndarray, shape (n, r)
        g.
    product : callable
        Maps V to HV.
    inverse : ndarray, shape (r, r)
        M^-1, symmetric and positive definite, acting from the right; |V|_M² = <V, V M>.
    radius, reduction : float
    most : int
        Most products.

    Notes
    -----
    One product, 2nr² flops and about 18nr for each iteration.

    References
    ----------
    Steihaug 1983; Toint 1981; Absil, Baker and Gallivan 2007, Algorithm 2, where lengths follow
    by recurrence as in Conn, Gould and Toint 2000, Algorithm 7.5.1.
    """
    V, HV = np.zeros_like(gradient), np.zeros_like(gradient)
    residual = gradient.copy()
    preconditioned = residual @ inverse
    P = preconditioned
    size = float(np.vdot(residual, preconditioned))
    enough = reduction * sqrt(size)
    vv, vp, pp = 0.0, 0.0, size  # <V, V>_M, <V, P>_M, <P, P>_M
    for taken in range(1, most + 1):
        HP = product(P)
        curvature = -float(np.vdot(P, HP))
        length = size / curvature if curvature > 0 else inf
        if vv + length * (2 * vp + length * pp) >= radius**2:
            reach = (sqrt(vp * vp + pp * (radius**2 - vv)) - vp) / pp
            return _step(gradient, V + reach * P, HV + reach * HP, taken, bounded=True)
        V += length * P
        HV += length * HP
        residual += length * HP
        vv += length * (2 * vp + length * pp)
        preconditioned = residual @ inverse
        before, size = size, float(np.vdot(residual, preconditioned))
        if sqrt(size) <= enough:
            break
        share = size / before
        vp, pp = share * (vp + length * pp), size + share * share * pp
        P = preconditioned + share * P
    return _step(gradient, V, HV, taken, bounded=False)


def _step(gradient: Array, V: Array, HV: Array, products: int, *, bounded: bool) -> Step:
    rise = float(np.vdot(gradient, V) + np.vdot(V, HV) / 2)
    return Step(V, rise, products, bounded)
