"""Shalit and Chechik 2014: Efficient coordinate-descent through Givens rotations."""

from __future__ import annotations

from pathlib import Path

from orthobench.claims import Paper
from orthobench_papers.givens_2014 import section_2, section_3

GIVENS_2014 = Paper(
    name="givens-2014",
    reference=(
        "Uri Shalit and Gal Chechik: *Efficient coordinate-descent for orthogonal matrices "
        "through Givens rotations*. International Conference on Machine Learning, 2014."
    ),
    claims=section_2.CLAIMS + section_3.CLAIMS,
    suites=Path(__file__).parent / "suites",
)
