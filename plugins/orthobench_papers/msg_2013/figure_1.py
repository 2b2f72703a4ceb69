"""Section 4 and Figure 1: the rank of MSG's iterates, and their eigenvalues."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from orthobench.contract import Array
from orthobench.contract.panel import Axis, Panel, Series
from orthobench_papers.msg_2013.orthogonal import begin
from orthobench_papers.msg_2013.relaxation import iterate
from orthobench_papers.reproduce import Evidence, Rows
from orthobench_papers.runs import samples_taken, traced

SUITE, PROBLEM, K = "figure-1", "orthogonal-distribution", 4
SOLVERS = {"1/sqrt(t)": "msg step=1", "2/sqrt(t)": "msg step=2", "0.02": "msg step=0.02"}
"""The solvers of the suite, by their step sizes."""

SETTLED = 1000
"""Number of iterations that are skipped, until the rank is settled."""

SMALL = 0.1
"""Maximum of a very small eigenvalue; the largest possible is 1."""

SHOWN = (1, 2, 3, 4, 5, 6, 8, 11, 15)
"""The eigenvalues in the picture, by size."""


@cache
def eigenvalues(seed: int, steps: int, c: float) -> Array:
    """Return the eigenvalue of each unit vector after each iteration, (steps, d).

    All samples are unit vectors, so M is diagonal; the step size is c / sqrt(t).
    """
    run = begin("msg", K, seed, step=c, relative=False)
    found = np.array([np.diag(iterate(run.advance())) for _ in range(steps)])
    found[found < 1e-12] = 0.0
    return found


def _eigenvalues(evidence: Evidence) -> list[Array]:
    seeds, steps = evidence.sized((10, 10_000), (2, 3000), (1, 1200))
    return [eigenvalues(seed, steps, 1.0) for seed in evidence.seeds[:seeds]]


def rank(evidence: Evidence) -> Rows:
    rows = {}
    for step, solver in SOLVERS.items():
        records = evidence.records(SUITE, PROBLEM, solver)
        settled = samples_taken(records) >= SETTLED
        rows[step] = traced(records, "rank")[:, settled].mean(axis=1)
    return rows


def growths(evidence: Evidence) -> list[float]:
    return [np.diff((D > 0).sum(axis=1), prepend=0).max() for D in _eigenvalues(evidence)]


def small_shares(evidence: Evidence) -> Iterator[float]:
    for D in _eigenvalues(evidence):
        extra = -np.sort(-D[SETTLED:], axis=1)[:, K:]
        yield float((extra[extra > 0] < SMALL).mean())


def stays(evidence: Evidence) -> list[float]:
    return [float(np.median(_stays(D[SETTLED:]))) for D in _eigenvalues(evidence)]


def _stays(D: Array) -> Array:
    found: list[Array] = []
    for inside in (D > 0).T:
        changes = np.diff(inside.astype(np.int8))
        enters, leaves = np.flatnonzero(changes == 1), np.flatnonzero(changes == -1)
        first = np.searchsorted(leaves, enters, side="right")
        left = first < len(leaves)
        found.append((leaves[first[left]] - enters[left]).astype(np.float64))
    return np.concatenate(found)


def draw(evidence: Evidence) -> dict[str, Panel]:
    seed, steps = evidence.seeds[0], evidence.sized(10_000, 3000, 1200)
    at = np.unique(np.geomspace(1, steps, 400).astype(int))
    return {"rank": _ranks(seed, steps, at), "eigenvalues": _spectrum(seed, steps, at)}


def _ranks(seed: int, steps: int, at: Array) -> Panel:
    lines = []
    for c in (1.0, 2.0):
        ranks = (eigenvalues(seed, steps, c) > 0).sum(axis=1).astype(np.float64)
        lines.append(Series(f"msg, c={c:g}", at, ranks[at - 1], solver=f"msg, c={c:g}"))
    printed = Series("the paper: about 15", at[[0, -1]], np.array([15.0, 15.0]))
    x, y = Axis("iteration", "iteration"), Axis("rank", "rank of the iterate", log=False)
    return Panel(x, y, (*lines, printed), stepped=True)


def _spectrum(seed: int, steps: int, at: Array) -> Panel:
    ordered = -np.sort(-eigenvalues(seed, steps, 1.0), axis=1)[at - 1]
    lines = tuple(Series(f"{i}. eigenvalue", at, ordered[:, i - 1], solver=str(i)) for i in SHOWN)
    x, y = Axis("iteration", "iteration"), Axis("eigenvalue", "eigenvalue", log=False)
    return Panel(x, y, lines)
