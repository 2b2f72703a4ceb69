"""Section 4: data and metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import orthobench as ob
from orthobench_papers.reproduce import Evidence
from orthobench_papers.runs import instance
from orthobench_papers.tucker_2022.section_3 import batches


def noise(evidence: Evidence) -> Iterator[float]:
    n, r, asked = 100, 5, 0.5
    for seed in evidence.seeds[:10]:
        made = instance("nig-factor", seed, n=n, samples=20_000, test=0)
        X, Q = made.oracle.X, made.measure.basis  # type: ignore[attr-defined]
        inside, total = np.sum((X @ Q) ** 2) / len(X), np.sum(X**2) / len(X)
        variance = (total - inside) / (n - r)
        yield np.sqrt(n * variance / (inside - r * variance)) / asked


def over_objective(evidence: Evidence, statistic: Callable[..., Any]) -> Iterator[float]:
    for _, X, order, Q in batches(evidence):
        powers = (X.T @ Q @ Q.T @ X) ** order
        made = ob.symmetric_tucker(X.T, order=order, rank=3)
        objective = made.measure(ob.Solution(Q))["objective"]
        yield statistic(powers) / X.shape[1] ** 2 / objective
