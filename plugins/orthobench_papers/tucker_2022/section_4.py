"""Section 4: how data are drawn and what is measured."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import orthobench as ob
from orthobench.reproduce import (
    Claim,
    Evidence,
    Measurement,
    Verdict,
    always_within,
    median_within,
)
from orthobench_papers.runs import instance
from orthobench_papers.tucker_2022.section_2 import EXACT
from orthobench_papers.tucker_2022.section_3 import batches


def noise(evidence: Evidence) -> Measurement:
    """Estimate noise over signal from samples and the true basis: its complement holds noise."""
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
    """Check that a statistic of (X'QQ'X)^[d], over p², is F(Q)."""
    found = []
    for _, X, order, Q in batches(evidence):
        powers = (X.T @ Q @ Q.T @ X) ** order
        made = ob.symmetric_tucker(samples=X, order=order, rank=3)
        objective = made.measure(ob.Solution(Q))["objective"]
        found.append(statistic(powers) / X.shape[1] ** 2 / objective)
    return always_within(found, 1 - EXACT, 1 + EXACT, f"{name} / p² over F(Q)")


CLAIMS = (
    Claim(
        "noise-over-signal", "1/SNR = σ √n / |B| is the size of the noise over that of the signal.",
        "equation 16", noise,
        reason="Equation 16 prints norms of means, |E ε| / |E Bf|, which are both zero; root mean "
        "square norms are meant.",
    ),
    Claim(
        "objective-value", "F(Q) is the norm of (X'QQ'X)^[d] over p².",
        "section 4.4",
        partial(objective_is, statistic=np.linalg.norm, name="|(X'QQ'X)^[d]|"),
        known=Verdict.FAILS,
        reason="A misprint: the sum of the entries is meant, not the norm. Next claim.",
    ),
    Claim(
        "objective-value-corrected",
        "F(Q) is the sum of the entries of (X'QQ'X)^[d] over p² (corrected).",
        "section 4.4",
        partial(objective_is, statistic=np.sum, name="sum of the entries of (X'QQ'X)^[d]"),
    ),
)  # fmt: skip
