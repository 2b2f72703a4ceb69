"""Sparse components of prostate gene expression at eight cardinalities: variance, overlap, seconds.

CPU seconds of one thread, the search for a penalty included. Bounds are those of one component:
the largest sum of |S_ij| in a row of the covariance, over as many features, which
``sparse-pca-exact`` reaches if it finds the optimum. ``prostate`` reads the file in the folder
that ``ORTHOBENCH_DATA`` names, or downloads it. ``-k "5-"`` runs one cardinality.
"""

from __future__ import annotations

from time import process_time

import numpy as np
import pytest
from orthobench_sparse_pca.solvers.exact import row_sums
from smoke import usually

from orthobench.contract.solver import Status
from orthobench.errors import UsageError
from orthobench.registry.plugins import catalogue

M = 3
CARDINALITIES = usually((3, 5, 10, 20, 40, 80, 160, 320), smoke=(3,))
SOLVERS = ("tpower", "tpower-orthogonal", "gpower", "aman-pg", "sparse-pca-exact")
PROBLEM = usually(("prostate", {}), smoke=("planted-sparse", {"d": 120, "nonzeros": 4}))


def instance(cardinality: int):
    name, given = PROBLEM
    problem = catalogue().problem(name, {**given, "m": M, "cardinality": cardinality})
    return problem.build(np.random.default_rng(0))


def solved(solver, oracle):
    """Return the solution and CPU seconds of a run to its end."""
    begin = process_time()
    state = solver.init(oracle, np.random.default_rng(0))
    while state.status is Status.RUNNING:
        solver.advance(oracle, state, 1)
    return solver.solution(state), process_time() - begin


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """Import and compile what solvers need."""
    small = catalogue().problem("planted-sparse", {"d": 30, "nonzeros": 4, "cardinality": 3})
    for name in SOLVERS:
        solved(catalogue().solver(name, {}), small.build(np.random.default_rng(0)).oracle)


def row(name: str, cardinality: int) -> list[str]:
    """Return variance, overlap, loadings of each component, seconds, and the first's variance."""
    built = instance(cardinality)
    solver = catalogue().solver(name, {})
    oracle = built.oracle
    try:
        found, seconds = solved(solver, oracle)
    except UsageError as refused:
        return [str(refused), *["-"] * 4]
    metrics = built.measure(found)
    counts = np.count_nonzero(found.point, axis=0)
    first = float(np.sum((oracle.A.T @ found.point[:, 0]) ** 2) / np.sum(oracle.A**2))
    return [
        f"{100 * metrics['explained_variance']:.4f} %",
        f"overlap {metrics['overlap']:.3g}",
        f"{counts.tolist()}",
        f"{seconds:.2f} s",
        f"first {100 * first:.5f} %",
    ]


@pytest.mark.parametrize("cardinality", CARDINALITIES)
def test_prostate_at_a_cardinality(report, cardinality):
    A = np.ascontiguousarray(instance(cardinality).oracle.A)
    total, begin = float(np.sum(A**2)), process_time()
    values = np.linalg.eigvalsh(A.T @ A)[::-1]
    one = min(float(row_sums(A, cardinality).max()), float(values[0])) / total
    all_of_them = min(M * one, float(values[:M].sum()) / total)
    spent = f"{process_time() - begin:.2f} s"
    report(
        "bound", f"cardinality {cardinality}", M, f"{100 * all_of_them:.4f} %", "-", "-", spent,
        f"first {100 * one:.5f} %",
    )  # fmt: skip
    for name in SOLVERS:
        report(name, f"cardinality {cardinality}", M, *row(name, cardinality))
