"""What the methods that keep a spectrum hold, and which projection each of them uses."""

from __future__ import annotations

from typing import NamedTuple

from orthobench.contract import Array

FANTOPE, CAPPED, TRUNCATED, COMPLEMENT, DENSITY = range(5)


class Rule(NamedTuple):
    """What becomes of the eigenvalues after each update.

    Attributes
    ----------
    kind : int
        FANTOPE (msg), CAPPED (capped-msg), TRUNCATED (incremental-pca), COMPLEMENT
        (warmuth-kuzmin) or DENSITY (meg).
    k : int
        The trace of M asked for.
    most : int
        The largest rank; the smallest eigenvalues beyond are dropped.
    old_stay : bool
        Of equal eigenvalues, whether to drop one whose vector the update changed.
    """

    kind: int
    k: int
    most: int
    old_stay: bool = True


class Iterate(NamedTuple):
    """A matrix U' diag(values) U + floor I, eigenvalues ascending; never changed in place.

    Attributes
    ----------
    basis : ndarray, shape (m, d)
        U, orthonormal rows.
    values : ndarray, shape (m,)
        Eigenvalues less the floor, positive.
    floor : float
        The eigenvalue of all other directions.
    full : bool
        Whether the trace of M has reached k.
    drift : float
        Bound on the orthogonality defect of U.
    flops : int
        What the method has cost so far, as its paper states it.
    """

    basis: Array
    values: Array
    floor: float = 0.0
    full: bool = False
    drift: float = 0.0
    flops: int = 0
