"""Figures 3 and 4: mixtures of Gaussians, clustered by the factors of their third moments.

The paper judges the factors of the tensor power method after deflation, which are not orthonormal,
and so do these checks. Comparisons of orthobench make them orthonormal, which costs the method its
lead.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from orthobench.contract import AnyProblem, Array, Solution
from orthobench.contract.panel import Axis, Panel, Series
from orthobench_papers.drawing import band, over_seeds
from orthobench_papers.reproduce import Evidence, catalogue
from orthobench_papers.runs import begin_as_in_suite

FEW, MANY = "mixtures-10k", "figures-3-4"
GIVENS, POWER = "givens-tensor", "tensor-power"
DIMENSIONS = (20, 50, 100, 200)
SAMPLES = (10_000, 30_000, 50_000, 100_000, 200_000)


def suite(samples: int) -> str:
    """Return the suite of a sample size; for 10,000 it has more seeds."""
    return FEW if samples == SAMPLES[0] else MANY


def mixture(evidence: Evidence, d: int, samples: int) -> str:
    """Return a problem of Figures 3 and 4; smaller in smoke runs."""
    d, samples = d // evidence.sized(1, 1, 5), samples // evidence.sized(1, 1, 100)
    return f"gmm-moments d={d} samples={samples}"


def nmi(evidence: Evidence, suite: str, problem: str) -> tuple[Array, Array]:
    """Return the NMI of Givens and of the power method, seed by seed."""
    givens = evidence.finals(suite, problem, GIVENS, "nmi")
    power = [
        _of_own_factors(
            catalogue().problem(record.problem.name, record.problem.parameters),
            frozenset(record.solver.parameters.items()),
            record.seed,
        )
        for record in evidence.records(suite, problem, POWER)
    ]
    return givens, np.array(power)


@cache
def _of_own_factors(
    problem: AnyProblem, parameters: frozenset[tuple[str, Any]], seed: int
) -> float:
    run = begin_as_in_suite(POWER, problem, seed, **dict(parameters)).advance(1_000_000)
    return float(run.instance.measure(Solution(run.state.factors))["nmi"])


def ahead(
    evidence: Evidence, suite: str, problem: str = "", at: tuple[int, int] = (0, 0)
) -> tuple[Array, dict[str, float]]:
    """Return the NMI of Givens less that of the power method.

    `at` has dimension and samples of a problem of Figures 3 and 4, in place of `problem`.
    """
    ours, theirs = nmi(evidence, suite, problem or mixture(evidence, *at))
    won = int(np.sum(ours > theirs))
    words = {"count": len(ours), "givens": ours.mean(), "power": theirs.mean(), "won": won}
    return ours - theirs, words


def behind(evidence: Evidence, **where: Any) -> tuple[Array, dict[str, float]]:
    """Return the NMI of the power method less that of Givens."""
    found, words = ahead(evidence, **where)
    return -found, words


def optimal_nmi(evidence: Evidence) -> Array:
    return np.concatenate([
        evidence.finals(suite(samples), mixture(evidence, 100, samples), GIVENS, "optimal_nmi")
        for samples in SAMPLES
    ])  # fmt: skip


def draw_figure_3(evidence: Evidence) -> dict[str, Panel]:
    x = Axis("dimension", "dimension", log=False)
    return {
        title: _panel(evidence, x, title, {d: (d, samples) for d in DIMENSIONS})
        for samples, title in ((s, f"{s:,} samples") for s in (SAMPLES[0], SAMPLES[-1]))
    }


def draw_figure_4(evidence: Evidence) -> dict[str, Panel]:
    title, places = "100 dimensions", {samples: (100, samples) for samples in SAMPLES}
    return {title: _panel(evidence, Axis("samples", "samples"), title, places)}


def _panel(evidence: Evidence, x: Axis, title: str, at: Mapping[int, tuple[int, int]]) -> Panel:
    places = [(suite(samples), mixture(evidence, d, samples)) for d, samples in at.values()]
    givens, power = zip(*(nmi(evidence, *place) for place in places), strict=True)

    def finals(solver: str, value: str) -> list[Array]:
        return [evidence.finals(*place, solver, value) for place in places]

    series: tuple[Series, ...] = (
        over_seeds("givens", [*at], givens),
        over_seeds("power", [*at], power),
        over_seeds("power, made orthonormal", [*at], finals(POWER, "nmi")),
        over_seeds("true mixture", [*at], finals(GIVENS, "optimal_nmi"), solver=""),
    )
    y = Axis("nmi", "NMI", log=False)
    return Panel(x, y, series, band=band(min(map(len, givens))), title=title)
