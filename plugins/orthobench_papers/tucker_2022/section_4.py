"""Section 4: how data are drawn, and what is measured."""

from __future__ import annotations

import numpy as np

import orthobench as ob
from orthobench.reproduce import (
    Claim,
    Evidence,
    Measurement,
    Verdict,
    always_within,
    catalogue,
    instance_of,
    median_within,
)
from orthobench_papers.tucker_2022.section_2 import EXACT
from orthobench_papers.tucker_2022.section_3 import batches


def noise(evidence: Evidence) -> Measurement:
    """Estimate noise over signal from samples and the true basis, whose complement is noise."""
    found = []
    n, r, asked = 100, 5, 0.5
    for seed in evidence.seeds[:10]:
        problem = catalogue().problem("nig-factor", {"n": n, "samples": 20_000, "test": 0})
        instance = instance_of(problem, seed)
        X, Q = instance.oracle.X, instance.measure.basis  # type: ignore[attr-defined]
        inside, total = np.sum((X @ Q) ** 2) / len(X), np.sum(X**2) / len(X)
        variance = (total - inside) / (n - r)
        found.append(np.sqrt(n * variance / (inside - r * variance)) / asked)
    text = "root mean square norm of the noise over that of the signal, over 1/SNR = 0.5"
    return median_within(found, 0.95, 1.05, text)


def printed_norm(evidence: Evidence) -> Measurement:
    """Divide the norm of (X'QQ'X)^[d] by p² F(Q)."""
    found = []
    for _, X, order, Q in batches(evidence):
        p = X.shape[1]
        powers = (X.T @ Q @ Q.T @ X) ** order
        instance = ob.symmetric_tucker(samples=X, order=order, rank=3)
        found.append(np.linalg.norm(powers) / p**2 / instance.measure(ob.Solution(Q))["objective"])
    return always_within(found, 1 - EXACT, 1 + EXACT, "|(X'QQ'X)^[d]| / p² over F(Q)")


def sum_of_entries(evidence: Evidence) -> Measurement:
    """Divide the sum of the entries of (X'QQ'X)^[d] by p² F(Q)."""
    found = []
    for _, X, order, Q in batches(evidence):
        p = X.shape[1]
        total = np.sum((X.T @ Q @ Q.T @ X) ** order)
        instance = ob.symmetric_tucker(samples=X, order=order, rank=3)
        found.append(total / p**2 / instance.measure(ob.Solution(Q))["objective"])
    text = "sum of the entries of (X'QQ'X)^[d] / p² over F(Q)"
    return always_within(found, 1 - EXACT, 1 + EXACT, text)


CLAIMS = (
    Claim(
        "noise-over-signal", "1/SNR = σ √n / |B| is the size of the noise over that of the signal.",
        "equation 16", noise,
        reason="Equation 16 prints norms of means, |E ε| / |E Bf|, which are both zero; root mean "
        "square norms are meant.",
    ),
    Claim(
        "objective-value", "F(Q) is the norm of (X'QQ'X)^[d] over p².",
        "section 4.4", printed_norm, known=Verdict.FAILS,
        reason="A misprint: the sum of the entries is meant, not the norm. Next claim.",
    ),
    Claim(
        "objective-value-corrected",
        "F(Q) is the sum of the entries of (X'QQ'X)^[d] over p² (corrected).",
        "section 4.4", sum_of_entries,
    ),
)  # fmt: skip
