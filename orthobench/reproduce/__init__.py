"""Papers reproduced: their suites run, their claims checked, their pages written.

The plugin of a paper imports this module: it returns a `Paper` with its `Claim`s, whose checks ask
the `Evidence` for runs and return a `Measurement`, mostly by one of the functions below that turn
one number for each seed into an estimate with an interval and a verdict.
"""

from orthobench.harness.cell import instance_of
from orthobench.harness.identity import Streams, canonical, describe
from orthobench.registry.claims import (
    Check,
    Claim,
    Evidence,
    Measurement,
    Paper,
    Picture,
    Verdict,
)
from orthobench.registry.plugins import catalogue
from orthobench.results.record import Record
from orthobench.results.tuning import average
from orthobench.stats.curves import curve
from orthobench.stats.estimates import (
    always_within,
    mean_within,
    median_within,
    ratio_within,
    share_within,
    together,
)
from orthobench.stats.seeds import spread, spread_name

__all__ = [
    "Check", "Claim", "Evidence", "Measurement", "Paper", "Picture", "Record", "Streams", "Verdict",
    "always_within", "average", "canonical", "catalogue", "curve", "describe", "instance_of",
    "mean_within", "median_within", "ratio_within", "share_within", "spread", "spread_name",
    "together",
]  # fmt: skip
