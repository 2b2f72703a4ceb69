"""Compares two sides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from orthobench.compare.comparison import Comparison, Side, Tolerance


@dataclass(frozen=True)
class Options:
    """How two sides are compared.

    Attributes
    ----------
    suite : str or Path, optional
    tolerance : Tolerance
    budget : float
        Seconds that the timing may take.
    solvers, problems : tuple of str
        Only these, where any are named.
    seeds : int, optional
        Number of seeds, instead of the suite's.
    clock : str
        ``"cpu"`` or ``"wall"``.
    """

    suite: str | Path | None = None
    tolerance: Tolerance = field(default_factory=Tolerance)
    budget: float = 120.0
    solvers: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    seeds: int | None = None
    clock: str = "cpu"


def compare(base: Side, head: Side, options: Options, tell: Callable[[str], None]) -> Comparison:
    """Compare BASE with HEAD."""
    raise NotImplementedError
