"""Table 2: relative errors of Tucker and of CP."""

from __future__ import annotations

from itertools import combinations_with_replacement, pairwise
from math import comb, prod

import numpy as np
from orthobench_tucker import ComponentSolution

import orthobench as ob
from orthobench.contract import AnyInstance, Array
from orthobench_papers.reproduce import Evidence, Rows

RANKS = (3, 4, 5, 6, 7)

TUCKER, CP, CUBE = (
    ("table-2-tucker", "spgd"), ("table-2-cp", "cp-adam"), ("table-2-cp-cube-{}", "cp-adam"),
)  # fmt: skip
"""The suite and the solver of Tucker, and of CP with r' = r and r' = r³."""

RUNS = 5
"""Number of runs for a cell of the table."""

N, ORDER = 500, 4


def lowest(errors: Array) -> Array:
    """Return the lowest error of each group of five runs."""
    groups = max(1, len(errors) // RUNS)
    return np.array([part.min() for part in np.array_split(errors, groups)])


def cells(evidence: Evidence, method: tuple[str, str], rank: int) -> Array:
    """Return the cells of a method, in percent."""
    suite, solver = method
    problem = f"gaussian-factor rank={rank}"
    return lowest(100 * evidence.finals(suite.format(rank), problem, solver, "relative_error"))


def as_printed(evidence: Evidence, method: tuple[str, str], errors: dict[str, float]) -> Rows:
    """Return cells over those that are printed, by rank."""
    rows = {}
    for rank, printed in errors.items():
        found = cells(evidence, method, int(rank))
        rows[f"r = {rank} ({np.median(found):.3g} %)"] = found / printed
    return rows


def cp_beats(evidence: Evidence) -> tuple[Array, dict[str, float]]:
    found, base = cells(evidence, CUBE, 3), np.median(cells(evidence, TUCKER, 3))
    return found / base, {"cp": np.median(found), "tucker": base}


def cp_rises(evidence: Evidence) -> list[float]:
    medians = [np.median(cells(evidence, CP, rank)) for rank in RANKS]
    return [float(b / a) for a, b in pairwise(medians)]


def cp_over_tucker(evidence: Evidence) -> Rows:
    return {
        f"r = {r}": np.median(cells(evidence, CP, r)) / cells(evidence, TUCKER, r) for r in RANKS
    }


def cube_over_tucker(evidence: Evidence) -> Rows:
    return {
        f"r = {r}": cells(evidence, CUBE, r) / np.median(cells(evidence, TUCKER, r))
        for r in RANKS[:3]
    }


def economical(_: Evidence) -> list[float]:
    return [
        rank ** (ORDER - 1) * (N + 1) / (rank * N + comb(rank + ORDER - 1, ORDER)) for rank in RANKS
    ]


def as_components(instance: AnyInstance, Q: Array, rng: np.random.Generator) -> ComponentSolution:
    """Return a CP decomposition that equals the Tucker decomposition of a basis.

    Powers of random directions are a basis of symmetric cores.
    """
    core, r = instance.measure.test.core(Q), Q.shape[1]  # type: ignore[attr-defined]
    places = list(combinations_with_replacement(range(r), core.ndim))
    V = rng.standard_normal((r, len(places)))
    V /= np.linalg.norm(V, axis=0)
    powers = np.array([[prod(v[list(at)]) for v in V.T] for at in places])
    weights = np.linalg.solve(powers, np.array([core[at] for at in places]))
    return ComponentSolution(Q @ V, weights=weights)


def components_suffice(evidence: Evidence) -> tuple[list[float], dict[str, str]]:
    found, counts = [], []
    n, p = evidence.sized((100, 2000), (40, 1000))
    for seed in evidence.seeds[:4]:
        for r in (3, 4):
            rng = np.random.default_rng([seed, r])
            B = rng.standard_normal((n, r))
            noise = 0.05 * np.sqrt(r) * rng.standard_normal((n, p))
            X = B @ rng.standard_normal((r, p)) + noise
            instance = ob.symmetric_tucker(X.T, order=ORDER, rank=r)
            Q = np.linalg.qr(B)[0]
            components = as_components(instance, Q, rng)
            errors = [instance.measure(s)["relative_error"] for s in (ob.Solution(Q), components)]
            found.append(errors[1] / errors[0])
            counts.append(f"{components.point.shape[1]} components for r = {r}")
    return found, {"counts": ", ".join(dict.fromkeys(counts))}
