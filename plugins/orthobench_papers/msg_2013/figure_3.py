"""Figure 3, upper row: suboptimality after one pass over MNIST."""

from __future__ import annotations

import numpy as np

from orthobench_papers.reproduce import Evidence, Measurement, median_within
from orthobench_papers.runs import final_ratios, for_each_k

SUITE = "mnist"
DATA = ("t10k-images-idx3-ubyte.gz",)
KS = (1, 4, 8)


def problem(k: int) -> str:
    """Return the problem of the suites."""
    return f"mnist k={k}"


def ends_at(
    evidence: Evidence,
    solvers: tuple[str, ...],
    other: str,
    low: float = 0.0,
    high: float = np.inf,
    ks: tuple[int, ...] = KS,
    suite: str = SUITE,
) -> Measurement:

    def end(solver: str, k: int) -> Measurement:
        pair = (solver, other)
        found = final_ratios(evidence, suite, problem(k), pair, "suboptimality")
        return median_within(found, low, high)

    rows = {solver: [end(solver, k) for k in ks] for solver in solvers}
    return for_each_k(f"final suboptimality over that of {other}", ks, rows)


OTHERS = ("msg", "capped-msg", "warmuth-kuzmin", "grassmannian-sgd")
