"""Rotations of a basis towards samples, with arrays of any library: a few products for each.

The formulae are those of `orthobench_stochastic_pca._kernels.rotations`, which takes NumPy's and is
faster.
"""

from __future__ import annotations

from typing import Any

from orthobench.contract import is_plain, namespace, orthonormalize
from orthobench_stochastic_pca._kernels.rotation_rules import GEODESIC, KRASULINA

CLEANED = 256
"""Samples after which rounding is taken out of the basis."""

DEPENDENT = 64
"""A residual up to this times the rounding unit, relative to the sample, is rounding."""


def rotate(U: Any, samples: Any, etas: Any, first: int, angle: int) -> Any:
    """Return a basis rotated towards samples, one after the other.

    Parameters
    ----------
    U : array, shape (k, d)
        Orthonormal rows.
    samples : array, shape (count, d)
    etas : array, shape (count,)
        Step sizes.
    first : int
        Number of samples before these.
    angle : int
        `orthobench_stochastic_pca.solvers.rotating.OJA`, `GEODESIC` (GROUSE) or `KRASULINA`.

    Notes
    -----
    10kd flops a sample, and once in 256 those of a QR. Nothing waits for the device.
    """
    steps = etas.tolist() if is_plain(etas) else etas
    for j in range(samples.shape[0]):
        U = _rotated(U, samples[j, :], steps[j], angle)
        if (first + j + 1) % CLEANED == 0:
            U = orthonormalize(U.T).T
    return U


def _rotated(U: Any, x: Any, eta: Any, angle: int) -> Any:
    xp = namespace(U)
    w = U @ x
    along = w @ U
    r = x - along
    r = r - (U @ r) @ U
    onto, left = xp.linalg.vector_norm(w), xp.linalg.vector_norm(r)
    eps = float(xp.finfo(U.dtype).eps)
    moves = (onto > 0) & (left > DEPENDENT * eps * xp.linalg.vector_norm(x))
    one = xp.ones_like(onto)
    p, q = xp.where(moves, onto, one), xp.where(moves, left, one)
    turn = _angle(p, q, eta, angle)
    change = (-2 * xp.sin(turn / 2) ** 2 / p) * along + (xp.sin(turn) / q) * r
    return xp.where(moves, U + (w / p)[:, None] * change[None, :], U)


def _angle(p: Any, r: Any, eta: Any, kind: int) -> Any:
    """Return the angle of the step, from |w| and |r|."""
    xp = namespace(p)
    if kind == GEODESIC:
        return eta * p * r
    if kind == KRASULINA:
        return xp.atan(eta * p * r)
    return xp.atan2(eta * p * r, 1 + eta * p * p)
