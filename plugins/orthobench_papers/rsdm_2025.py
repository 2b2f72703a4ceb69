"""Han, Poirion and Takeda 2025: a randomized Riemannian submanifold method."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from orthobench.contract import Array, orthonormalize, random_point
from orthobench_papers.public_pca import matrix, pca, until
from orthobench_papers.reproduce import Evidence
from orthobench_papers.runs import begin_trial

RIVALS: dict[str, tuple[str, dict[str, Any]]] = {
    "bb": ("riemannian-gradient", {"step": 1e-3}),
    "descent": ("riemannian-gradient", {"steps": "constant", "step": 0.1}),
    **{name: ("random-submanifold", {"sampling": name, "step": 1.5})
       for name in ("permutation", "rotation")},
}  # fmt: skip
"""The solvers, with the steps of the authors' code for PCA."""

GAP, MOST = 1e-4, 3000
"""Relative gap for comparisons, and maximum number of steps."""


def skew(K: Array) -> Array:
    """Return (K - K')/2."""
    half: Array = (K - K.T) / 2
    return half


def submanifold_gradient(evidence: Evidence) -> Iterator[float]:
    for seed in evidence.seeds[:20]:
        rng = np.random.default_rng(seed)
        made, P = pca(12, 4, seed, printed=True), random_point(12, 5, rng).T
        X, K = random_point(12, 4, rng), skew(rng.standard_normal((5, 5)))
        gradient = skew(P @ made.oracle.gradient(X) @ (P @ X).T)
        ends = [
            made.oracle.value(X + P.T @ (orthonormalize(np.eye(5) + t * K) - np.eye(5)) @ P @ X)
            for t in (1e-5, -1e-5)
        ]
        yield abs((ends[0] - ends[1]) / 2e-5 / np.vdot(gradient, K) - 1)


def whole_size(evidence: Evidence) -> Iterator[float]:
    for seed in evidence.seeds[:5]:
        made = pca(20, 8, seed, printed=True)
        for sampling in ("permutation", "rotation"):
            X = random_point(20, 8, np.random.default_rng(seed))
            options = {"sampling": sampling, "size": 20, "step": 0.1, "relative": False}
            run = begin_trial("random-submanifold", made, seed, X, **options)
            for _ in range(10):
                X = orthonormalize(np.eye(20) - 0.1 * skew(made.oracle.gradient(X) @ X.T)) @ X
            yield float(np.abs(run.advance(10).point - X).max())


def conditions(evidence: Evidence, printed: bool) -> Iterator[float]:
    """Yield condition numbers of A, infinite if it has negative eigenvalues."""
    for seed in evidence.seeds[:10]:
        values = np.linalg.eigvalsh(matrix(evidence.sized(200, 60), seed, printed=printed))
        yield float(values[-1] / values[0]) if values[0] > 0 else np.inf


def without_any(evidence: Evidence) -> list[float]:
    return [float(np.isinf(each)) for each in conditions(evidence, printed=False)]


def ratios(
    evidence: Evidence, methods: tuple[str, ...], rival: str, printed: bool = True
) -> Iterator[float]:
    """Yield the flops to the gap, the minimum of some methods, over those of another one."""
    n, p, size = evidence.sized((200, 150, 70), (60, 45, 21))
    for seed in evidence.seeds[: evidence.sized(5, 3)]:
        made, spent = pca(n, p, seed, printed=printed), {}
        for name in (*methods, rival):
            solver, options = RIVALS[name]
            more = {"size": size} if solver == "random-submanifold" else {}
            run = begin_trial(solver, made, seed, relative=False, **options, **more)
            spent[name] = until(run, GAP, MOST)
        yield min(spent[name] for name in methods) / spent[rival]


def drift(evidence: Evidence) -> Iterator[float]:
    for seed in evidence.seeds[:3]:
        made = pca(40, 30, seed, printed=True)
        run = begin_trial("random-submanifold", made, seed, step=1.5, relative=False)
        yield run.advance(MOST).metrics["orthogonality_defect"]
