"""What points are held to."""

from __future__ import annotations

from dataclasses import dataclass

from orthobench.contract import Array


@dataclass(frozen=True)
class Reference:
    """What points are held to.

    Attributes
    ----------
    optimal : float
        The sum of the k leading eigenvalues of Z'Z.
    gap : float
        Eigenvalue k less the next, over the first.
    vectors : ndarray, shape (n, k)
        The leading eigenvectors.
    moment : ndarray, shape (n, n), optional
        Z'Z, where it was formed.
    off : float
        The sine of the largest angle by which the vectors may be off.
    """

    optimal: float
    gap: float
    vectors: Array
    moment: Array | None = None
    off: float = 0.0
