"""Reproduction of papers: their suites are run, their claims checked, their pages written.

The plugin of a paper imports this module, and returns a `Paper` with its `Claim`s. The check of a
claim asks the `Evidence` for runs and returns a `Measurement`, mostly by a function ``*_within``
that makes an estimate, an interval and a verdict of one number for each seed.
"""

from orthobench.harness.cell import instance_of
from orthobench.harness.identity import Streams, canonical, describe
from orthobench.results.runs import Run
from orthobench.results.tuning import average
from orthobench.stats.bootstrap import spread, spread_name
from orthobench.stats.curves import curve
from orthobench_papers.reproduce.claims import Check, Claim, Measurement, Paper, Picture, Verdict
from orthobench_papers.reproduce.described import papers_of
from orthobench_papers.reproduce.estimates import (
    Rows,
    always_within,
    mean_within,
    median_within,
    share_within,
    together,
)
from orthobench_papers.reproduce.installed import catalogue
from orthobench_papers.reproduce.runs import Evidence

__all__ = [
    "Check", "Claim", "Evidence", "Measurement", "Paper", "Picture", "Rows", "Run", "Streams",
    "Verdict", "always_within", "average", "canonical", "catalogue", "curve", "describe",
    "instance_of", "mean_within", "median_within", "papers_of", "share_within", "spread",
    "spread_name", "together",
]  # fmt: skip
