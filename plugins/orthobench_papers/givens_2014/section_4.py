"""Section 4 without its figures."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from orthobench.contract import AnyInstance, Array, random_point
from orthobench_papers.reproduce import Evidence
from orthobench_papers.runs import DrivenRun, begin_trial, instance


def ordered_alike(seed: int, m: int) -> bool:
    """Return whether equations 5 and 6 order two random U alike."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((30, 8)) * rng.uniform(0.3, 1, 30)[:, None]
    gamma = 0.25 * float(np.linalg.norm(A, axis=1).max())
    first, second = (A @ random_point(8, m, rng) for _ in range(2))
    by_5 = _equation_5(first, gamma) - _equation_5(second, gamma)
    by_6 = _equation_6(first, gamma) - _equation_6(second, gamma)
    return by_5 * by_6 > 0


def _equation_5(AU: Array, gamma: float) -> float:
    """Return equation 5 at its best Z: the soft-thresholded columns of AU at unit length."""
    Z = np.sign(AU) * np.maximum(np.abs(AU) - gamma, 0.0)
    norms = np.linalg.norm(Z, axis=0)
    Z /= np.where(norms > 0, norms, 1.0)
    return float(np.vdot(Z, AU) - gamma * np.abs(Z).sum())


def _equation_6(AU: Array, gamma: float) -> float:
    return float(np.sum(np.maximum(np.abs(AU) - gamma, 0.0) ** 2))


def evaluations_of_an_angle(evidence: Evidence) -> Iterator[float]:
    """Yield how often a rotation evaluates equation 6 on the prostate data."""
    for seed in evidence.seeds[: evidence.sized(10, 2)]:
        run = _as_in_figure_1(instance("prostate", seed, m=102), seed)
        tally = run.converge().state.columns.tally
        yield (tally.values + tally.slopes) / tally.planes


def _as_in_figure_1(made: AnyInstance, seed: int) -> DrivenRun:
    return begin_trial("givens-sparse-pca", made, seed, gamma=0.25, tolerance=1e-4)


def cost_in_genes(evidence: Evidence) -> Iterator[float]:
    for seed in evidence.seeds[:10]:
        few, many = (_flops_a_step(d, seed) for d in (500, 8000))
        yield math.log(many / few) / math.log(8000 / 500)


def _flops_a_step(d: int, seed: int) -> float:
    made = instance("planted-sparse", seed, d=d, m=16, samples=16, test=1)
    *_, state = _as_in_figure_1(made, seed).states(120)
    return float(state.work.flops / state.work.steps)
