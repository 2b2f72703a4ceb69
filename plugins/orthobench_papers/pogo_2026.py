"""Javaloy and Vergari 2026: POGO, a gradient step and a step back to the manifold."""

from __future__ import annotations

import numpy as np
from orthobench_stiefel import stiefel

from orthobench.contract import AnyInstance, Array, flops, random_point
from orthobench_papers.public_pca import pca, until
from orthobench_papers.reproduce import (
    Evidence,
    Measurement,
    always_within,
    median_within,
)
from orthobench_papers.runs import begin_trial

N, P = 60, 20
"""The size of points on which single steps are measured."""

GAP, MOST = 1e-5, 3000
"""Relative gap for comparisons, and maximum number of steps."""


def linear(G: Array) -> AnyInstance:
    """Return the instance of tr(G'X), whose gradient is G everywhere."""
    return stiefel(lambda X: float(np.vdot(G, X)), lambda _: G, n=G.shape[0], p=G.shape[1])


def unit_gradient(seed: int) -> Array:
    """Return a random G with |G| = sqrt(P)."""
    G = np.random.default_rng(seed).standard_normal((N, P))
    return np.asarray(G * np.sqrt(P) / np.linalg.norm(G))


def defect(seed: int, step: float, steps: int = 1) -> float:
    """Return the defect after steps with a gradient of size sqrt(P)."""
    run = begin_trial("pogo", linear(unit_gradient(seed)), seed, step=step, relative=False)
    return run.advance(steps).metrics["orthogonality_defect"]


def at_all_times(evidence: Evidence) -> Measurement:
    found = [defect(seed, 0.01) for seed in evidence.seeds[:20]]
    return always_within(found, high=1e-6, text="largest defect after a step of 0.01, |G| = √20")


def at_long_steps(evidence: Evidence) -> Measurement:
    found = [defect(seed, 1.0) for seed in evidence.seeds[:20]]
    return always_within(found, high=1e-6, text="largest defect after a step of 1, |G| = √20")


def fourth_order(evidence: Evidence) -> Measurement:
    found = [defect(seed, 0.1) / defect(seed, 0.05) for seed in evidence.seeds[:20]]
    return always_within(found, 14.5, 17.5, "defect at a step of 0.1 over that at 0.05; 16 = 2⁴")


def heals(evidence: Evidence) -> Measurement:
    found = []
    for seed in evidence.seeds[:20]:
        start = random_point(N, P, np.random.default_rng(seed)) * (1 + 0.3 / np.sqrt(8 * P))
        run = begin_trial(
            "pogo",
            linear(1e-30 * unit_gradient(seed)),
            seed,
            start,
            tolerance=0.0,
            step=0.01,
            relative=False,
        )
        found.append(run.advance(6).metrics["orthogonality_defect"])
    return always_within(found, high=1e-12, text="largest defect 6 steps after one of 0.15")


def products(evidence: Evidence) -> Measurement:
    run = begin_trial(
        "pogo", linear(unit_gradient(0)), evidence.seeds[0], step=0.01, relative=False
    )
    before = run.advance(1).state.work.flops
    step = run.advance(1).state.work.flops - before
    value = round(step / flops.gemm(N, P, P))
    return always_within([value], high=5, text="products in a step")


def quartic(seed: int, step: float) -> Array:
    """Return the coefficients of |Y'Y - I|² in l, Y = M + l(M - MM'M), highest first."""
    G = unit_gradient(seed)
    X = random_point(N, P, np.random.default_rng([seed, 1]))
    M = X - step * (G - X @ (G.T @ X)) / 2
    S = M.T @ M
    D = np.eye(P) - S
    E, F = 2 * S @ D, S @ D @ D
    coefficients = np.polyadd(
        np.polymul([np.vdot(F, F), np.vdot(F, E), -np.vdot(F, D)], [1, 0, 0]),
        np.polyadd(
            np.polymul([np.vdot(E, F), np.vdot(E, E), -np.vdot(E, D)], [1, 0]),
            [-np.vdot(D, F), -np.vdot(D, E), np.vdot(D, D)],
        ),
    )
    return np.asarray(coefficients, dtype=np.float64)


def real_root(evidence: Evidence) -> Measurement:
    found = []
    for seed in evidence.seeds[:20]:
        roots = np.roots(quartic(seed, 0.3))
        found.append(float((np.abs(roots.imag) < 1e-9 * np.abs(roots)).any()))
    return always_within(found, low=1, text="whether |Y'Y - I|² has a real root; largest and least")


def half_is_best(evidence: Evidence) -> Measurement:
    found = []
    for seed in evidence.seeds[:20]:
        roots = np.roots(np.polyder(quartic(seed, 0.01))).real
        found.append(roots[np.argmin(np.polyval(quartic(seed, 0.01), roots))])
    return always_within(found, 0.49, 0.51, "the best weight at a step of 0.01")


def steps_against(evidence: Evidence, rival: dict[str, object]) -> list[float]:
    """Return the steps to the gap over those of Riemannian descent."""
    n, p = evidence.sized((200, 150), (60, 45))
    ratios = []
    for seed in evidence.seeds[: evidence.sized(5, 3)]:
        made = pca(n, p, seed, printed=False)
        runs = [
            begin_trial("pogo", made, seed, step=0.25, relative=False),
            begin_trial("riemannian-gradient", made, seed, relative=False, **rival),
        ]
        for run in runs:
            until(run, GAP, MOST)
        ratios.append(runs[0].state.work.steps / runs[1].state.work.steps)
    return ratios


def fewer_than_constant(evidence: Evidence) -> Measurement:
    ratios = steps_against(evidence, {"steps": "constant", "step": 0.1})
    return median_within(ratios, high=1, text=f"steps to {GAP:g}, over those of RGD with 0.1")


def fewer_than_searched(evidence: Evidence) -> Measurement:
    ratios = steps_against(evidence, {"step": 1e-3})
    return median_within(ratios, high=1, text=f"steps to {GAP:g}, over those of RGD with BB")
