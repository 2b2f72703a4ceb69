"""The search for a penalty that delivers as many non-zero loadings as a problem asks for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from orthobench.families.sparse_pca.problem import SparsePCAOracle
from orthobench.tools.arrays import Array

TRIALS = 40
"""Most penalties that are tried for a component, or for all at once."""


def bisected(loadings: Callable[[float, SparsePCAOracle], Array], oracle: SparsePCAOracle) -> Array:
    """Return loadings of the cardinality asked for, from a method with a penalty, by bisection.

    Components asked for one by one come from what those before them leave, A <- A - z (z'A); all
    of them at once from one penalty. Kept are the loadings of the trial that delivers most of what
    was asked for, and no more: where the number jumps past it, fewer.

    Parameters
    ----------
    loadings : callable
        ``loadings(gamma, oracle)`` returns Z of a penalty between 0 and 1, which leaves fewer
        loadings where it is larger. It counts its own work.
    oracle : SparsePCAOracle
        That asks for a cardinality.

    Notes
    -----
    At most `TRIALS` runs of the method for a component, or for all, and 4dN flops between them.
    """
    asked, width = oracle.cardinality or 0, 1 if oracle.each else oracle.k
    A, Z = oracle.A, np.zeros((oracle.n, oracle.k))
    for first in range(0, oracle.k, width):
        own, part = SparsePCAOracle(A, width), Z[:, first : first + width]
        low, high = 0.0, 1.0
        for _ in range(TRIALS):
            gamma = (low + high) / 2
            found = loadings(gamma, own)
            count = np.count_nonzero(found)
            if np.count_nonzero(part) <= count <= asked:
                part[:] = found
            if count == asked:
                break
            low, high = (gamma, high) if count > asked else (low, gamma)
        A = A - part @ (part.T @ A)
    return Z
