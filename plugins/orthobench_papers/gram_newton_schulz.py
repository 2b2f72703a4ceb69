"""Dao-AILab 2026: Newton-Schulz iterations of the Gram matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from orthobench.reproduce import Claim, Evidence, Measurement, Paper, Verdict, always_within
from orthobench_papers.polar_runs import (
    conditioned,
    distance,
    drawn,
    gaussian,
    gram_newton_schulz,
    in_each,
    metrics,
    newton_schulz,
    polynomials,
)

SPECTRA = {
    "Gaussian": gaussian(512, 128), "condition 1e2": conditioned(512, 128, 1e2),
    "condition 1e4": conditioned(512, 128, 1e4),
}  # fmt: skip
ILL = {name: draw for name, draw in SPECTRA.items() if name != "Gaussian"}


def in_doubles(evidence: Evidence) -> Measurement:
    """Measure the distance of both forms in float64."""
    rows, steps = {}, polynomials("polar-express", 5)
    for name, draw in SPECTRA.items():
        found = [
            distance(gram_newton_schulz(A, steps, 2), newton_schulz(A, steps))
            for A in drawn(draw, evidence, 3)
        ]
        rows[name] = always_within(found, high=1e-10)
    return in_each(rows, "distance of the two forms in float64")


def loses(
    precision: str, restart: int, names: Iterable[str], low: float, high: float
) -> Callable[[Evidence], Measurement]:
    """Return the check of how much more the Gram form loses by rounding than the plain one."""

    def check(evidence: Evidence) -> Measurement:
        rows, steps = {}, polynomials("polar-express", 5)
        for name in names:
            found = []
            for A in drawn(SPECTRA[name], evidence, 3):
                exact = newton_schulz(A, steps)
                plain = newton_schulz(A, steps, precision)
                gram = gram_newton_schulz(A, steps, restart, precision)
                found.append(distance(gram, exact) / distance(plain, exact))
            rows[name] = always_within(found, low, high)
        return in_each(rows, f"rounding error of the Gram form over that of the plain, {precision}")

    return check


def products(aspects: tuple[int, ...], high: float) -> Callable[[Evidence], Measurement]:
    """Return the check that five steps take at most `high` times the products of the plain form."""

    def check(evidence: Evidence) -> Measurement:
        rows = {}
        for aspect in aspects:
            (A, *_) = drawn(gaussian(64 * aspect, 64), evidence, 1)
            spent = [
                metrics(solver, A, coefficients="polar-express", steps=5)["products"]
                for solver in ("gram-newton-schulz", "newton-schulz")
            ]
            rows[f"{aspect}:1"] = always_within([spent[0] / spent[1]], high=high)
        return in_each(rows, "products of five steps over those of the plain form")

    return check


NOTES = """
- **Matrices** are 512 x 128; five polynomials of Polar Express. Half precisions are those of
  PyTorch; without it each matrix is rounded, with sums that are exact.
- **Flops** of five steps: 8np² + 32p³ against 20np² + 10p³, equal at n = 1.83 p; 2.5 times fewer
  for n without bound, and 2 times from n = 13.5 p on. Products with symmetric results are counted
  in full in both forms.
- **Not here**: kernels for symmetric products, and seconds on a GPU.
"""

GRAM_NEWTON_SCHULZ = Paper(
    name="gram-newton-schulz",
    reference="Dao-AILab: *gram-newton-schulz*, the repository. 2026.",
    claims=(
        Claim(
            "equivalent", "It is equivalent to Newton-Schulz: in float64.", "README", in_doubles,
        ),
        Claim(
            "equivalent-in-float16",
            "It is equivalent to Newton-Schulz: with its restart after step 2, in float16.",
            "README", loses("float16", 2, SPECTRA, 0.0, 2.0),
        ),
        Claim(
            "equivalent-in-bfloat16",
            "Beyond the text: with its restart after step 2, in bfloat16.",
            "README", loses("bfloat16", 2, SPECTRA, 0.0, 2.0),
        ),
        Claim(
            "restart-needed", "The restart is needed: condition 1e2 and more, in float16.",
            "README", loses("float16", 0, ILL, 5.0, float("inf")),
        ),
        Claim(
            "restart-needed-for-gaussian", "The restart is needed: Gaussian matrices, in float16.",
            "README", loses("float16", 0, ("Gaussian",), 5.0, float("inf")),
            known=Verdict.FAILS,
            reason="Holds only where there are singular values below about 1e-2 of the largest.",
        ),
        Claim(
            "fewer-products", "It takes fewer products: from two times as many rows as columns on.",
            "README", products((2, 4, 8), 1.0),
        ),
        Claim(
            "fewer-products-of-square", "It takes fewer products: square matrices.",
            "README", products((1,), 1.0), known=Verdict.FAILS,
            reason="Holds only where n > 1.83 p: square ones take 1.4 to 1.6 times as many.",
        ),
        Claim(
            "half", "It takes half as many products, or fewer: 16 times as many rows as columns.",
            "README", products((16,), 0.5), printed="up to 2 times",
        ),
        Claim(
            "half-at-8", "It takes half as many products, or fewer: 8 times as many rows.",
            "README", products((8,), 0.5), printed="up to 2 times", known=Verdict.FAILS,
            reason="Holds only where n > 13.5 p: at 8 p it takes .56 as many.",
        ),
    ),
    suites=Path(__file__).parent / "gram_newton_schulz",
    notes=NOTES,
)  # fmt: skip
"""The claims; there are no suites."""
