"""The benchmark of msPCA 0.5.1 (2026): sparse components of a given cardinality."""

from __future__ import annotations

import numpy as np

import orthobench as ob
from orthobench_papers.reproduce import Evidence, catalogue

Row = tuple[str, list[int], dict[str, float], float]
"""A solver, its loadings for each component, the metrics, and seconds."""

BY_NUMBER = ("tpower", "tpower-orthogonal", "sparse-pca-exact", "sparse-pca-blocks")
BY_PENALTY = ("gpower", "aman-pg", "sklearn-minibatch-sparse-pca")
"""Solvers with a number of loadings, and with a searched penalty."""


def row(solver: str, data: str, m: int, each: bool = True) -> Row:
    """Return a solver's results for four loadings in each of m components."""
    asked = {"cardinality": 4 if each else 4 * m, "each": each}
    problem = catalogue().problem("classic-sparse", {"data": data, "m": m, **asked})
    outcome = ob.solve(solver, problem.build(np.random.default_rng(0)))
    Z = np.asarray(outcome.solution)
    last, counts = outcome.trace[-1], np.count_nonzero(Z, axis=0)
    return solver, counts.tolist(), dict(last.metrics), last.seconds


def said(found: Row, asked: str = "4 each were") -> str:
    """Return a row in words."""
    solver, counts, metrics, seconds = found
    return (
        f"by `{solver}`: {', '.join(map(str, counts))} loadings where {asked} asked for, "
        f"overlap {metrics['overlap']:.3g}, {seconds:.2g} s"
    )


def explained(_: Evidence, solver: str, data: str, m: int) -> tuple[list[float], dict[str, str]]:
    found = row(solver, data, m)
    return [found[2]["explained_variance"]], {"said": said(found)}


def undelivered(_: Evidence, data: str, m: int) -> tuple[list[float], dict[str, str]]:
    """Return undelivered loadings of solvers with a number, and what all deliver."""
    found = [row(solver, data, m) for solver in (*BY_NUMBER, *BY_PENALTY)]
    rows = "; ".join(f"{one[2]['explained_variance']:.3f} {said(one)}" for one in found)
    return [one[2]["undelivered"] for one in found if one[0] in BY_NUMBER], {"rows": rows}


def uncontrolled(_: Evidence) -> tuple[list[float], dict[str, str]]:
    found = row("aman-pg", "mtcars", 3, each=False)
    return [max(found[1]) - min(found[1])], {"said": said(found, "12 in all were")}
