"""GROUSE on samples with missing entries: a least-squares problem and a rotation for each."""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array
from orthobench_stochastic_pca import Positions
from orthobench_stochastic_pca._kernels.blocks import BLOCK

DEPENDENT = 1e-10
"""Residual, relative to the sample, that is rounding."""


def rotated_by_entries(rows: Array, samples: Array, observed: Positions, etas: Array) -> Array:
    """Return a basis rotated towards samples of which only some entries are observed.

    Parameters
    ----------
    rows : ndarray, shape (k, d)
        U', orthonormal rows.
    samples : ndarray, shape (count, d)
    observed : ndarray of bool, shape (count, d)
    etas : ndarray, shape (count,)
        Step sizes.

    Returns
    -------
    ndarray, shape (k, d)
        A fresh array; a Newton-Schulz step after each block of `BLOCK` samples takes the rounding
        out.

    Notes
    -----
    `entry_flops`.

    References
    ----------
    Balzano, Nowak and Recht 2010, Algorithm 1.
    """
    for first in range(0, len(samples), BLOCK):
        part = slice(first, first + BLOCK)
        rows = _rotated(rows, samples[part], observed[part], etas[part])
        rows = 1.5 * rows - 0.5 * (rows @ rows.T) @ rows
    return rows


def _rotated(rows: Array, samples: Array, observed: Positions, etas: Array) -> Array:
    rows = rows.copy()
    for x, seen, eta in zip(samples, observed, etas, strict=True):
        w = coefficients(rows[:, seen].T, x[seen])
        p, r = w @ rows, np.zeros(len(x))
        r[seen] = x[seen] - p[seen]
        r -= (rows @ r) @ rows  # the rounding of what cancelled
        onto, left = float(np.linalg.norm(p)), float(np.linalg.norm(r))
        if onto == 0 or left <= DEPENDENT * float(np.linalg.norm(x[seen])):
            continue
        angle = eta * onto * left
        direction = (np.cos(angle) - 1) / onto * p + np.sin(angle) / left * r
        rows += np.outer(w / onto, direction)
    return rows


def coefficients(basis: Array, entries: Array) -> Array:
    """Return the least-squares coefficients of entries, of smallest length where they are few."""
    return np.asarray(np.linalg.lstsq(basis, entries, rcond=None)[0])


def entry_flops(samples: int, entries: int, d: int, k: int) -> int:
    """Return the flops of GROUSE on samples with so many observed entries in all.

    2mk² + 6mk for least squares on m entries, 4dk for p and the rotation, 8d for lengths. What
    takes rounding out is not counted.
    """
    return entries * (2 * k * k + 6 * k) + samples * (4 * d * k + 8 * d)
