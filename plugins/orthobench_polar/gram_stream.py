"""A stream of eigenproblems."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from orthobench_kit.reading import array_of

from orthobench.contract import Array, DataError, Instance, Oracle, Solution, UsageError
from orthobench.tools.arrays import is_number


class GramStreamOracle(Oracle):
    """Gradients G_t in sequence, read-only (steps, n, m): S <- decay S + (1 - decay) G_t G_t'.

    Each step asks for an orthogonal basis (n, n) of eigenvectors of S, as in Shampoo and SOAP.
    """

    def __init__(self, gradients: Array, decay: float) -> None:
        self.gradients, self.decay = gradients, decay
        self.n = self.k = gradients.shape[1]

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(self.gradients.shape)


@dataclass(frozen=True)
class BasisSolution(Solution):
    """A basis of the matrix of step `since`, from 0, which is used for `every` steps."""

    since: int = 0
    every: int = 1


class BasisJudge:
    """Measures how far bases are from diagonalizing the matrices of their steps."""

    def __init__(self, oracle: GramStreamOracle) -> None:
        self.oracle = oracle

    @cached_property
    def matrices(self) -> Array:
        """S after each step, shape (steps, n, n)."""
        found, S = [], np.zeros((self.oracle.n, self.oracle.n))
        for G in self.oracle.gradients:
            S = self.oracle.decay * S + (1 - self.oracle.decay) * G @ G.T
            found.append(S)
        return np.stack(found)

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return the metrics; ``off_diagonal``, the primary one, first.

        The error of the basis Q is the mean of |D| / |S| over its steps, with the off-diagonal
        part D of Q'SQ; ``fresh`` is that of the first step, ``stale`` of the last.
        ``off_diagonal`` is the mean over the stream, in which the steps before count as those of
        Q, and the steps after it, which have no basis yet, count 1, as much as the worst one.
        """
        since, every = getattr(solution, "since", 0), getattr(solution, "every", 1)
        served = self.matrices[since : since + every]
        turned = solution.point.T @ served @ solution.point
        squares = np.sum(turned**2, axis=(1, 2))
        inner = np.einsum("tii->ti", turned)
        off = np.sqrt(np.maximum(squares - np.sum(inner**2, axis=1), 0.0) / squares)
        done = (since + len(off)) / len(self.matrices)
        return {
            "off_diagonal": float(done * off.mean() + 1 - done),
            "fresh": float(off[0]),
            "stale": float(off[-1]),
        }


def gram_stream(gradients: ArrayLike, decay: float = 0.95) -> Instance[GramStreamOracle]:
    """Make a stream of eigenproblems of your own gradients.

    Find the eigenvectors of S <- decay S + (1 - decay) G_t G_t' after each step t.

    Parameters
    ----------
    gradients : array_like, shape (steps, n, m)
    decay : float
        At least 0 and below 1; .95 in SOAP.

    Returns
    -------
    Instance
        Its points are bases (n, n), with the metrics of `orthobench_polar.gram_stream.BasisJudge`.

    Raises
    ------
    DataError
        If gradients are not real and finite, or not of three axes, or the first is zero.
    UsageError
        If the decay is out of range.

    Examples
    --------
    >>> import numpy as np, orthobench as ob
    >>> G = np.random.default_rng(0).standard_normal((50, 8, 4))
    >>> outcome = ob.solve("basis-eigh", ob.gram_stream(G), every=1)
    >>> outcome.trace[-1].metrics["off_diagonal"] < 1e-13
    True
    """
    if not is_number(decay) or not 0 <= decay < 1:
        raise UsageError(f"decay must be a number from 0 to below 1, not {decay}")
    given = array_of(gradients, "the entries of the gradients").astype(np.float64)
    if given.ndim != 3 or not given.size:
        raise DataError(f"gradients must be of shape (steps, n, m), not {given.shape}")
    if not np.isfinite(given).all() or not given[0].any():
        raise DataError("gradients must be finite, and the first must not be zero")
    given.flags.writeable = False
    oracle = GramStreamOracle(given, float(decay))
    return Instance(oracle, BasisJudge(oracle), {"off_diagonal": 0.0})
