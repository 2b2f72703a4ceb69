"""Kernels of the methods that turn one direction of their basis towards each sample.

With w = U'x, p = Uw and the residual r = x - p, both Oja's method with orthonormalization and
GROUSE rotate the basis in the plane of p and r: U + ((cos a - 1) p/|p| + sin a r/|r|) w'/|w|.
They differ in the angle a.
"""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array
from orthobench.tools.compiled import inner, kernel
from orthobench_stochastic_pca.blocks import BLOCK
from orthobench_stochastic_pca.dense import add, copy, dot, identity, matrix
from orthobench_stochastic_pca.span import DEPENDENT, TINY, collapse, expand, workspace

CANCELLED = 1e-2
"""Where |r|²/|x|² is below this, r is freed of what rounding left along U a second time."""


@kernel
def rotate_blocks(
    U: Array, drift: float, samples: Array, etas: Array, geodesic: bool
) -> tuple[Array, float]:
    """Rotate a basis towards samples, one after the other, in blocks of `BLOCK`.

    Parameters
    ----------
    U : ndarray, shape (k, d), C order
        Orthonormal rows.
    drift : float
        Bound on their orthogonality defect (`orthobench_stochastic_pca.span`).
    samples : ndarray, shape (count, d), C order
        The last block may be incomplete.
    etas : ndarray, shape (count,)
        Step sizes.
    geodesic : bool
        Whether the angle is that of GROUSE or that of Oja's method.

    Returns
    -------
    ndarray, shape (k, d)
        The rotated basis, a fresh array.
    float
        Bound on its defect; NaN where samples are not finite.
    """
    k, d = U.shape
    V, new = np.empty((k + BLOCK, d)), np.empty((k + BLOCK, d))
    work, scratch = workspace(k + BLOCK, BLOCK, d), np.empty((3, k + BLOCK))
    flat = np.empty(k * (k + BLOCK))
    copy(U, V)
    for first in range(0, len(samples), BLOCK):
        block = samples[first : first + BLOCK]
        count = len(block)
        copy(block, V[k:])
        span = expand(V, k, count, drift, work)
        if np.isnan(span.drift):
            drift = span.drift
            break
        W = matrix(flat, k, k + span.q)
        identity(W)
        for j in range(count):
            _rotate(W, work.coords[j], work.extent[j], etas[first + j], geodesic, scratch)
        drift = collapse(V, span, W, new, work)
        V, new = new, V
    rotated = np.empty((k, d))
    copy(V[:k], rotated)
    return rotated, drift


@inner
def _rotate(W: Array, z: Array, n: int, eta: float, geodesic: bool, scratch: Array) -> None:
    """Rotate the rows of W, in place, towards z; both are zero from entry n on."""
    w, p, r = scratch
    for i in range(n):
        p[i] = 0.0
    for i in range(len(W)):
        w[i] = dot(W[i], z, n)
        add(w[i], W[i], p, n)
    for i in range(n):
        r[i] = z[i] - p[i]
    size, onto, left = dot(z, z, n), dot(w, w, len(W)), dot(r, r, n)
    if left < CANCELLED * size:
        for row in W:
            add(-dot(row, r, n), row, r, n)
        left = dot(r, r, n)
    if not (onto > TINY and left > TINY and left > DEPENDENT**2 * size):
        return
    cosine, sine = _turn(np.sqrt(onto), np.sqrt(left), eta, geodesic)
    for i in range(n):
        p[i] = cosine / onto * p[i] + sine / np.sqrt(onto) / np.sqrt(left) * r[i]
    for i in range(len(W)):
        add(w[i], p, W[i], n)


@inner
def _turn(p: float, r: float, eta: float, geodesic: bool) -> tuple[float, float]:
    """Return cos a - 1 and sin a for the angle a of the step, from |p| and |r|.

    GROUSE goes eta |p||r| along the geodesic. For Oja's method, (I + eta xx')p has the component
    |p| (1 + eta |p|²) along p and eta |p|² |r| along r.
    """
    if geodesic:
        angle = eta * p * r
    elif eta <= 1.0:
        angle = np.arctan2(eta * p * r, 1.0 + eta * p * p)
    else:
        angle = np.arctan2(p * r, 1.0 / eta + p * p)
    return -2.0 * np.sin(angle / 2) ** 2, np.sin(angle)
