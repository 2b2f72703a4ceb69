"""The updates, compared with independent dense implementations of the paper's definitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from orthobench.contract import Array
from orthobench_papers.msg_2013.relaxation import begin, iterate
from orthobench_papers.reproduce import Evidence

Step: TypeAlias = Callable[[Array, Array], Array]
"""Returns the next iterate from M and the gradient G."""

D, K, CAP, STEPS = 8, 3, 4, 150


def msg_step(M: Array, G: Array) -> Array:
    """Return P(M + G) on {0 <= M <= I, tr M = k} (equation 3.4, Lemma 3.2)."""
    values, vectors = np.linalg.eigh(M + G)
    return _with(vectors, _shifted(values, round(np.trace(M))))


def capped_step(M: Array, G: Array) -> Array:
    """Return the matrix of {0 <= M <= I, tr M = k, rank M <= K} nearest to M + G (equation 5.1).

    Tries every subset of `CAP` eigenvectors.
    """
    k = round(np.trace(M))
    values, vectors = np.linalg.eigh(M + G)
    best, nearest = values, np.inf
    for subset in map(list, combinations(range(len(values)), CAP)):
        trial = np.zeros(len(values))
        trial[subset] = _shifted(values[subset], k)
        distance = float(((trial - values) ** 2).sum())
        if distance < nearest:
            best, nearest = trial, distance
    return _with(vectors, best)


def complement_step(M: Array, G: Array) -> Array:
    """Return the next M of mirror descent on I - M with the von Neumann entropy (section 3.3).

    Subtracts G from log(I - M), then scales the eigenvalues, clipped at 1, to sum to d - k, unless
    tr M <= k already.
    """
    rest, axes = np.linalg.eigh(np.eye(len(M)) - M)
    logs, vectors = np.linalg.eigh(_with(axes, np.log(rest)) - G)
    total = len(M) - K

    def scaled(shift: float) -> Array:
        return np.exp(np.minimum(logs + shift, 0.0))

    shift = 0.0 if scaled(0.0).sum() >= total else _root(lambda s: scaled(s).sum() - total, 0, 50)
    return _with(vectors, 1.0 - scaled(shift))


def _with(vectors: Array, values: Array) -> Array:
    M: Array = (vectors * values) @ vectors.T
    return M


def _shifted(values: Array, k: int) -> Array:
    shift = _root(lambda s: np.clip(values + s, 0, 1).sum() - k, -values.max() - 1, 2.0)
    return np.clip(values + shift, 0, 1)


def _root(rising: Callable[[float], float], low: float, high: float) -> float:
    from scipy.optimize import brentq

    return float(brentq(rising, low, high, xtol=1e-15, rtol=1e-14, maxiter=500))


def deviations(evidence: Evidence, solver: str, step: Step, **parameters: Any) -> Iterator[float]:
    """Yield the largest difference of an entry of M along a run."""
    for seed in evidence.seeds[: evidence.sized(10, 3)]:
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((evidence.sized(STEPS, STEPS, 20), D)) * 0.8 ** np.arange(D)
        X /= np.sqrt((X**2).sum(axis=1).mean())
        run, largest = begin(solver, X, K, seed, relative=False, **parameters), 0.0
        for t, x in enumerate(X, 1):
            expected = step(iterate(run), np.outer(x, x) / np.sqrt(t))
            run.advance()
            largest = max(largest, float(np.abs(iterate(run) - expected).max()))
        yield largest
