"""Amsel et al. 2025: Polar Express, the best polynomials."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from orthobench.contract import Array
from orthobench_papers.polar_runs import (
    Draw,
    cauchy,
    conditioned,
    drawn,
    gaussian,
    in_each,
    mapped,
    newton_schulz,
    off_one,
    off_unit,
    polynomials,
    scaled_columns,
)
from orthobench_papers.reproduce import Evidence, Measurement, always_within

Steps = Sequence[tuple[float, float, float]]

ENOUGH = 0.1
"""Distance of singular values from 1 at which schedules are compared."""

CLASSICAL = (1.875, -1.25, 0.375)

PRODUCTS = {"polar-express": 3, "cubic": 2, "you": 3}
"""Products of square matrices in a step."""

SPECTRA: dict[str, Draw] = {
    "Gaussian 2:1": gaussian(128, 64), "Gaussian 8:1": gaussian(512, 64),
}  # fmt: skip
SMALL_VALUES: dict[str, Draw] = {
    "condition 1e3": conditioned(128, 64, 1e3), "Cauchy": cauchy(128, 64),
    "condition 1e6": conditioned(128, 64, 1e6),
}  # fmt: skip

SCALED: dict[str, Draw] = {"scaled columns": scaled_columns(128, 64)}

HARD = SMALL_VALUES | SCALED


def schedule(name: str) -> Steps:
    """Return the polynomials of a schedule, with a quintic tail for You's."""
    if name == "you":
        return [*polynomials("you", 5), *[CLASSICAL] * 15]
    return polynomials(name, 60 if name == "cubic" else 20)


def steps_to(A: Array, name: str) -> int:
    """Return the steps until all singular values are near 1."""
    steps = schedule(name)
    values = np.linalg.svd(A, compute_uv=False) / np.linalg.norm(A)
    for number, step in enumerate(steps, 1):
        values = mapped(values, [step])
        if np.abs(values - 1).max() < ENOUGH:
            return number
    raise RuntimeError(f"{name} has not come near in {len(steps)} steps")


def against(
    evidence: Evidence, rival: str, what: str, conditions: Sequence[float], high: float
) -> Measurement:

    def spent(A: Array, name: str) -> int:
        return steps_to(A, name) * (PRODUCTS[name] if what == "products" else 1)

    rows = {}
    for condition in conditions:
        matrices = drawn(conditioned(64, 64, condition), evidence, 5)
        ratios = [spent(A, "polar-express") / spent(A, rival) for A in matrices]
        rows[f"condition {condition:.0e}"] = always_within(ratios, high=high)
    return in_each(rows, f"{what} over those of {rival}")


def no_worse(evidence: Evidence, draws: dict[str, Draw], precision: str) -> Measurement:
    rows = {}
    for name, draw in draws.items():
        matrices = drawn(draw, evidence, 10)
        worst = [
            max(off_one(newton_schulz(A, schedule(s)[:5], precision)) for A in matrices)
            for s in ("polar-express", "you")
        ]
        rows[name] = always_within([worst[0] / worst[1]], high=1.0)
    return in_each(rows, f"largest |s - 1| over that of You, 5 steps in {precision}")


def in_tests(evidence: Evidence) -> Measurement:
    shapes = {"128 x 64": gaussian(128, 64), "128 x 128": gaussian(128, 128)}
    rows = {}
    for name, draw in shapes.items():
        found = [
            off_unit(newton_schulz(A, schedule("polar-express")[:5], "bfloat16"))
            for A in drawn(draw, evidence, 10)
        ]
        rows[name] = always_within(found, high=0.13)
    return in_each(rows, "largest entry of X'X - I after 5 steps in bfloat16")


def equioscillates(evidence: Evidence) -> Measurement:
    del evidence
    # the polynomials as the paper derives them, before the safety factor
    unsafe = [(1.01 * a, 1.01**3 * b, 1.01**5 * c) for a, b, c in schedule("polar-express")[:5]]
    values = mapped(np.geomspace(1e-3, 1, 100_001), unsafe)
    ends = [(1 - values.min()) / (values.max() - 1)]
    return always_within(ends, 0.999, 1.001, "how far below 1 over how far above, 5 steps")


def cycled(evidence: Evidence) -> Measurement:
    steps, found = [*schedule("polar-express")[:5]] * 2, []
    for A in drawn(gaussian(128, 64), evidence, 10):
        values = np.linalg.svd(A, compute_uv=False) / np.linalg.norm(A)
        found.append(float(np.abs(mapped(values, steps) - 1).max()))
    return always_within(found, high=0.13, text="largest |s - 1| after 10 steps")
