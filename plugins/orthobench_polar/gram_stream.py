"""A stream of eigenproblems."""

from __future__ import annotations

from dataclasses import dataclass

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
    """Measures how far bases are from diagonalizing the matrices of their steps.

    It keeps only the matrices of one basis: those of all steps are as large as the gradients.
    """

    def __init__(self, oracle: GramStreamOracle) -> None:
        self.oracle = oracle
        self._served: list[Array] = []
        self._since = 0

    def _matrices(self, since: int, every: int) -> list[Array]:
        """Return S after a step, and after each of the next ones, `every` at most."""
        if since < self._since or not self._served:
            self._served, self._since = [], 0
        oracle, served = self.oracle, self._served[since - self._since :]
        S = self._served[-1] if self._served else np.zeros((oracle.n, oracle.n))
        begin = self._since + len(self._served)
        for t in range(begin, min(since + every, len(oracle.gradients))):
            G = oracle.gradients[t]
            S = oracle.decay * S + (1 - oracle.decay) * G @ G.T
            if t >= since:
                served.append(S)
        self._served, self._since = served, since
        return served[:every]

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return the metrics; ``off_diagonal``, the primary one, first.

        The error of the basis Q is the mean of |D| / |S| over its steps, with the off-diagonal
        part D of Q'SQ; ``fresh`` is that of the first step, ``stale`` of the last.
        ``off_diagonal`` is the mean over the stream, in which the steps before count as those of
        Q, and the steps after it, which have no basis yet, count 1, as much as the worst one.
        """
        since, every = getattr(solution, "since", 0), getattr(solution, "every", 1)
        served = self._matrices(since, every)
        off = np.array([_off_diagonal(solution.point.T @ S @ solution.point) for S in served])
        done = (since + len(off)) / len(self.oracle.gradients)
        return {
            "off_diagonal": float(done * off.mean() + 1 - done),
            "fresh": float(off[0]),
            "stale": float(off[-1]),
        }


def _off_diagonal(turned: Array) -> float:
    """Return the norm of all entries but the diagonal, relative to that of all."""
    squares, inner = np.sum(turned**2), np.sum(turned.diagonal() ** 2)
    return float(np.sqrt(np.maximum(squares - inner, 0.0) / squares))


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
    if not all(np.isfinite(G).all() for G in given) or not given[0].any():
        raise DataError("gradients must be finite, and the first must not be zero")
    return owned_stream(given, float(decay))


def owned_stream(gradients: Array, decay: float) -> Instance[GramStreamOracle]:
    """Make a stream of finite gradients in float64; they are not copied, but made read-only."""
    gradients.flags.writeable = False
    oracle = GramStreamOracle(gradients, decay)
    return Instance(oracle, BasisJudge(oracle), {"off_diagonal": 0.0})
