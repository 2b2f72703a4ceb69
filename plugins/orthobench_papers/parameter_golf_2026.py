"""Polar Express or Newton-Schulz in Muon, 2026: a difference that was read off one seed."""

from __future__ import annotations

from functools import cache

import numpy as np

import orthobench as ob
from orthobench.contract import Array
from orthobench_papers.reproduce import Evidence

PROBLEM, STEP = "train-text", 0.03
"""The character model, and the step that tuning chooses for Muon there."""

PRINTED = 1.08049 / 1.08006 - 1
"""The relative difference that the pull request prints."""


@cache
def loss(coefficients: str, seed: int, samples: int) -> float:
    """Return the test loss that Muon ends at."""
    outcome = ob.solve(
        "train-muon", PROBLEM, seed=seed, step=STEP, coefficients=coefficients,
        budget=ob.Budget(samples=samples),
    )  # fmt: skip
    return float(outcome.trace[-1].metrics["test_loss"])


def differences(evidence: Evidence) -> Array:
    """Return Polar Express's loss over Newton-Schulz's less one, by seed, on the same batches."""
    samples = evidence.sized(100_000, 20_000, 1_000)
    seeds = evidence.seeds[: evidence.sized(10, 4)]
    pairs = [[loss(c, seed, samples) for c in ("polar-express", "jordan")] for seed in seeds]
    return np.array([express / newton - 1 for express, newton in pairs])


def one_seed(evidence: Evidence) -> list[float]:
    """Return the scatter of one seed's difference, in units of the printed one."""
    return [differences(evidence).std(ddof=1) / PRINTED]
