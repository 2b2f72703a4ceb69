"""Section 4: data and metrics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import orthobench as ob
from orthobench_papers.reproduce import (
    Evidence,
    Measurement,
    always_within,
    median_within,
)
from orthobench_papers.runs import instance
from orthobench_papers.tucker_2022.section_2 import EXACT
from orthobench_papers.tucker_2022.section_3 import batches


def noise(evidence: Evidence) -> Measurement:
    found = []
    n, r, asked = 100, 5, 0.5
    for seed in evidence.seeds[:10]:
        made = instance("nig-factor", seed, n=n, samples=20_000, test=0)
        X, Q = made.oracle.X, made.measure.basis  # type: ignore[attr-defined]
        inside, total = np.sum((X @ Q) ** 2) / len(X), np.sum(X**2) / len(X)
        variance = (total - inside) / (n - r)
        found.append(np.sqrt(n * variance / (inside - r * variance)) / asked)
    text = "root mean square norm of the noise over that of the signal, over 1/SNR = 0.5"
    return median_within(found, 0.95, 1.05, text)


def objective_is(evidence: Evidence, statistic: Callable[..., Any], name: str) -> Measurement:
    found = []
    for _, X, order, Q in batches(evidence):
        powers = (X.T @ Q @ Q.T @ X) ** order
        made = ob.symmetric_tucker(X.T, order=order, rank=3)
        objective = made.measure(ob.Solution(Q))["objective"]
        found.append(statistic(powers) / X.shape[1] ** 2 / objective)
    return always_within(found, 1 - EXACT, 1 + EXACT, f"{name} / p² over F(Q)")
