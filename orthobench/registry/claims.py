"""Claims: what a paper says, as something that can be checked.

A claim is a sentence with its source, and a check that runs the paper's experiment over several
seeds and returns what it measured, an interval, and a verdict. Plugins bring the claims of their
papers through the hook ``orthobench_claims``; ``orthobench reproduce PAPER`` checks them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol, TypeAlias

from orthobench.contract.exhibits import Exhibit
from orthobench.contract.panel import Plot
from orthobench.results.record import Record
from orthobench.tools.arrays import Array


class Verdict(Enum):
    """What became of a claim."""

    HOLDS = "holds"
    FAILS = "does not hold"
    UNDECIDED = "not decided"
    UNTESTABLE = "not testable here"

    def counted(self, count: int) -> str:
        """Return how many claims have this verdict, in words: ``14 do not hold``."""
        return f"{count} {_COUNTED[self.value][count > 1]}"


_COUNTED = {
    "holds": ("holds", "hold"),
    "does not hold": ("does not hold", "do not hold"),
    "not decided": ("is not decided", "are not decided"),
    "not testable here": ("is not testable here", "are not testable here"),
}


@dataclass(frozen=True)
class Measurement:
    """What a check found.

    Attributes
    ----------
    verdict : Verdict
    value : float
        What was measured; NaN where nothing was.
    interval : (float, float)
        Of the value, over the seeds; 95 % where `text` says nothing else.
    text : str
        What the value is, and what else was seen: ``"MSG / incremental, median of 5 splits"``.
    """

    verdict: Verdict
    value: float = math.nan
    interval: tuple[float, float] = (math.nan, math.nan)
    text: str = ""


class Evidence(Protocol):
    """What a check may look at: the runs of the paper's suites, made when they are asked for.

    Attributes
    ----------
    quick : bool
        Whether the small size is wanted, which takes minutes for all claims of a paper.
    seeds : sequence of int
        The seeds of checks that run no suite, in their order; take as many as you need.
    """

    @property
    def quick(self) -> bool:
        """Whether the small size is wanted."""

    @property
    def seeds(self) -> Sequence[int]:
        """The seeds of checks that run no suite."""

    def records(self, suite: str, problem: str, solver: str) -> Sequence[Record]:
        """Return the runs of one solver on one problem, by seed, as tuning chose them.

        Parameters
        ----------
        suite : str
            Its file's stem.
        problem, solver : str
            Their labels in the suite.

        Raises
        ------
        UsageError
            On an unknown name.
        ClaimError
            Where a run failed or is missing: nothing can be said then.
        """

    def finals(self, suite: str, problem: str, solver: str, value: str) -> Array:
        """Return the final values of a metric, or of a cost (seconds, flops, ...), seed by seed."""

    def exhibits(self, suite: str, problem: str, solver: str) -> Sequence[Mapping[str, Exhibit]]:
        """Return what the solutions look like, by the names the problem gives, seed by seed."""


Check: TypeAlias = Callable[[Evidence], Measurement]


@dataclass(frozen=True)
class Claim:
    """What a paper says.

    Attributes
    ----------
    name : str
        Short, lower case, with hyphens; unique in its paper: ``"msg-costs-more"``.
    sentence : str
        What the paper says, in plain words.
    source : str
        Where: ``"Figure 3"``, ``"section 5.2"``, ``"Table 2"``.
    check : callable, optional
        Measures it; without one the claim cannot be tested, and `reason` says why.
    printed : str
        The number that the paper prints, where it does: ``"about 15"``.
    known : Verdict
        The verdict that is published; another one is a regression, of a solver or of the check.
    reason : str
        Why a verdict is what it is where that is no plain ``holds``: the parameters tried, what is
        missing, what stands in.
    suites : tuple of str
        The suites that the check runs; the figures of these show it.
    data : tuple of str
        Names of files that must be in the data folder, in order to test it.
    """

    name: str
    sentence: str
    source: str
    check: Check | None = None
    printed: str = ""
    known: Verdict = Verdict.HOLDS
    reason: str = ""
    suites: tuple[str, ...] = ()
    data: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", self.name):
            raise ValueError(f"the name of a claim is words-with-hyphens, not {self.name!r}")
        if self.check is None and self.known is not Verdict.UNTESTABLE:
            raise ValueError(f"claim {self.name}: without a check its verdict is not testable here")
        if self.known is not Verdict.HOLDS and not self.reason:
            raise ValueError(f"claim {self.name}: say why it is {self.known.value}")


@dataclass(frozen=True)
class Picture:
    """A figure of the paper, drawn from what was measured here.

    Attributes
    ----------
    name : str
        Stem of its file: ``"figure-3"``.
    source : str
        ``"Figure 3"``.
    caption : str
        What it shows, and what to look at.
    plot : callable
        Returns what is drawn; runs suites where it needs them.
    data : tuple of str
        Names of files that must be in the data folder.
    """

    name: str
    source: str
    caption: str
    plot: Callable[[Evidence], Plot]
    data: tuple[str, ...] = ()


@dataclass(frozen=True)
class Paper:
    """A paper with its claims.

    Attributes
    ----------
    name : str
        Short: ``"givens-2014"``.
    reference : str
        Authors, title, venue, year.
    claims : tuple of Claim
        In the paper's order; every figure and table has at least one.
    suites : Path
        Folder with the suites of the paper's size, ``NAME.toml``, and in ``quick/`` the same at a
        small size.
    pictures : tuple of Picture
    notes : str
        What a reader must know of all of it: departures, corrected misprints. Markdown.
    """

    name: str
    reference: str
    claims: tuple[Claim, ...]
    suites: Path
    pictures: tuple[Picture, ...] = ()
    notes: str = ""

    def __post_init__(self) -> None:
        names = [claim.name for claim in self.claims]
        if twice := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"paper {self.name} has two claims called {', '.join(sorted(twice))}")
