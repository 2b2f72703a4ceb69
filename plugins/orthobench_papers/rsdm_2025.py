"""Han, Poirion and Takeda 2025: a randomized Riemannian submanifold method."""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array, orthonormalize, random_point
from orthobench_papers.public_pca import CONDITION, matrix, pca, until
from orthobench_papers.reproduce import (
    Evidence,
    Measurement,
    always_within,
    median_within,
)
from orthobench_papers.runs import begin_trial

STEPS = {"gradient descent": 0.1, "permutation": 1.5, "rotation": 1.5}
"""The steps of the authors' code for PCA."""

GAP, MOST = 1e-4, 3000
"""Relative gap for comparisons, and maximum number of steps."""


def skew(K: Array) -> Array:
    """Return (K - K')/2."""
    half: Array = (K - K.T) / 2
    return half


def submanifold_gradient(evidence: Evidence) -> Measurement:
    found = []
    for seed in evidence.seeds[:20]:
        rng = np.random.default_rng(seed)
        made, P = pca(12, 4, seed, printed=True), random_point(12, 5, rng).T
        X, K = random_point(12, 4, rng), skew(rng.standard_normal((5, 5)))
        gradient = skew(P @ made.oracle.gradient(X) @ (P @ X).T)
        ends = [
            made.oracle.value(X + P.T @ (orthonormalize(np.eye(5) + t * K) - np.eye(5)) @ P @ X)
            for t in (1e-5, -1e-5)
        ]
        found.append(abs((ends[0] - ends[1]) / 2e-5 / np.vdot(gradient, K) - 1))
    return always_within(found, high=1e-5, text="largest relative deviation of derivatives")


def whole_size(evidence: Evidence) -> Measurement:
    found = []
    for seed in evidence.seeds[:5]:
        made = pca(20, 8, seed, printed=True)
        for sampling in ("permutation", "rotation"):
            X = random_point(20, 8, np.random.default_rng(seed))
            run = begin_trial(
                "random-submanifold",
                made,
                seed,
                X,
                sampling=sampling,
                size=20,
                step=0.1,
                relative=False,
            )
            for _ in range(10):
                X = orthonormalize(np.eye(20) - 0.1 * skew(made.oracle.gradient(X) @ X.T)) @ X
            found.append(float(np.abs(run.advance(10).point - X).max()))
    return always_within(found, high=1e-11, text="largest deviation after 10 steps")


def conditions(evidence: Evidence, *, printed: bool) -> list[float]:
    """Return condition numbers of A, infinite if it has negative eigenvalues."""
    size = evidence.sized(200, 60)
    values = [
        np.linalg.eigvalsh(matrix(size, seed, printed=printed)) for seed in evidence.seeds[:10]
    ]
    return [float(v[-1] / v[0]) if v[0] > 0 else float(np.finfo(float).max) for v in values]


def condition_printed(evidence: Evidence) -> Measurement:
    return median_within(
        conditions(evidence, printed=True), 0.999 * CONDITION, 1.001 * CONDITION, "of QDQ'"
    )


def condition_public(evidence: Evidence) -> Measurement:
    infinite = [one > 1e300 for one in conditions(evidence, printed=False)]
    text = "share of matrices of the public code with negative eigenvalues, so without any"
    return always_within(np.array(infinite, dtype=float), high=0, text=text)


def costs(evidence: Evidence, *, printed: bool) -> dict[str, list[float]]:
    """Return the flops to the gap of each method, by seed."""
    n, p, r = evidence.sized((200, 150, 70), (60, 45, 21))
    spent: dict[str, list[float]] = {"bb": [], **{name: [] for name in STEPS}}
    for seed in evidence.seeds[: evidence.sized(5, 3)]:
        made = pca(n, p, seed, printed=printed)
        runs = {"bb": begin_trial("riemannian-gradient", made, seed, relative=False, step=1e-3)}
        for name, step in STEPS.items():
            runs[name] = (
                begin_trial(
                    "random-submanifold",
                    made,
                    seed,
                    sampling=name,
                    size=r,
                    step=step,
                    relative=False,
                )
                if name in ("permutation", "rotation")
                else begin_trial(
                    "riemannian-gradient", made, seed, steps="constant", step=step, relative=False
                )
            )
        for name, run in runs.items():
            spent[name].append(until(run, GAP, MOST))
    return spent


def faster_than_descent(evidence: Evidence) -> Measurement:
    spent = costs(evidence, printed=True)
    ratios = np.array(spent["permutation"]) / spent["gradient descent"]
    return median_within(ratios, high=1, text=f"flops to {GAP:g}, over those of RGD, QDQ'")


def faster_in_public(evidence: Evidence) -> Measurement:
    spent = costs(evidence, printed=False)
    ratios = np.array(spent["permutation"]) / spent["gradient descent"]
    return median_within(ratios, high=1, text=f"flops to {GAP:g}, over those of RGD, QDQ")


def faster_than_searched(evidence: Evidence) -> Measurement:
    spent = costs(evidence, printed=True)
    best = np.minimum(spent["permutation"], spent["rotation"])
    text = f"flops to {GAP:g} of the better sampling, over those with Barzilai-Borwein steps"
    return median_within(best / np.array(spent["bb"]), high=1, text=text)


def drift(evidence: Evidence) -> Measurement:
    found = []
    for seed in evidence.seeds[:3]:
        run = begin_trial(
            "random-submanifold", pca(40, 30, seed, printed=True), seed, step=1.5, relative=False
        )
        found.append(run.advance(MOST).metrics["orthogonality_defect"])
    return always_within(found, high=1e-12, text="largest defect after 3,000 steps")
