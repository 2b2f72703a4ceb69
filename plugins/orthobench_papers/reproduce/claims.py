"""Claims of papers: sentences with a source, and a check that measures a value and its interval.

Plugins return a `Paper` with its claims from the hook ``orthobench_claims``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from orthobench.contract.panel import Panel

if TYPE_CHECKING:
    from orthobench_papers.reproduce.runs import Evidence


class Verdict(Enum):
    """Whether a claim holds."""

    HOLDS = "holds"
    FAILS = "does not hold"
    UNDECIDED = "not decided"
    UNTESTABLE = "not testable here"

    def counted(self, count: int) -> str:
        """Return a number of claims with this verdict, in words: ``14 do not hold``."""
        return f"{count} {_COUNTED[self.value][count > 1]}"


_COUNTED = {
    "holds": ("holds", "hold"),
    "does not hold": ("does not hold", "do not hold"),
    "not decided": ("is not decided", "are not decided"),
    "not testable here": ("is not testable here", "are not testable here"),
}


@dataclass(frozen=True)
class Measurement:
    """The measurement of a check: a value, NaN if there is none, and its interval over seeds.

    The interval has 95 % unless `text`, the meaning of the value, says otherwise. The claim holds
    if the value is within `bounds`.
    """

    verdict: Verdict
    value: float = math.nan
    interval: tuple[float, float] = (math.nan, math.nan)
    text: str = ""
    bounds: tuple[float, float] = (-math.inf, math.inf)


Check: TypeAlias = "Callable[[Evidence], Measurement]"


@dataclass(frozen=True)
class Claim:
    """A claim of a paper.

    Attributes
    ----------
    name : str
        Lower case with hyphens, unique in its paper: ``"msg-costs-more"``.
    sentence, source : str
        The claim, and its place in the paper: ``"Figure 3"``, ``"section 5.2"``.
    check : callable, optional
        ``check(evidence)`` returns a `Measurement`; without one, the claim cannot be tested.
    printed : str
        The number that the paper prints, if any: ``"about 15"``.
    known : Verdict
        The published verdict; any other is a regression.
    reason : str
        The reason for any verdict but ``HOLDS``.
    suites, data : tuple of str
        The suites and files of the check.
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
    """A figure of a paper: ``plot(evidence)`` draws its panels from runs here, by title.

    `about` are notes below it.
    """

    name: str
    source: str
    caption: str
    plot: Callable[[Evidence], Mapping[str, Panel]]
    data: tuple[str, ...] = ()
    about: tuple[str, ...] = ()


@dataclass(frozen=True)
class Paper:
    """A paper with its claims, in order; at least one for each figure and table.

    `suites` is a folder, `notes` are Markdown, and `summary` names the claims that do not hold.
    """

    name: str
    reference: str
    claims: tuple[Claim, ...]
    suites: Path
    pictures: tuple[Picture, ...] = ()
    notes: str = ""
    summary: str = ""

    def __post_init__(self) -> None:
        names = [claim.name for claim in self.claims]
        if twice := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"paper {self.name} has two claims called {', '.join(sorted(twice))}")
