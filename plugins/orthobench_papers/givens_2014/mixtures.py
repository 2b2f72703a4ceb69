"""Figures 3 and 4: mixtures of Gaussians, clustered by the factors of their third moments.

The published tensor power method does not keep its factors orthonormal, and the paper judges it by
them. Comparisons of orthobench make them orthonormal first, which costs the method its lead. The
checks here repeat the runs of the suites, and judge the factors as deflation leaves them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np

from orthobench.contract import AnyProblem, Array, Solution
from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench.reproduce import (
    Claim,
    Evidence,
    Measurement,
    Picture,
    Verdict,
    catalogue,
    mean_within,
    median_within,
)
from orthobench_papers.drawing import band, over_seeds, side_by_side
from orthobench_papers.runs import begin_as_in_suite

FEW, MANY, COMPONENTS = "mixtures-10k", "figures-3-4", "more-components"
VARIED, CLOSE = "more-mixtures", "mixtures-50d"
GIVENS, POWER = "givens-tensor", "tensor-power"
DIMENSIONS = (20, 50, 100, 200)
SAMPLES = (10_000, 30_000, 50_000, 100_000, 200_000)

OPTIMAL = (0.955, 0.985)
"""Bounds of the optimal NMI at d = 100, which is about 0.97 in Figures 3 and 4."""


def suite(samples: int) -> str:
    """Return the suite of a sample size; with 10,000 methods differ less, so it has more seeds."""
    return FEW if samples == SAMPLES[0] else MANY


def mixture(evidence: Evidence, d: int, samples: int) -> str:
    """Return a problem of Figures 3 and 4.

    Smoke runs have a fifth of the dimensions and a hundredth of the samples.
    """
    d, samples = d // evidence.sized(1, 1, 5), samples // evidence.sized(1, 1, 100)
    return f"gmm-moments d={d} samples={samples}"


def nmi(evidence: Evidence, suite: str, problem: str) -> tuple[Array, Array]:
    """Return the NMI of Givens, and of the power method by its own factors, seed by seed."""
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
    """Return the NMI of the factors that a run of the suite finds, before they are changed."""
    run = begin_as_in_suite(POWER, problem, seed, **dict(parameters)).advance(1_000_000)
    return float(run.instance.measure(Solution(run.state.factors))["nmi"])


def givens_ahead(evidence: Evidence, suite: str, problem: str) -> Measurement:
    """Check that Givens has the larger NMI, in the median over the seeds."""
    givens, power = nmi(evidence, suite, problem)
    return _ahead(givens - power, "Givens - power", givens, power)


def power_ahead(evidence: Evidence, suite: str, problem: str) -> Measurement:
    """Check that the tensor power method has the larger NMI, in the median."""
    givens, power = nmi(evidence, suite, problem)
    return _ahead(power - givens, "power - Givens", givens, power)


def _ahead(difference: Array, name: str, givens: Array, power: Array) -> Measurement:
    wins = int(np.sum(givens > power))
    text = (
        f"NMI {name}, median of {len(givens)} mixtures (means {givens.mean():.3f} of Givens, "
        f"{power.mean():.3f} of the power method; Givens ahead on {wins})"
    )
    return median_within(difference, 1e-9, np.inf, text)


def optimal_nmi(evidence: Evidence) -> Measurement:
    """Check the NMI of the true mixture at d = 100, for the sample sizes of both figures."""
    found = np.concatenate([
        evidence.finals(suite(samples), mixture(evidence, 100, samples), GIVENS, "optimal_nmi")
        for samples in SAMPLES
    ])  # fmt: skip
    return mean_within(found, *OPTIMAL, f"mean of {len(found)} mixtures at d = 100")


def draw_figure_3(evidence: Evidence) -> Plot:
    """Draw NMI against the dimension, for 10,000 and for 200,000 samples."""
    x = Axis("dimension", "dimension", log=False)
    panels = {
        title: _panel(evidence, x, title, {d: (d, samples) for d in DIMENSIONS})
        for samples, title in ((s, f"{s:,} samples") for s in (SAMPLES[0], SAMPLES[-1]))
    }
    return side_by_side("Figure 3", panels, ABOUT)


def draw_figure_4(evidence: Evidence) -> Plot:
    """Draw NMI against the samples, for d = 100."""
    title, places = "100 dimensions", {samples: (100, samples) for samples in SAMPLES}
    panel = _panel(evidence, Axis("samples", "samples"), title, places)
    return side_by_side("Figure 4", {title: panel}, ABOUT)


def _panel(evidence: Evidence, x: Axis, title: str, at: Mapping[int, tuple[int, int]]) -> Panel:
    """Draw all methods; `at` has the dimension and the samples of each place on the x axis."""
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


ABOUT = ("20 components, variance 2; the power method as it is, and with orthonormal factors",)

NOT_ORTHONORMAL = (
    "The power method owes its lead to factors that deflation leaves not quite orthonormal: made "
    "orthonormal, they do no better than those of Givens."
)

KNOWN: Mapping[str, tuple[Verdict, str]] = {
    "figure-3-10k-d20": (
        Verdict.FAILS,
        "With as many components as dimensions the power method finds hardly any component.",
    ),
    "figure-3-200k-d50": (Verdict.FAILS, NOT_ORTHONORMAL),
    "figure-3-200k-d100": (Verdict.FAILS, "As at d = 50."),
    "figure-3-200k-d200": (Verdict.FAILS, "As at d = 50."),
    "figure-3-200k-d50-bottom": (
        Verdict.HOLDS,
        "With this estimate, which the paper leaves open, Givens is a little ahead.",
    ),
    "figure-3-200k-d100-bottom": (
        Verdict.FAILS,
        "At d = 100 it is behind with either estimate.",
    ),
    "figure-4-100k": (Verdict.FAILS, "As in Figure 3."),
    "figure-4-200k": (Verdict.FAILS, "As in Figure 3."),
    "larger-variance": (Verdict.FAILS, "As with variance 2."),
}
"""Verdicts, with reasons, of claims that fail, or hold for some parameters only."""


def _claim(
    name: str,
    sentence: str,
    source: str,
    check: Callable[[Evidence, str, str], Measurement],
    suite: str,
    problem: str = "",
    at: tuple[int, int] = (0, 0),
) -> Claim:
    """Return a claim about a problem, or about mixtures of a dimension and a sample size."""
    known, reason = KNOWN.get(name, (Verdict.HOLDS, ""))
    return Claim(
        name,
        sentence,
        source,
        lambda evidence: check(evidence, suite, problem or mixture(evidence, *at)),
        known=known,
        reason=reason,
        suites=(suite,),
    )


TOO_FEW = Claim(
    "figure-3-d10",
    "Both methods cluster mixtures of 20 components in 10 dimensions.",
    "Figure 3",
    known=Verdict.UNTESTABLE,
    reason=(
        "Third moments do not determine 20 centres in 10 dimensions: they must be linearly "
        "independent to be whitened. The paper does not say how it got its point at d = 10."
    ),
)

OPTIMAL_CLAIM = Claim(
    "figure-4-optimal",
    "With all parameters known the NMI at d = 100 is about 0.97.",
    "Figure 4",
    optimal_nmi,
    printed="0.97 (read off)",
    reason="The paper leaves the distribution of the centres open; here it was fitted to this.",
    suites=(FEW, MANY),
)


def _claims() -> Iterator[Claim]:
    yield TOO_FEW
    for d in DIMENSIONS:
        yield _claim(
            f"figure-3-200k-d{d}",
            f"With 200,000 samples in {d} dimensions Givens outperforms the tensor power method.",
            "Figure 3",
            givens_ahead,
            MANY,
            at=(d, 200_000),
        )
    for d in DIMENSIONS[:3]:
        yield _claim(
            f"figure-3-10k-d{d}",
            f"With 10,000 samples in {d} dimensions the tensor power method performs better.",
            "Figure 3",
            power_ahead,
            FEW,
            at=(d, 10_000),
        )
    for d, varied in ((50, CLOSE), (100, VARIED)):
        yield _claim(
            f"figure-3-200k-d{d}-bottom",
            f"The same with 200,000 samples in {d} dimensions, the noise variance from the mean of "
            "the least d - k + 1 eigenvalues: Givens outperforms the tensor power method.",
            "Figure 3",
            givens_ahead,
            varied,
            "gmm-moments variance_estimate=bottom",
        )
    yield OPTIMAL_CLAIM
    for samples in SAMPLES[3:]:
        yield _claim(
            f"figure-4-{samples // 1000}k",
            f"In 100 dimensions Givens performs better for larger sample sizes: {samples:,}.",
            "Figure 4",
            givens_ahead,
            MANY,
            at=(100, samples),
        )
    yield _claim(
        "more-components",
        "The same is observed for 50 components, with 200,000 samples: Givens finds better "
        "solutions when there are many components.",
        "section 5.3",
        givens_ahead,
        COMPONENTS,
        "gmm-moments",
    )
    yield _claim(
        "larger-variance",
        "The same is observed for a larger variance, here 4, with 200,000 samples.",
        "section 5.3",
        givens_ahead,
        VARIED,
        "gmm-moments variance=4",
    )


CLAIMS = tuple(_claims())

PICTURES = (
    Picture(
        "figure-3",
        "Figure 3",
        "NMI against the dimension with 10,000 samples (left) and 200,000 (right). Made "
        "orthonormal, the power method clusters no better than Givens.",
        draw_figure_3,
    ),
    Picture(
        "figure-4",
        "Figure 4",
        "NMI against the samples, d = 100. The power method is ahead until its factors are made "
        "orthonormal.",
        draw_figure_4,
    ),
)
