"""Section 5 without its experiments: Theorem 3, equation 11, and the cost of a rotation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from math import cos, sin
from typing import TypeAlias

import numpy as np
from orthobench_kit.symmetric_tensors import composed, contracted
from orthobench_orthogonal_tensor import orthogonal_tensor

from orthobench.contract import Array
from orthobench_papers.givens_2014.section_3 import flipped_least, nudged
from orthobench_papers.reproduce import (
    Evidence,
    Measurement,
    Run,
    median_within,
    share_within,
    together,
)
from orthobench_papers.runs import TRIALS, begin_trial, in_every_trial, instance

Line: TypeAlias = Callable[[Array, float], float]

SPREADS, SIZES, ORDERS = (2, 1, 20), (3, 5, 10, 20, 50), ("random", "cyclic")
"""Ratios of weights, dimensions, and orders of the pairs, of the suite."""


EXACT = 1e-10
"""Maximum relative error of a recovered factor, and of the weights."""


def exact_recovery(evidence: Evidence) -> Measurement:
    records = {
        order: [
            record
            for spread in SPREADS
            for d in SIZES
            for record in evidence.records(
                "odeco", f"odeco spread={spread} d={d}", f"givens-tensor order={order}"
            )
        ]
        for order in ORDERS
    }
    hits = [_exact(record.trace[-1].metrics) for row in records.values() for record in row]
    sweeps = max(map(_sweeps, records["cyclic"]))
    text = (
        f"share of {len(hits)} runs that end at all factors and the sum of weights, d = 3 to 50; "
        f"in cyclic order the gap is 1e-8 after at most {sweeps:.1f} sweeps of d(d-1)/2 rotations"
    )
    return share_within(hits, 0.99, 1, text)


def _exact(metrics: Mapping[str, float]) -> bool:
    return metrics["recovery_error"] <= EXACT and abs(metrics["objective_gap"]) <= EXACT


def _sweeps(record: Run) -> float:
    d = int(record.problem.parameters["d"])
    there = (m.work.steps for m in record.trace if m.metrics["objective_gap"] <= 1e-8)
    return 2 * next(there, math.inf) / (d * (d - 1))


def only_factors_are_stable(evidence: Evidence) -> Measurement:
    text = (
        "tensors where negating the least factor gives no strict local maximum (weights (1, 3) "
        f"and U = [e2, -e1]: {_value(_of_two(), np.array([[0.0, -1.0], [1.0, 0.0]])):.3g}, where "
        "the largest value is 4)"
    )
    return in_every_trial(lambda seed: not _strict_maximum(seed), evidence, text)


def _of_two() -> Array:
    return composed(np.eye(2), np.array([1.0, 3.0]))


def _value(T: Array, U: Array) -> float:
    return float(contracted(T, U).sum())


def _strict_maximum(seed: int) -> bool:
    V, weights, U = flipped_least(5, seed)
    T, rng = composed(V, weights), np.random.default_rng(seed)
    lost = [_value(T, U) - _value(T, nudged(U, 1e-3, rng)) for _ in range(20)]
    return min(lost) > 1e-7 and _value(T, U) < weights.sum() - 1.9 * weights[0]


def escapes(evidence: Evidence) -> Measurement:
    return in_every_trial(_escapes, evidence, "runs that end at the sum of the weights")


def _escapes(seed: int) -> bool:
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


FIXTURE = np.array([1.0, 2.0, 3.0, 4.0])


def equation_11_as_printed(evidence: Evidence) -> Measurement:
    angle = math.pi / 6
    text = (
        "random planes where it is the objective (entries 1, 2, 3, 4 at pi/6: "
        f"{printed_line(FIXTURE, angle):.4f} for {direct_line(FIXTURE, angle):.4f})"
    )
    return in_every_trial(partial(_is_objective, printed_line), evidence, text)


def equation_11_corrected(evidence: Evidence) -> Measurement:
    trials: dict[str, Callable[[int], bool]] = {
        "it is the objective": partial(_is_objective, corrected_line),
        "the solver's step takes its largest value": _reaches_highest,
    }
    return together([
        in_every_trial(trial, evidence, f"random planes where {what}")
        for what, trial in trials.items()
    ])  # fmt: skip


def _is_objective(line: Line, seed: int) -> bool:
    rng = np.random.default_rng(seed)
    entries, angle = rng.standard_normal(4), float(rng.uniform(-3, 3))
    return abs(line(entries, angle) - direct_line(entries, angle)) <= 1e-9


ANGLES = np.linspace(-math.pi, math.pi, 1440, endpoint=False)


def _on_circle(seed: int) -> tuple[Array, Array]:
    entries = np.random.default_rng(seed).standard_normal(4)
    return entries, np.array([corrected_line(entries, float(angle)) for angle in ANGLES])


def _reaches_highest(seed: int) -> bool:
    entries, values = _on_circle(seed)
    made = orthogonal_tensor(plane(entries))
    run = begin_trial("givens-tensor", made, seed, np.eye(2)).advance()
    return bool(_value(made.oracle.T, run.point) >= values.max() - 1e-12)


def three_maxima(evidence: Evidence) -> Measurement:
    counts = []
    for seed in evidence.seeds[:TRIALS]:
        values = _on_circle(seed)[1]
        peaks = (values > np.roll(values, 1)) & (values >= np.roll(values, -1))
        counts.append(int(peaks.sum()))
    text = f"share of {TRIALS} random planes with at most 3 maxima; the most seen are {max(counts)}"
    return share_within([count <= 3 for count in counts], 0.99, 1, text)


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


def moments_decompose(evidence: Evidence) -> Measurement:
    problems: dict[str, tuple[str, dict[str, int]]] = {
        "Gaussian mixtures": ("gmm-moments", {"d": 30, "components": 12, "samples": 0}),
        "latent Dirichlet allocation": ("lda-moments", {"documents": 0}),
    }
    measured = []
    for model, (name, settings) in problems.items():
        residuals = [
            begin_trial("givens-tensor", instance(name, seed, **settings), seed)
            .converge()
            .metrics["residual"]
            for seed in evidence.seeds[: evidence.sized(20, 5)]
        ]
        measured.append(median_within(residuals, 0, 1e-8, f"relative residual, {model}"))
    return together(measured)
