"""Algorithm 2, line by line, as printed and with its last test corrected."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from orthobench.contract import Array
from orthobench_papers.msg_2013 import relaxation
from orthobench_papers.reproduce import Evidence
from orthobench_papers.runs import instance

K, STEPS = 4, 700
SLACK = 1e-12
"""Rounding allowed in the comparisons of line 7."""


def shift(values: Array, counts: Array, k: int, printed: bool) -> float | None:
    """Return the S of Algorithm 2, or None if it returns an error.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Distinct eigenvalues, ascending.
    counts : ndarray, shape (n,)
        Their multiplicities.
    printed : bool
        Whether the last test is "j >= n or sigma_{j+1} >= 1", as printed, or "j > n or sigma_j + S
        >= 1".
    """
    n, d = len(values), counts.sum()
    i = j = 0
    si = sj = ci = cj = 0.0
    while i < n:
        if i < j:
            S = float((k - (sj - si) - (d - cj)) / (cj - ci))
            inside = values[i] + S >= -SLACK and values[j - 1] + S <= 1 + SLACK
            zeros = i == 0 or values[i - 1] + S <= SLACK
            if inside and zeros and (_printed if printed else _corrected)(values, j, S):
                return S
        if j < n and values[j] - values[i] <= 1:
            sj, cj, j = sj + counts[j] * values[j], cj + counts[j], j + 1
        else:
            si, ci, i = si + counts[i] * values[i], ci + counts[i], i + 1
    return None


def _printed(values: Array, j: int, S: float) -> bool:
    del S
    return j >= len(values) - 1 or bool(values[j + 1] >= 1)


def _corrected(values: Array, j: int, S: float) -> bool:
    return j >= len(values) or bool(values[j] + S >= 1 - SLACK)


def finds(values: Array, counts: Array, k: int, printed: bool) -> bool:
    """Return whether Algorithm 2 finds a shift whose clipped eigenvalues sum to k."""
    S = shift(values, counts, k, printed)
    return S is not None and abs(float(counts @ np.clip(values + S, 0, 1)) - k) < 1e-9


def spectra(seed: int, steps: int) -> list[tuple[Array, Array]]:
    """Return the spectra of M + eta_t xx' along a run of MSG on digits."""
    oracle = instance("digits", seed, k=K).oracle
    oracle.prepare(steps)
    X = oracle.take(steps)
    run, found = relaxation.begin("msg", X, K, seed, start="random", relative=False), []
    for t, x in enumerate(X, 1):
        M = relaxation.iterate(run)
        found.append(_distinct(np.linalg.eigvalsh(M + np.outer(x, x) / np.sqrt(t))))
        run.advance()
    return found


def _distinct(values: Array) -> tuple[Array, Array]:
    distinct, counts = np.unique(np.abs(np.round(values, 10)), return_counts=True)
    return distinct, counts.astype(np.float64)


def shares_found(evidence: Evidence, printed: bool) -> Iterator[float]:
    """Yield the share of the spectra of a run that it projects."""
    for seed in evidence.seeds[: evidence.sized(10, 3)]:
        found = spectra(seed, evidence.sized(STEPS, STEPS, 100))
        yield float(np.mean([finds(*spectrum, K, printed) for spectrum in found]))
