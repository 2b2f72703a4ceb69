"""Section 5 without its experiments: Theorem 3, equation 11, and the cost of a rotation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from math import cos, sin
from typing import TypeAlias

import numpy as np
from orthobench_kit.symmetric_tensors import composed, contracted
from orthobench_orthogonal_tensor import orthogonal_tensor

from orthobench.contract import Array
from orthobench_papers.givens_2014.section_3 import flipped_least, nudged
from orthobench_papers.reproduce import Evidence, Measurement, Rows, Run, median_within, together
from orthobench_papers.runs import TRIALS, begin_trial, instance

Line: TypeAlias = Callable[[Array, float], float]

SPREADS, SIZES, ORDERS = (2, 1, 20), (3, 5, 10, 20, 50), ("random", "cyclic")
"""Ratios of weights, dimensions, and orders of the pairs, of the suite."""

EXACT = 1e-10
"""Maximum relative error of a recovered factor, and of the weights."""


def exact_recovery(evidence: Evidence) -> tuple[list[bool], dict[str, float]]:
    hits, sweeps = [], 0.0
    for order in ORDERS:
        for spread in SPREADS:
            for d in SIZES:
                problem, solver = f"odeco spread={spread} d={d}", f"givens-tensor order={order}"
                records = evidence.records("odeco", problem, solver)
                hits += [_exact(record.trace[-1].metrics) for record in records]
                if order == "cyclic":
                    sweeps = max(sweeps, *map(_sweeps, records))
    return hits, {"sweeps": sweeps}


def _exact(metrics: Mapping[str, float]) -> bool:
    return metrics["recovery_error"] <= EXACT and abs(metrics["objective_gap"]) <= EXACT


def _sweeps(record: Run) -> float:
    d = int(record.problem.parameters["d"])
    there = (m.work.steps for m in record.trace if m.metrics["objective_gap"] <= 1e-8)
    return 2 * next(there, math.inf) / (d * (d - 1))


def _value(T: Array, U: Array) -> float:
    return float(contracted(T, U).sum())


def no_strict_maximum(seed: int) -> bool:
    """Return whether negating the least factor gives no strict local maximum."""
    V, weights, U = flipped_least(5, seed)
    T, rng = composed(V, weights), np.random.default_rng(seed)
    lost = [_value(T, U) - _value(T, nudged(U, 1e-3, rng)) for _ in range(20)]
    return min(lost) <= 1e-7 or _value(T, U) >= weights.sum() - 1.9 * weights[0]


def escapes(seed: int) -> bool:
    """Return whether a run leaves a local maximum for the sum of the weights."""
    V, weights, U = flipped_least(6, seed)
    made = orthogonal_tensor(composed(V, weights), factors=V, weights=weights)
    near = nudged(U, 1e-6, np.random.default_rng(seed))
    return _exact(begin_trial("givens-tensor", made, seed, near, order="random").converge().metrics)


def printed_line(entries: Array, angle: float) -> float:
    """Return equation 11 as printed, for entries iii, jjj, ijj, jii."""
    iii, jjj, ijj, jii = entries
    c, s = cos(angle), sin(angle)
    return float(
        c**3 * (iii + jjj - 3 * ijj - 3 * jii)
        + s**3 * (iii - jjj - 3 * ijj + 3 * jii)
        + c * (3 * ijj + 3 * jii)
        + s * (3 * ijj - 3 * jii)
    )


def corrected_line(entries: Array, angle: float) -> float:
    """Return equation 11 with corrected signs of s³ and s."""
    return printed_line(entries, -angle)


def direct_line(entries: Array, angle: float) -> float:
    """Return T(u~_i, u~_i, u~_i) + T(u~_j, u~_j, u~_j) in the plane of i and j."""
    T, c, s = plane(entries), cos(angle), sin(angle)
    return _value(T, np.array([[c, -s], [s, c]]))


def plane(entries: Array) -> Array:
    """Return the symmetric tensor (2, 2, 2) with these entries iii, jjj, ijj, jii."""
    iii, jjj, ijj, jii = entries
    return np.array([[[iii, jii], [jii, ijj]], [[jii, ijj], [ijj, jjj]]], dtype=np.float64)


def is_objective(seed: int, line: Line) -> bool:
    """Return whether a formula is the objective at an angle."""
    rng = np.random.default_rng(seed)
    entries, angle = rng.standard_normal(4), float(rng.uniform(-3, 3))
    return abs(line(entries, angle) - direct_line(entries, angle)) <= 1e-9


ANGLES = np.linspace(-math.pi, math.pi, 1440, endpoint=False)


def _on_circle(seed: int) -> tuple[Array, Array]:
    entries = np.random.default_rng(seed).standard_normal(4)
    return entries, np.array([corrected_line(entries, float(angle)) for angle in ANGLES])


def corrected(evidence: Evidence) -> Rows:
    """Return whether equation 11 is the objective, and a step takes its largest value."""
    seeds = evidence.seeds[:TRIALS]
    return {
        "equation 11": [is_objective(seed, corrected_line) for seed in seeds],
        "the solver's step": [_reaches_highest(seed) for seed in seeds],
    }


def _reaches_highest(seed: int) -> bool:
    entries, values = _on_circle(seed)
    made = orthogonal_tensor(plane(entries))
    run = begin_trial("givens-tensor", made, seed, np.eye(2)).advance()
    return bool(_value(made.oracle.T, run.point) >= values.max() - 1e-12)


def three_maxima(seed: int) -> bool:
    """Return whether a plane has at most three maxima."""
    values = _on_circle(seed)[1]
    return bool(np.sum((values > np.roll(values, 1)) & (values >= np.roll(values, -1))) <= 3)


def cost_of_iterations(evidence: Evidence) -> Measurement:
    small, large = (_flops(d, evidence.seeds[0]) for d in (50, 200))
    start, step = (math.log(b / a) / math.log(4) for a, b in zip(small, large, strict=True))
    return together([
        median_within([step], 1.8, 2.2, "exponent of d in the flops of an iteration"),
        median_within([start], 3.8, 4.2, "in those of the precomputation"),
    ])  # fmt: skip


def _flops(d: int, seed: int) -> tuple[int, float]:
    run = begin_trial("givens-tensor", instance("odeco", seed, d=d), seed, order="random")
    flops = [state.work.flops for state in run.states(50)]
    return flops[0], (flops[-1] - flops[0]) / (len(flops) - 1)


def moments_decompose(evidence: Evidence) -> Rows:
    problems: dict[str, tuple[str, dict[str, int]]] = {
        "Gaussian mixtures": ("gmm-moments", {"d": 30, "components": 12, "samples": 0}),
        "latent Dirichlet allocation": ("lda-moments", {"documents": 0}),
    }
    return {
        model: [
            begin_trial("givens-tensor", instance(name, seed, **settings), seed)
            .converge()
            .metrics["residual"]
            for seed in evidence.seeds[: evidence.sized(20, 5)]
        ]
        for model, (name, settings) in problems.items()
    }
