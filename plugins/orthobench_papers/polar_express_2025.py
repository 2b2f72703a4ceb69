"""Amsel et al. 2025: Polar Express, the best polynomials."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from orthobench.contract import Array
from orthobench_papers.polar_runs import (
    drawn,
    mapped,
    newton_schulz,
    of_each,
    off_one,
    off_unit,
    polynomials,
)
from orthobench_papers.reproduce import Evidence, Rows

Steps = Sequence[tuple[float, float, float]]

ENOUGH = 0.1
"""Distance of singular values from 1 at which schedules are compared."""

CLASSICAL = (1.875, -1.25, 0.375)

PRODUCTS = {"polar-express": 3, "cubic": 2, "you": 3}
"""Products of square matrices in a step."""


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


def against(evidence: Evidence, rival: str, what: str, conditions: Sequence[float]) -> Rows:
    def spent(A: Array, name: str) -> int:
        return steps_to(A, name) * (PRODUCTS[name] if what == "products" else 1)

    draws = [f"condition {each:g}, 64 x 64" for each in conditions]
    return of_each(draws, evidence, 5, lambda A: spent(A, "polar-express") / spent(A, rival))


def no_worse(evidence: Evidence, draws: Sequence[str], precision: str) -> Rows:
    def worst(draw: str, name: str) -> float:
        steps = schedule(name)[:5]
        return max(off_one(newton_schulz(A, steps, precision)) for A in drawn(draw, evidence, 10))

    return {draw: [worst(draw, "polar-express") / worst(draw, "you")] for draw in draws}


def in_tests(evidence: Evidence) -> Rows:
    draws = ("Gaussian, 128 x 64", "Gaussian, 128 x 128")
    steps = schedule("polar-express")[:5]
    return of_each(draws, evidence, 10, lambda A: off_unit(newton_schulz(A, steps, "bfloat16")))


def equioscillates(_: Evidence) -> list[float]:
    # the polynomials as the paper derives them, before the safety factor
    unsafe = [(1.01 * a, 1.01**3 * b, 1.01**5 * c) for a, b, c in schedule("polar-express")[:5]]
    values = mapped(np.geomspace(1e-3, 1, 100_001), unsafe)
    return [(1 - values.min()) / (values.max() - 1)]


def cycled(evidence: Evidence) -> Iterator[float]:
    steps = [*schedule("polar-express")[:5]] * 2
    for A in drawn("Gaussian, 128 x 64", evidence, 10):
        values = np.linalg.svd(A, compute_uv=False) / np.linalg.norm(A)
        yield float(np.abs(mapped(values, steps) - 1).max())
