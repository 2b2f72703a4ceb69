"""Sparse PCA by Givens rotations as anyone would first write it in numpy: the opponent."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from orthobench.tools.arrays import Array


def givens(AU: Array, pairs: NDArray[np.int32], gamma: float, xatol: float = 1e-5) -> None:
    """Rotate pairs of columns of AU (d, N), Fortran order, in place (Algorithm 2).

    `xatol` is what scipy's search is asked for in the angle, 1e-5 where nothing is said.
    """
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
