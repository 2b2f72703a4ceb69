"""Arora, Cotter and Srebro 2013: Stochastic Optimization of PCA with Capped MSG."""

from __future__ import annotations

from pathlib import Path

from orthobench.claims import Paper

MSG_2013 = Paper(
    name="msg-2013",
    reference=(
        "Raman Arora, Andrew Cotter and Nathan Srebro: *Stochastic Optimization of PCA with "
        "Capped MSG*. Advances in Neural Information Processing Systems 26, 2013."
    ),
    claims=(),
    suites=Path(__file__).parent / "suites",
)
