"""Figure 3, upper row: how far the methods get in one pass over MNIST."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from orthobench.reproduce import Claim, Evidence, Measurement, Verdict, median_within
from orthobench_papers.runs import final_ratios, for_each_k

SUITE, PER_FEATURE = "mnist", "mnist-per-feature"
DATA = ("t10k-images-idx3-ubyte.gz",)
KS, HIGHER = (1, 4, 8), (4, 8)

COMPARABLE = 1.5
"""A method is comparable to another if it misses at most so many times as much."""

CLEARLY = 1.3
"""A method is clearly behind another if it misses at least so many times as much."""


def problem(k: int) -> str:
    """Return the problem of the suites."""
    return f"mnist k={k}"


def ends_at(
    evidence: Evidence,
    solvers: tuple[str, ...],
    other: str,
    low: float = 0.0,
    high: float = np.inf,
    ks: tuple[int, ...] = KS,
    suite: str = SUITE,
) -> Measurement:
    """Check the final suboptimality of methods over that of another, for each k."""

    def end(solver: str, k: int) -> Measurement:
        pair = (solver, other)
        found = final_ratios(evidence, suite, problem(k), pair, "suboptimality")
        return median_within(found, low, high)

    rows = {solver: [end(solver, k) for k in ks] for solver in solvers}
    return for_each_k(f"final suboptimality over that of {other}", ks, rows)


OTHERS = ("msg", "capped-msg", "warmuth-kuzmin", "grassmannian-sgd")


def _claim(
    name: str,
    sentence: str,
    solvers: tuple[str, ...],
    other: str,
    suite: str = SUITE,
    fails: str = "",
    reason: str = "",
    **bounds: Any,
) -> Claim:
    check = partial(ends_at, solvers=solvers, other=other, suite=suite, **bounds)
    known = Verdict.FAILS if fails else Verdict.HOLDS
    return Claim(name, sentence, "Figure 3", check, "", known, fails or reason, (suite,), DATA)


CLAIMS = (
    _claim(
        "incremental-makes-the-most-progress",
        "The incremental algorithm makes the most progress per iteration.",
        OTHERS,
        "incremental-pca",
        low=1.0,
        fails=(
            "MSG and Warmuth and Kuzmin's algorithm, with tuned steps, end below it for every k. "
            "For k = 8 it is ahead for the first few hundred samples."
        ),
    ),
    _claim(
        "msg-is-comparable-to-incremental",
        "MSG is comparable to the incremental algorithm in terms of the progress made per "
        "iteration.",
        ("msg",),
        "incremental-pca",
        high=COMPARABLE,
        reason="Read as: it misses at most 1.5 times as much. Here it is ahead.",
    ),
    _claim(
        "capped-msg-is-comparable-to-incremental",
        "Capped MSG with K = k + 1 is comparable to the incremental algorithm per iteration.",
        ("capped-msg",),
        "incremental-pca",
        high=COMPARABLE,
    ),
    _claim(
        "warmuth-kuzmin-fares-well-for-k-1",
        "Warmuth and Kuzmin's algorithm fares well with k = 1.",
        ("warmuth-kuzmin",),
        "msg",
        high=COMPARABLE,
        ks=(1,),
    ),
    _claim(
        "warmuth-kuzmin-drops",
        "Warmuth and Kuzmin's algorithm drops in performance for higher k.",
        ("warmuth-kuzmin",),
        "msg",
        low=COMPARABLE,
        ks=HIGHER,
        fails=(
            "It matches MSG for every k. Steps c/sqrt(t) with c from 1/4 to 32, tuned as the paper "
            "tunes; from M = 0; one common factor for all features. The next claim has the other "
            "reading of the normalization."
        ),
    ),
    _claim(
        "warmuth-kuzmin-drops-per-feature",
        "For higher k Warmuth and Kuzmin's algorithm drops, each feature scaled by its deviation.",
        ("warmuth-kuzmin",),
        "msg",
        low=COMPARABLE,
        ks=HIGHER,
        suite=PER_FEATURE,
        fails=(
            "Not for k = 8, where both end alike; for k = 4 it ends behind on many splits, which "
            "differ too much to tell. Both choose the least steps of the grid, c = 1/4 or 1/2, and "
            "keep ranks of 40 to 90; smaller ones were not tried."
        ),
    ),
    _claim(
        "grassmannian-beats-warmuth-kuzmin",
        "Grassmannian SGD performs better than Warmuth and Kuzmin's algorithm.",
        ("grassmannian-sgd",),
        "warmuth-kuzmin",
        high=1.0,
        ks=HIGHER,
        fails="Warmuth and Kuzmin's algorithm does not drop here, and stays ahead.",
    ),
    _claim(
        "grassmannian-is-behind",
        "Grassmannian SGD performs much worse than MSG and capped MSG.",
        ("msg", "capped-msg"),
        "grassmannian-sgd",
        high=1 / CLEARLY,
        reason="It is clearly behind if they miss at most 1 / 1.3 of what it misses.",
    ),
    _claim(
        "grassmannian-is-behind-per-feature",
        "Grassmannian SGD is much worse than capped MSG, each feature scaled by its deviation.",
        ("capped-msg",),
        "grassmannian-sgd",
        high=1 / CLEARLY,
        suite=PER_FEATURE,
        fails="There it is the other way round.",
    ),
    _claim(
        "per-feature-normalization",
        "Each feature is scaled by its standard deviation; then, too, the incremental algorithm "
        "makes the most progress.",
        OTHERS,
        "incremental-pca",
        low=1.0,
        suite=PER_FEATURE,
        fails=(
            "In this reading of section 6 features that hardly ever vary weigh as much as all "
            "others, the data are heavy-tailed (E|x|^4 = 3.9, where the analysis asks for 1), and "
            "the order of the methods is another. One common factor, which gives zero mean and "
            "unit norm in expectation too, is what the other claims use."
        ),
    ),
)
