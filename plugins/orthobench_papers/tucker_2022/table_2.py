"""Table 2: relative errors of Tucker and of CP."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations_with_replacement, pairwise
from math import comb, prod, sqrt

import numpy as np
from orthobench_tucker import ComponentSolution

import orthobench as ob
from orthobench.contract import AnyInstance, Array
from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench_papers.drawing import over_seeds, side_by_side
from orthobench_papers.reproduce import (
    Evidence,
    Measurement,
    always_within,
    median_within,
    together,
)

RANKS = (3, 4, 5, 6, 7)
TUCKER = dict(zip(RANKS, (0.0027, 0.0035, 0.0039, 0.0048, 0.0059), strict=True))
CP = dict(zip(RANKS, (32.74, 42.36, 45.94, 52.77, 57.59), strict=True))
CUBE = dict(zip(RANKS, (0.0025, 0.0060, 0.0084, 0.0089, 0.0106), strict=True))
"""Relative errors in percent, as printed."""

CUBES = {rank: f"table-2-cp-cube-{rank}" for rank in (3, 4, 5)}

RUNS = 5
"""Number of runs for a cell of the table."""

AGREE = 2.0
"""Maximum factor between errors that agree; loadings are drawn anew here."""

SIMILAR = 10.0
"""Maximum factor between similar errors."""

TEN_THOUSAND = (1e4 / sqrt(10), 1e4 * sqrt(10))
"""Bounds of factors that round to ten thousand, in orders of magnitude."""

N, ORDER = 500, 4


def lowest(errors: Array) -> Array:
    """Return the lowest error of each group of five runs."""
    groups = max(1, len(errors) // RUNS)
    return np.array([part.min() for part in np.array_split(errors, groups)])


def tucker(evidence: Evidence, rank: int) -> Array:
    """Return the cells of Tucker, in percent."""
    return _percent(evidence, "table-2-tucker", "spgd", rank)


def cp(evidence: Evidence, rank: int, suite: str = "table-2-cp") -> Array:
    """Return the cells of CP, in percent."""
    return _percent(evidence, suite, "cp-adam", rank)


def _percent(evidence: Evidence, suite: str, solver: str, rank: int) -> Array:
    found = evidence.finals(suite, f"gaussian-factor rank={rank}", solver, "relative_error")
    return lowest(100 * found)


def agree(cells: Mapping[int, Array], printed: Mapping[int, float], factor: float) -> Measurement:
    """Check that cells are those that are printed, up to a factor."""
    return together([
        median_within(
            found / printed[rank], 1 / factor, factor,
            f"{np.median(found):.3g} % over {printed[rank]:g} %, r = {rank}",
        )
        for rank, found in cells.items()
    ])  # fmt: skip


def tucker_as_printed(evidence: Evidence) -> Measurement:
    return agree({rank: tucker(evidence, rank) for rank in RANKS}, TUCKER, AGREE)


def cp_as_printed(evidence: Evidence) -> Measurement:
    return agree({rank: cp(evidence, rank) for rank in RANKS}, CP, 1.25)


def cube_as_printed(evidence: Evidence, rank: int) -> Measurement:
    return agree({rank: cp(evidence, rank, CUBES[rank])}, CUBE, AGREE)


def cp_beats(evidence: Evidence) -> Measurement:
    found, base = cp(evidence, 3, CUBES[3]), np.median(tucker(evidence, 3))
    text = f"CP / Tucker; {np.median(found):.2g} % against {base:.2g} %"
    return median_within(found / base, high=1, text=text)


def cp_rises(evidence: Evidence) -> Measurement:
    cells = [cp(evidence, rank) for rank in RANKS]
    rises = [float(np.median(b) / np.median(a)) for a, b in pairwise(cells)]
    return always_within(rises, low=1, text="least ratio of the errors of r + 1 and r factors")


def ten_thousand(evidence: Evidence) -> Measurement:
    return together([
        median_within(
            np.median(cp(evidence, rank)) / tucker(evidence, rank),
            *TEN_THOUSAND, text=f"CP / Tucker, r = {rank}",
        )
        for rank in RANKS
    ])  # fmt: skip


def similar(evidence: Evidence) -> Measurement:
    return together([
        median_within(
            cp(evidence, rank, suite) / np.median(tucker(evidence, rank)),
            1 / SIMILAR, SIMILAR, f"CP / Tucker, r = {rank}",
        )
        for rank, suite in CUBES.items()
    ])  # fmt: skip


def economical(evidence: Evidence) -> Measurement:
    del evidence
    found = [
        rank ** (ORDER - 1) * (N + 1) / (rank * N + comb(rank + ORDER - 1, ORDER)) for rank in RANKS
    ]
    text = f"least of CP's numbers r³(n + 1) over Tucker's rn + C(r + 3, 4), n = {N}"
    return always_within(found, low=2, text=text)


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


def components_suffice(evidence: Evidence) -> Measurement:
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
    text = (
        f"error of CP over that of Tucker, {', '.join(dict.fromkeys(counts))}, built from Tucker's"
    )
    return median_within(found, low=1.01, text=text)


def draw(evidence: Evidence) -> Plot:
    about = ("Lowest errors of five runs each; dashed: what the paper prints.",)
    return side_by_side("Table 2", {"relative error": panel(evidence)}, about)


def panel(evidence: Evidence) -> Panel:
    """Draw the cells, with the printed ones as references."""
    cells = {
        "Tucker": {rank: tucker(evidence, rank) for rank in RANKS},
        "CP, r' = r": {rank: cp(evidence, rank) for rank in RANKS},
        "CP, r' = r³": {rank: cp(evidence, rank, suite) for rank, suite in CUBES.items()},
    }
    printed = {"Tucker, printed": TUCKER, "CP, r' = r, printed": CP, "CP, r' = r³, printed": CUBE}
    measured = [
        over_seeds(label, list(found), list(found.values())) for label, found in cells.items()
    ]
    papers = [
        Series(label, np.array(list(row), dtype=float), np.array(list(row.values())))
        for label, row in printed.items()
    ]
    x = Axis("rank", "factors r", log=False)
    return Panel(x, Axis("percent", "relative error (%)"), (*measured, *papers))
