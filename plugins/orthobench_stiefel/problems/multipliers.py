"""The Procrustes problem on the Stiefel manifold by its Lagrange dual."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orthobench.contract import Array

SETTLED = 1e-9
"""The largest |X'X - I| at which a multiplier has solved the problem."""

ROUNDING = 1e-13
"""|X'X - I| at which Newton's method ends."""

STEPS = 100
"""Most steps of Newton's method, which takes about ten."""

HALVINGS = 50
"""Most halvings of one step."""

INSIDE = 1e-14
"""The least eigenvalue of L + cI, relative to the largest of A'A."""

GAIN = 1e-4
"""The share of the slope that a step must gain."""


@dataclass(frozen=True)
class Multiplier:
    """A symmetric multiplier L of X'X = I, and the X that minimizes the Lagrangian there.

    |AX - B|² + tr(L(X'X - I)) is convex in X where L + cI is positive definite, c the least
    eigenvalue of A'A. Its minimum is below |AX - B|² wherever X'X = I, and is taken where
    A'AX + XL = A'B. If that X itself has X'X = I, it is the global minimum.

    Attributes
    ----------
    L : ndarray, shape (p, p)
    X : ndarray, shape (n, p)
    bound : float
        The minimum of the Lagrangian, concave in L.
    excess : ndarray, shape (p, p)
        X'X - I, the gradient of the bound.
    """

    L: Array
    X: Array
    bound: float
    excess: Array

    @property
    def solved(self) -> bool:
        """Whether X has orthonormal columns."""
        return bool(np.linalg.norm(self.excess) <= SETTLED)


def multiplier(A: Array, B: Array) -> Multiplier:
    """Return the multiplier of the largest bound, or one near it where there is no largest one.

    Parameters
    ----------
    A : ndarray, shape (N, n)
    B : ndarray, shape (N, p)

    Notes
    -----
    Newton's method, with the Hessian by conjugate gradients: 2Nn(n + p) + 9n³ flops at first, then
    about 4np² for each of at most p(p + 1)/2 iterations of a step.
    """
    values, Q = np.linalg.eigh(A.T @ A)
    dual = _Dual(values, Q.T @ (A.T @ B), float(np.vdot(B, B)))
    found = dual.at(dual.first())
    for _ in range(STEPS):
        better = dual.better(found) if np.linalg.norm(found.excess) > ROUNDING else None
        if better is None:
            break
        found = better
    return Multiplier(found.L, Q @ found.X, found.bound, found.excess)


@dataclass(frozen=True)
class _Dual:
    """The dual in the eigenvectors of A'A: its eigenvalues, A'B, and |B|²."""

    values: Array
    M: Array
    constant: float

    def first(self) -> Array:
        """Return a multiplier where the Lagrangian is convex, and |X| <= 1."""
        size = float(np.linalg.norm(self.M, 2)) + abs(float(self.values[0]))
        return (size or 1.0) * np.eye(self.M.shape[1])

    def at(self, L: Array) -> Multiplier:
        """Return L with its X, bound and excess."""
        levels, V = np.linalg.eigh(L)
        X = ((self.M @ V) / np.add.outer(self.values, levels)) @ V.T
        bound = self.constant - float(np.vdot(self.M, X)) - float(levels.sum())
        return Multiplier(L, X, bound, X.T @ X - np.eye(len(L)))

    def better(self, found: Multiplier) -> Multiplier | None:
        """Return the multiplier after a step of Newton's method; None where no step gains."""
        E = self._direction(found)
        slope, length = float(np.vdot(E, found.excess)), 1.0
        slack = 4 * np.finfo(np.float64).eps * self.constant
        for _ in range(HALVINGS):
            L = found.L + length * E
            if np.linalg.eigvalsh(L)[0] + self.values[0] > INSIDE * self.values[-1]:
                new = self.at(L)
                if new.bound >= found.bound + GAIN * length * slope - slack:
                    return new
            length /= 2
        return None

    def _direction(self, found: Multiplier) -> Array:
        """Solve HE = X'X - I by conjugate gradients, H minus the Hessian of the bound."""
        levels, V = np.linalg.eigh(found.L)
        X, R = found.X @ V, V.T @ found.excess @ V
        sums = np.add.outer(self.values, levels)
        E, D, size = np.zeros_like(R), R, float(np.vdot(R, R))
        for _ in range(R.size):
            change = X.T @ ((X @ D) / sums)
            HD = change + change.T
            t = size / float(np.vdot(D, HD))
            E, R = E + t * D, R - t * HD
            size, before = float(np.vdot(R, R)), size
            if size <= 1e-20 * float(np.vdot(found.excess, found.excess)):
                break
            D = R + (size / before) * D
        direction: Array = V @ E @ V.T
        return direction
