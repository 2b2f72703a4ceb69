"""Tables of growth: how costs grow with sizes, and declared flops against measured time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from orthobench.atlas.regimes import REACHED
from orthobench.atlas.scaling import (
    FEWEST,
    SIZES,
    Fit,
    Power,
    Sweep,
    design,
    fit,
    medians,
    power,
    sweeps,
)
from orthobench.atlas.site.content import Contest
from orthobench.atlas.table import AtlasRow
from orthobench.report.formatting import clean, listed, plural, si
from orthobench.stats.bootstrap import quantiles
from orthobench.tools.collections import grouped


@dataclass(frozen=True)
class Growth:
    """How the costs of a solver grow with a size of problems: texts are for people.

    Attributes
    ----------
    solver, name : str
        The solver, and the problems.
    size : str
        With its values.
    seconds, flops : str
        The exponents, with their intervals.
    """

    solver: str
    name: str
    size: str
    seconds: str
    flops: str


def growths(rows: Sequence[AtlasRow]) -> list[Growth]:
    """Return how time and flops to 1 % of the gap grow, for each sweep and solver."""
    return [growth for sweep in sweeps(rows) for growth in _growths(sweep)]


def _growths(sweep: Sweep) -> Iterator[Growth]:
    size = f"{sweep.size} = {', '.join(map(str, sweep.values))}"
    for solver in dict.fromkeys(row.solver for row in sweep.rows):
        time, flops = sweep.power(solver, _seconds), sweep.power(solver, _flops)
        if time or flops:
            texts = power_text(time), power_text(flops)
            yield Growth(solver, clean(sweep.name), size, *texts)


def fits(rows: Sequence[AtlasRow], alike: Mapping[Contest, str]) -> Iterator[Growth]:
    """Yield how time and flops to 1 % of the gap grow with several sizes at once.

    Parameters
    ----------
    rows : sequence of AtlasRow
        Those of one family.
    alike : mapping
        Their `orthobench.atlas.scaling.conditions`.
    """
    for solver, own in grouped(rows, lambda row: row.solver).items():
        time, flops = fit(own, _seconds, alike), fit(own, _flops, alike)
        if time is None:
            continue
        name = f"{plural(time.problems, 'problem')}, off by {time.factor:.2g} in time"
        name += f" and {flops.factor:.2g} in flops" if flops else ""
        for size in time.powers:
            yield Growth(solver, name, size, _fit_text(time, size), _fit_text(flops, size))


def _fit_text(found: Fit | None, size: str) -> str:
    if found is None or size not in found.powers:
        return "-"
    power = found.powers[size]
    return power_text(power) if power else "not identified"


def hidden(rows: Sequence[AtlasRow], alike: Mapping[Contest, str]) -> str:
    """Return which exponents the problems of a family do not identify, as a sentence."""
    problems = {row.contest: row for row in rows}
    found = design([*problems.values()], alike)
    columns = [*found.columns] if found else []
    known = [size for size in SIZES if any(getattr(row, size) for row in rows)]
    absent = [size for size in known if found is None or size not in found.sizes]
    told = [f"{name} grow alike in all problems, and have one exponent" for name in columns
            if name not in SIZES]  # fmt: skip
    if absent:
        few = f"fewer than {FEWEST} values in problems that are alike otherwise"
        told.append(f"no exponent of {listed(absent)} is identified: {few}")
    return "; ".join(told)


def _seconds(row: AtlasRow) -> float:
    return math.nan if row.failed else row.seconds_to[REACHED]


def _flops(row: AtlasRow) -> float:
    return math.nan if row.failed else row.flops_to[REACHED]


def power_text(found: Power | None) -> str:
    """Return an exponent with its interval: ``0.98 (0.95 to 1.01)``."""
    if found is None:
        return "-"
    return f"{found.exponent:.2f} ({found.interval[0]:.2f} to {found.interval[1]:.2f})"


@dataclass(frozen=True)
class CostModel:
    """The declared flops of a solver against the time that its runs took.

    Attributes
    ----------
    rate : str
        Flops a second, the median over problems, with the quartiles.
    power : str
        The exponent of time as a power of flops, with its interval.
    verdict : str
        Whether time follows the declared flops: the exponent is 1 then.
    problems : int
    """

    rate: str
    power: str
    verdict: str
    problems: int


def cost_model(rows: Sequence[AtlasRow]) -> CostModel | None:
    """Return the flops of a solver's whole runs against their time, in medians over the seeds.

    None where no problem has both.
    """
    ok = [row for row in rows if not row.failed]
    declared, measured = medians(ok, lambda row: row.flops), medians(ok, lambda row: row.seconds)
    both = [contest for contest in declared if contest in measured]
    if not both:
        return None
    flops, seconds = (np.array([one[contest] for contest in both]) for one in (declared, measured))
    low, middle, high = quantiles(flops / seconds, (0.25, 0.5, 0.75))
    rate, found = f"{si(middle)}flop/s ({si(low)} to {si(high)})", power(flops, seconds)
    return CostModel(rate, power_text(found), _verdict(found), len(both))


def _verdict(found: Power | None) -> str:
    if found is None:
        return "too few problems to tell"
    low, high = found.interval
    if low > 1:
        return "grows faster than the declared flops"
    return "grows slower than the declared flops" if high < 1 else "in line with the declared flops"
