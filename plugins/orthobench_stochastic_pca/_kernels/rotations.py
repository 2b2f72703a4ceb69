"""Kernels of the methods that turn their basis towards each sample.

With w = U'x, p = Uw and r = x - p, Oja's method, GROUSE and Krasulina's method rotate the basis in
the plane of p and r, by different angles a::

    U + ((cos a - 1) p/|p| + sin a r/|r|) w'/|w|.
"""

from __future__ import annotations

import numpy as np
from orthobench_kit.compiled import kernel

from orthobench.contract import Array
from orthobench_stochastic_pca._kernels.iterates import BLOCK, Angle
from orthobench_stochastic_pca._kernels.span import (
    DEPENDENT,
    TINY,
    axpy,
    copy_rows,
    dot,
    expand,
    matrix,
    set_identity,
    workspace,
    write_basis,
)

CANCELLED = 1e-2
"""Value of |r|²/|x|² below which r is orthogonalized to U again."""


@kernel
def rotate_blocks(
    U: Array, drift: float, samples: Array, etas: Array, angle: Angle
) -> tuple[Array, float]:
    """Rotate a basis U (k, d) towards samples (count, d), one by one, with step sizes `etas`.

    `drift` bounds the orthogonality defect of the rows (`span`). Returns the rotated basis, a fresh
    array, and its drift; NaN if samples are not finite. 2(k + b/2)d + 2k(k + b)d/b flops a sample,
    b = BLOCK. Memory: 2(k + b)d doubles.

    References
    ----------
    Arora, Cotter and Srebro 2013, equation 3.1; Balzano, Nowak and Recht 2010, Algorithm 1; Tang
    2019, Algorithm 1.
    """
    k, d = U.shape
    V, new = np.empty((k + BLOCK, d)), np.empty((k + BLOCK, d))
    work, scratch = workspace(k + BLOCK, BLOCK, d), np.empty((3, k + BLOCK))
    flat = np.empty(k * (k + BLOCK))
    copy_rows(U, V)
    for first in range(0, len(samples), BLOCK):
        block = samples[first : first + BLOCK]
        count = len(block)
        copy_rows(block, V[k:])
        span = expand(V, k, count, drift, work)
        if np.isnan(span.drift):
            drift = span.drift
            break
        W = matrix(flat, k, k + span.q)
        set_identity(W)
        for j in range(count):
            _rotate(W, work.coords[j], work.extent[j], etas[first + j], angle, scratch)
        drift = write_basis(V, span, W, new, work)
        V, new = new, V
    rotated = np.empty((k, d))
    copy_rows(V[:k], rotated)
    return rotated, drift


@kernel
def _rotate(W: Array, z: Array, n: int, eta: float, angle: Angle, scratch: Array) -> None:
    """Rotate the rows of W towards z, in place; both are zero from entry n on."""
    w, p, r = scratch
    for i in range(n):
        p[i] = 0.0
    for i in range(len(W)):
        w[i] = dot(W[i], z, n)
        axpy(w[i], W[i], p, n)
    for i in range(n):
        r[i] = z[i] - p[i]
    size, onto, left = dot(z, z, n), dot(w, w, len(W)), dot(r, r, n)
    if left < CANCELLED * size:
        for row in W:
            axpy(-dot(row, r, n), row, r, n)
        left = dot(r, r, n)
    if not (onto > TINY and left > TINY and left > DEPENDENT * DEPENDENT * size):
        return
    cosine_less_one, sine = _angle(np.sqrt(onto), np.sqrt(left), eta, angle)
    for i in range(n):
        p[i] = cosine_less_one / onto * p[i] + sine / np.sqrt(onto) / np.sqrt(left) * r[i]
    for i in range(len(W)):
        axpy(w[i], p, W[i], n)


@kernel
def _angle(p: float, r: float, eta: float, kind: Angle) -> tuple[float, float]:
    """Return cos a - 1 and sin a from |p| and |r|.

    GROUSE: eta |p||r|, along the geodesic. Oja: (I + eta xx')p has the component |p| (1 + eta |p|²)
    along p and eta |p|² |r| along r. Krasulina's step has no part along p.
    """
    if kind == Angle.GEODESIC:
        angle = eta * p * r
    elif kind == Angle.KRASULINA:
        angle = np.arctan2(p * r, 1.0 / eta)
    elif eta <= 1.0:
        angle = np.arctan2(eta * p * r, 1.0 + eta * p * p)
    else:
        angle = np.arctan2(p * r, 1.0 / eta + p * p)
    half = np.sin(angle / 2)
    return -2.0 * half * half, np.sin(angle)


@kernel
def turn(V: Array, samples: Array, before: int, amnesic: float) -> None:
    """Turn directions V (k, d), zeros at first, towards samples, one after the other, in place.

    `before` is the number of earlier samples, `amnesic` the additional weight of a sample. Weng,
    Zhang and Hwang 2003, Algorithm 1; 14dk flops a sample.
    """
    k, d = V.shape
    u = np.empty(d)
    for t in range(len(samples)):
        n = before + t + 1
        extra = amnesic if n > amnesic + 1.0 else 0.0
        for j in range(d):
            u[j] = samples[t, j]
        for i in range(min(k, n)):
            v = V[i]
            square = dot(v, v, d)
            if square <= TINY:  # it has none yet, and takes what is left of the sample
                for j in range(d):
                    v[j] = u[j]
                break
            along = (1.0 + extra) / n * dot(u, v, d) / np.sqrt(square)
            for j in range(d):
                v[j] *= (n - 1.0 - extra) / n
            axpy(along, u, v, d)
            square = dot(v, v, d)
            if square > TINY:
                axpy(-dot(u, v, d) / square, v, u, d)
