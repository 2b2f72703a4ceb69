"""Figure 4: both phases at several levels of noise."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np

from orthobench.contract import Array
from orthobench.contract.panel import Axis, Panel
from orthobench_papers.drawing import along_runs, band, over_seeds
from orthobench_papers.reproduce import Evidence, Rows
from orthobench_papers.tucker_2022.figure_3 import PAPER, RANK

PHASES = {"I": "figure-4-phase-1", "II": "figure-4"}
"""The suite that ends with each phase."""

LEVELS = (0.1, 0.5, 1, 1.5, 2)

SKEWNESS = (1.5, 3.0)
"""Skewness of the factors."""


def errors(
    evidence: Evidence, phase: str, level: float, skewness: float = 1.5, solver: str = "spgd"
) -> Array:
    """Return the paper's subspace errors after a phase, seed by seed."""
    found = evidence.finals(PHASES[phase], problem(level, skewness), solver, "subspace_error")
    return PAPER * found


def problem(level: float, skewness: float) -> str:
    """Return the problem of the suites at a level of noise."""
    return f"nig-factor inverse_snr={level:g} skewness={skewness:g}"


def improvement(evidence: Evidence, levels: tuple[float, ...], skewness: float = 1.5) -> Rows:
    rows = {}
    for level in levels:
        first, second = (errors(evidence, phase, level, skewness) for phase in PHASES)
        longer = np.median(errors(evidence, "II", level, skewness, "shoevd"))
        name = (
            f"at {level:g} from {np.median(first):.3f} to {np.median(second):.3f} ({longer:.3f} "
            "where Phase I goes on instead)"
        )
        rows[name] = second / first
    return rows


def robustness(evidence: Evidence) -> Rows:
    rows = {}
    for level in LEVELS:
        both, alone = (errors(evidence, "II", level, solver=s) for s in ("spgd", "shoevd"))
        rows[f"at {level:g}"] = both / alone
    return rows


def good(evidence: Evidence) -> Rows:
    low = (level for level in LEVELS if level <= 1)
    return {f"at {level:g}": errors(evidence, "II", level) / sqrt(2 * RANK) for level in low}


def draw(evidence: Evidence, part: Callable[[Evidence, float], Panel]) -> dict[str, Panel]:
    return {f"skewness {each:g}": part(evidence, each) for each in SKEWNESS}


def panel(evidence: Evidence, skewness: float) -> Panel:
    """Draw the errors along the iterations, at all levels of noise."""
    runs = {
        f"1/SNR = {level:g}": evidence.records(PHASES["II"], problem(level, skewness), "spgd")
        for level in LEVELS
    }
    x = Axis("steps", f"iterations, skewness {skewness:g}")
    y = Axis("subspace_error", "subspace error |QQ' - Q*Q*'|")
    first = evidence.records(PHASES["I"], problem(1, 1.5), "spgd")[0]
    switch = float(first.trace[-1].work.steps)
    return along_runs(x, y, runs, PAPER, rules=(switch,))


def ends(evidence: Evidence, skewness: float) -> Panel:
    """Draw the errors at the ends of both phases against noise."""
    shown = {
        "Phase I": ("I", "spgd"),
        "Phase II": ("II", "spgd"),
        "Phase I on all samples": ("II", "shoevd"),
    }
    found = {
        label: [errors(evidence, phase, level, skewness, solver) for level in LEVELS]
        for label, (phase, solver) in shown.items()
    }
    series = tuple(over_seeds(label, LEVELS, values) for label, values in found.items())
    x = Axis("inverse_snr", f"noise over signal, 1/SNR, skewness {skewness:g}")
    y = Axis("subspace_error", "subspace error |QQ' - Q*Q*'|")
    return Panel(x, y, series, band=band(len(found["Phase I"][0])))
