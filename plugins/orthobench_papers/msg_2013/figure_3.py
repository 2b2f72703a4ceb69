"""Figure 3, upper row: suboptimality after one pass over MNIST."""

from __future__ import annotations

from orthobench_papers.reproduce import Evidence, Rows
from orthobench_papers.runs import final_ratios

SUITE = "mnist"
KS = (1, 4, 8)


def problem(k: int) -> str:
    """Return the problem of the suites."""
    return f"mnist k={k}"


def ends_at(
    evidence: Evidence, solvers: tuple[str, ...], other: str, suite: str, ks: tuple[int, ...] = KS
) -> Rows:
    return {
        f"{solver}, k = {k}": final_ratios(
            evidence, suite, problem(k), (solver, other), "suboptimality"
        )
        for solver in solvers
        for k in ks
    }


OTHERS = ("msg", "capped-msg", "warmuth-kuzmin", "grassmannian-sgd")
