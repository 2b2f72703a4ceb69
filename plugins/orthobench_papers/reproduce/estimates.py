"""Estimates that decide claims: a value, its interval, and whether it lies between two bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from orthobench.stats.bootstrap import interval, quantiles, student_quantile
from orthobench_papers.reproduce.claims import Measurement, Verdict

if TYPE_CHECKING:
    from orthobench_papers.reproduce.runs import Evidence


def decided(ends: tuple[float, float], low: float, high: float) -> Verdict:
    """Return whether an interval lies between two bounds, outside of them, or across one."""
    if low <= ends[0] and ends[1] <= high:
        return Verdict.HOLDS
    if ends[1] < low or ends[0] > high:
        return Verdict.FAILS
    return Verdict.UNDECIDED


def median_within(
    values: ArrayLike, low: float = -math.inf, high: float = math.inf, text: str = ""
) -> Measurement:
    """Check that the median over the seeds lies between two bounds.

    Parameters
    ----------
    values : array_like, shape (n,)
        One for each seed.
    low, high : float
    text : str
        A description of the values, also below.
    """
    median, ends = float(quantiles(values, 0.5)), interval(values)
    return Measurement(decided(ends, low, high), median, ends, text, (low, high))


def mean_within(
    values: ArrayLike, low: float = -math.inf, high: float = math.inf, text: str = ""
) -> Measurement:
    """Check that an expectation, estimated by the mean over the seeds, lies between two bounds.

    There are two seeds at least. The interval is Student's, 95 %.
    """
    array = np.asarray(values, dtype=np.float64)
    error = float(array.std(ddof=1)) / math.sqrt(len(array))
    mean, half = float(array.mean()), student_quantile(0.975, len(array) - 1) * error
    ends = (mean - half, mean + half)
    return Measurement(decided(ends, low, high), mean, ends, text, (low, high))


def share_within(
    hits: Sequence[bool], low: float = 0.0, high: float = 1.0, text: str = ""
) -> Measurement:
    """Check that the probability of a hit lies between two bounds, by Wilson's 95 % interval."""
    from scipy.stats import binomtest

    found = binomtest(int(np.sum(hits)), len(hits))
    ends = found.proportion_ci(0.95, method="wilson")
    share, bounds = float(found.statistic), (float(ends.low), float(ends.high))
    return Measurement(decided(bounds, low, high), share, bounds, text, (low, high))


def always_within(
    values: ArrayLike, low: float = -math.inf, high: float = math.inf, text: str = ""
) -> Measurement:
    """Check that every value lies between two bounds.

    A value that is not finite lies outside. The measured value is the farthest one, with the range
    of all as its interval.
    """
    found = np.asarray(values, dtype=np.float64)
    found = np.where(np.isfinite(found), found, math.inf)
    ends = float(found.min()), float(found.max())
    finite = math.isfinite(ends[1])
    inside = finite and low <= ends[0] and ends[1] <= high
    above = not finite or math.isinf(low) or ends[1] - high > low - ends[0]
    value = ends[1] if above else ends[0]
    verdict = Verdict.HOLDS if inside else Verdict.FAILS
    return Measurement(verdict, value, ends, text, (low, high))


def together(measurements: Sequence[Measurement], text: str = "") -> Measurement:
    """Join the measurements of a claim; the first part with the worst verdict counts."""
    order = (Verdict.FAILS, Verdict.UNDECIDED, Verdict.UNTESTABLE, Verdict.HOLDS)
    worst = min(measurements, key=lambda m: order.index(m.verdict))
    each = "; ".join(f"{m.text}: {m.value:.3g}" for m in measurements)
    return replace(worst, text=text or each)


def in_each(rows: Mapping[str, Measurement], text: str) -> Measurement:
    """Join measurements of several settings; the text has the value of each."""
    told = "; ".join(
        f"{name}: {row.value:.3g}{'' if row.verdict is Verdict.HOLDS else ' ✗'}"
        for name, row in rows.items()
    )
    return together(list(rows.values()), f"{text}: {told}")


ESTIMATES: Mapping[str, Callable[..., Measurement]] = {
    "always": always_within, "mean": mean_within, "median": median_within, "share": share_within,
}  # fmt: skip
"""The estimates by their names in a paper's file."""

Rows: TypeAlias = Mapping[str, ArrayLike]
"""Values by the name of a setting, one for each seed."""


@dataclass(frozen=True)
class Estimate:
    """A check that estimates one number from values, one for each seed.

    Attributes
    ----------
    values : callable
        ``values(evidence)`` returns them, or a mapping of them by setting, each of which counts;
        also a tuple of them and of more words for the text. With `trials`, ``values(seed)`` is one
        of them.
    within : callable
        One of `ESTIMATES`.
    text : str
        A description of the number, with names of words in braces.
    bounds : mapping
        `low` and `high`.
    words : mapping
        Words by their names.
    trials : int
        Number of seeds, or 0.
    """

    values: Callable[..., Any]
    within: Callable[..., Measurement]
    text: str
    bounds: Mapping[str, float] = field(default_factory=dict)
    words: Mapping[str, Any] = field(default_factory=dict)
    trials: int = 0

    def __call__(self, evidence: Evidence) -> Measurement:
        """Return the measurement."""
        if self.trials:
            found: Any = [self.values(seed) for seed in evidence.seeds[: self.trials]]
        else:
            found = self.values(evidence)
        more: Mapping[str, Any] = {}
        if isinstance(found, tuple) and isinstance(found[-1], Mapping):
            found, more = found
        text = self.text.format(**self.words, **more)
        if isinstance(found, Mapping):
            rows = {name: self.within([*row], **self.bounds) for name, row in found.items()}
            return in_each(rows, text)
        return self.within([*found], **self.bounds, text=text)
