"""What a comparison found, in plain sentences: who wins where, by how much, how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orthobench.report.ranking import Ranked
from orthobench.stats.paired import Comparison
from orthobench.stats.ranks import Ranks
from orthobench.tuning import Entry


@dataclass(frozen=True)
class Standing:
    """How one solver stands in a family.

    Attributes
    ----------
    solver : str
    wins : int
        Problems on which it is best.
    close : int
        Problems on which it cannot be told from the best.
    problems : int
        Problems that it took part in.
    rank : float
        Mean rank over these.
    factors : mapping
        For each problem, its median over the best median; NaN where that is no number (a median
        that is not positive), infinite where it failed.
    failed, planned : int
        Runs, of the chosen trials.
    """

    solver: str
    wins: int
    close: int
    problems: int
    rank: float
    factors: Mapping[str, float]
    failed: int
    planned: int


@dataclass(frozen=True)
class Family:
    """What was found on the problems of one family.

    Attributes
    ----------
    name : str
    problems : tuple of str
    standings : tuple of Standing
        Best first.
    ranks : Ranks, optional
        Where there are enough problems that all take part in.
    sentences : tuple of str
        The verdict in words: who wins where, and how sure that is.
    """

    name: str
    problems: tuple[str, ...]
    standings: tuple[Standing, ...]
    ranks: Ranks | None
    sentences: tuple[str, ...]


def families(ranked: Sequence[Ranked]) -> list[Family]:
    """Return what was found in each family.

    Parameters
    ----------
    ranked : sequence of Ranked
        Of all problems: `orthobench.report.ranking.rank`.
    """
    raise NotImplementedError


def comparisons(entries: Sequence[Entry]) -> list[Comparison]:
    """Return the paired comparisons of all solvers that take part in one problem.

    Parameters
    ----------
    entries : sequence of Entry
        Of one problem.
    """
    raise NotImplementedError


def sentence(comparison: Comparison, metric: str) -> str:
    """Return a comparison as a plain sentence.

    ``"no difference shown"`` where there is none; where so few seeds could not have shown one, it
    says so, and how many would.
    """
    raise NotImplementedError
