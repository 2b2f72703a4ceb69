"""The updates themselves, against dense reference implementations that share nothing with them.

These take eigendecompositions of (d, d) matrices, find shifts and scalings by bisection, and
search over subsets: what the paper defines, not how it computes it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from orthobench.contract import Array
from orthobench.reproduce import Claim, Evidence, Measurement, median_within
from orthobench_papers.msg_2013.runs import Run

D, K, CAP, STEPS = 8, 3, 4, 150
EXACT = 1e-9
"""Largest difference of an entry of M that rounding may leave."""


def msg_step(M: Array, G: Array) -> Array:
    """Return P(M + G) on {0 <= M <= I, tr M = k} (equation 3.4, Lemma 3.2); tr M = k."""
    values, vectors = np.linalg.eigh(M + G)
    return _with(vectors, _shifted(values, round(np.trace(M))))


def capped_step(M: Array, G: Array) -> Array:
    """Return the nearest to M + G of {0 <= M <= I, tr M = k, rank M <= K}, of all K eigenvectors.

    Equation 5.1: tries every subset of `CAP` eigenvectors.
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
    """Return mirror descent's next M: on I - M, with the von Neumann entropy (section 3.3).

    log(I - M) loses G; then the eigenvalues are scaled, and clipped at 1, to sum to d - k. Below
    trace K only what would exceed it is scaled, as for a start at zero.
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


def _deviation(
    solver: str, step: Callable[[Array, Array], Array], seed: int, **parameters: Any
) -> float:
    """Return the largest difference between a solver's iterates and the reference's, each step.

    The reference begins each step at the solver's iterate, so that differences do not add up.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((STEPS, D)) * 0.8 ** np.arange(D)
    X /= np.sqrt((X**2).sum(axis=1).mean())
    run, largest = Run.on_rows(solver, X, K, seed, **parameters), 0.0
    for t, x in enumerate(X, 1):
        expected = step(run.M, np.outer(x, x) / np.sqrt(t))
        run.advance()
        largest = max(largest, float(np.abs(run.M - expected).max()))
    return largest


def _agrees(
    solver: str, step: Callable[[Array, Array], Array], **parameters: Any
) -> Callable[[Evidence], Measurement]:
    def check(evidence: Evidence) -> Measurement:
        seeds = evidence.seeds[: 3 if evidence.quick else 10]
        found = [_deviation(solver, step, seed, **parameters) for seed in seeds]
        text = f"largest difference of an entry of M in {STEPS} steps, d={D}, k={K}"
        return median_within(found, 0.0, EXACT, text)

    return check


CLAIMS = (
    Claim(
        "algorithm-1-is-projected-gradient",
        "Algorithm 1, a rank-one update of a rank-m eigendecomposition followed by the projection "
        "of the eigenvalues, computes the MSG update P(M + eta xx').",
        "Algorithm 1",
        _agrees("msg", msg_step, start="random"),
    ),
    Claim(
        "warmuth-kuzmin-is-mirror-descent",
        "Warmuth and Kuzmin's algorithm is mirror descent on the relaxation with the von Neumann "
        "entropy of I - M as potential.",
        "Section 3.3",
        _agrees("warmuth-kuzmin", complement_step),
    ),
    Claim(
        "capped-projection-is-a-subset",
        "The projection of capped MSG is Algorithm 2 on a size-K subset of the eigenvalues.",
        "Section 5.1",
        _agrees("capped-msg", capped_step, start="random", K=CAP),
        reason=(
            "The best subset is always that of the K largest: the solver tries no other, and is "
            "compared with a search over all."
        ),
    ),
)
