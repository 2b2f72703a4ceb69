"""Checks of your own matrices in .npy files."""

from __future__ import annotations

import numpy as np
from orthobench_kit.data import npy
from orthobench_kit.stacks import transposed

from orthobench.contract import Array, DataError
from orthobench.tools.arrays import real

LARGEST = 1e70
"""Bound on the largest entry, and on its inverse, within which fourth powers are finite."""

SYMMETRIC = 1e-10
"""How far a symmetric matrix may be from its transpose, relative to its largest entry."""


def numbers(path: str, what: str, axes: tuple[str, ...]) -> Array:
    """Return the array in a file, read into memory.

    Parameters
    ----------
    path : str
    what : str
        Its name in messages.
    axes : tuple of str
        Names of its axes in messages.

    Raises
    ------
    DataError
        Where the file is missing, or holds no such array of finite real numbers; where they are all
        zero, or too large or too small for their fourth powers.
    """
    found = npy.array(path)
    if found.ndim != len(axes) or not found.size:
        shape = ", ".join(axes)
        raise DataError(f"{path}: {what} must be of shape ({shape}), not {found.shape}")
    A = np.array(real(found, f"{path}: the entries of {what}"), order="C")
    if not np.isfinite(A).all():
        at = _where(~np.isfinite(A))
        raise DataError(f"{path}: entry {at} of {what} is {A[at]}; clean the data")
    largest = float(np.abs(A).max())
    if not 1 / LARGEST <= largest <= LARGEST:
        raise DataError(
            f"{path}: the largest entry of {what} is {largest:.3g}: rescale it, so that powers "
            "neither overflow nor vanish"
        )
    return A


def symmetric(A: Array, path: str) -> Array:
    """Return a matrix or a stack of them, symmetric to the last bit.

    Raises
    ------
    DataError
        Where a matrix is not square, or further from its transpose than `SYMMETRIC` allows.
    """
    if A.shape[-1] != A.shape[-2]:
        raise DataError(f"{path}: a symmetric matrix is square, not of shape {A.shape[-2:]}")
    mirrored = transposed(A)
    largest = np.abs(A).max(axis=(-2, -1), keepdims=True)
    off = np.abs(A - mirrored) > SYMMETRIC * largest
    if off.any():
        at = _where(off)
        raise DataError(
            f"{path} is not symmetric: entry {at} is {A[at]:.6g}, its mirror image "
            f"{mirrored[at]:.6g}; save (A + A') / 2 if that is what you mean"
        )
    return np.asarray((A + mirrored) / 2)


def _where(mask: Array) -> tuple[int, ...]:
    """Return the first place where a mask is set."""
    return tuple(int(i) for i in np.argwhere(mask)[0])
