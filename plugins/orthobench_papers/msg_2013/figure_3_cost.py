"""Figure 3, lower row, and what else the paper says of costs: the estimated runtime sum k'²."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from orthobench.contract import Array
from orthobench.reproduce import (
    Check,
    Claim,
    Evidence,
    Measurement,
    Verdict,
    median_within,
    ratio_within,
)
from orthobench_papers.msg_2013.figure_3 import DATA, HIGHER, KS, SUITE, problem
from orthobench_papers.msg_2013.runs import for_each, runtime, samples, traced

PIXELS = 784
INCREMENTAL = "incremental-pca"

SLIGHTLY = 2.0
"""A runtime is slightly longer up to this factor, and significantly from there on."""

ALMOST = 2.5
"""One method is almost as fast as another up to this factor, where a third takes ten times."""


def _whole(evidence: Evidence, k: int, solver: str) -> Array:
    """Return the estimated runtime of the pass, seed by seed."""
    return runtime(evidence.records(SUITE, problem(k), solver), k)[:, -1]


def _costs(
    solvers: Sequence[str],
    other: str,
    low: float = 0.0,
    high: float = np.inf,
    ks: tuple[int, ...] = KS,
) -> Check:
    """Return a check of the estimated runtime of methods over that of another, for each k."""

    def check(evidence: Evidence) -> Measurement:
        rows = {}
        for solver in solvers:
            pairs = [(_whole(evidence, k, solver), _whole(evidence, k, other)) for k in ks]
            rows[solver] = [ratio_within(*pair, low, high) for pair in pairs]
        return for_each(f"runtime over that of {other}", ks, rows)

    return check


def low_rank(evidence: Evidence) -> Measurement:
    """Check that MSG's rank, averaged over the pass, is at most a tenth of the dimension."""
    found = []
    for k in KS:
        records = evidence.records(SUITE, problem(k), "msg")
        steps = np.diff(samples(records), prepend=0.0)
        means = traced(records, "rank") @ steps / steps.sum()
        found.append(median_within(means, 0.0, PIXELS / 10))
    return for_each(f"mean rank, of {PIXELS} dimensions,", KS, {"": found})


def as_much_as_erm(evidence: Evidence) -> Measurement:
    """Check that one iteration of W&K takes at least half the flops of PCA on the sample."""
    found = []
    for k in KS:
        flops, steps = (
            evidence.finals(SUITE, problem(k), "warmuth-kuzmin", count)
            for count in ("flops", "steps")
        )
        batch = evidence.finals(SUITE, problem(k), "batch-pca", "flops")
        found.append(ratio_within(flops / steps, batch, low=0.5))
    return for_each("flops of an iteration over those of batch PCA", KS, {"": found})


CLAIMS = (
    Claim(
        "warmuth-kuzmin-costs-as-much-as-erm",
        "The runtime of each iteration of Warmuth and Kuzmin's algorithm is essentially the same "
        "as that of PCA on the sample.",
        "Section 1",
        as_much_as_erm,
        known=Verdict.FAILS,
        reason=(
            "With N = -log(I - M) it is the same rank-one update as MSG's, and its rank stays as "
            "low (section 6 counts it so)."
        ),
        suites=(SUITE,),
        data=DATA,
    ),
    Claim(
        "msg-rank-is-low",
        "In practice the ranks of MSG's iterates are much lower than d.",
        "Section 4",
        low_rank,
        suites=(SUITE,),
        data=DATA,
    ),
    Claim(
        "incremental-is-the-fastest",
        "The incremental algorithm is also the fastest of MSG, capped MSG, Warmuth and Kuzmin's "
        "algorithm and itself, by estimated runtime.",
        "Figure 3",
        _costs(["msg", "capped-msg", "warmuth-kuzmin"], INCREMENTAL, 1.0),
        suites=(SUITE,),
        data=DATA,
    ),
    Claim(
        "msg-costs-more",
        "MSG's runtime is worse than the incremental algorithm's, since it keeps a larger "
        "representation.",
        "Figure 3",
        _costs(["msg"], INCREMENTAL, 1.0),
        suites=(SUITE,),
        data=DATA,
    ),
    Claim(
        "msg-costs-slightly-more",
        "MSG's runtime is only slightly worse than the incremental algorithm's.",
        "Figure 3",
        _costs(["msg"], INCREMENTAL, 1.0, SLIGHTLY),
        known=Verdict.FAILS,
        reason="Ten times longer and more: its rank is 10 to 28 where the other's is k.",
        suites=(SUITE,),
        data=DATA,
    ),
    Claim(
        "capped-msg-is-significantly-faster",
        "Capped MSG with K = k + 1 is significantly faster than MSG.",
        "Figure 3",
        _costs(["msg"], "capped-msg", SLIGHTLY),
        suites=(SUITE,),
        data=DATA,
    ),
    Claim(
        "capped-msg-is-almost-as-fast",
        "Capped MSG with K = k + 1 is almost as fast as the incremental algorithm.",
        "Figure 3",
        _costs(["capped-msg"], INCREMENTAL, 1.0, ALMOST),
        reason=(
            "One more direction makes ((k + 2) / (k + 1))² of the runtime, whatever the data: 2.25 "
            "for k = 1, where the check allows 2.5; MSG takes 10 to 35 times as long."
        ),
        suites=(SUITE,),
        data=DATA,
    ),
    Claim(
        "warmuth-kuzmin-has-a-larger-rank",
        "For k = 4 and 8 Warmuth and Kuzmin's algorithm tends to keep a larger rank than MSG, and "
        "therefore has a higher cost.",
        "Figure 3",
        _costs(["warmuth-kuzmin"], "msg", 1.0, ks=HIGHER),
        known=Verdict.FAILS,
        reason="Its rank is that of MSG, or slightly less.",
        suites=(SUITE,),
        data=DATA,
    ),
)
