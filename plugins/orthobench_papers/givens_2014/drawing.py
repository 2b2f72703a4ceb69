"""Series and plots of the paper's figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from orthobench.contract import Array, Panel, Plot, Series
from orthobench.reproduce import Record, curve, spread, spread_name


def along_flops(solver: str, records: Sequence[Record], metric: str, factor: float = 1.0) -> Series:
    """Return the median of a metric over the seeds against flops, with its spread."""
    found = curve(records, "flops", metric)
    low, high = factor * found.low, factor * found.high
    return Series(solver, found.x, factor * found.median, low, high, solver=solver)


def over_seeds(solver: str, x: Sequence[float], values: Sequence[Array], label: str = "") -> Series:
    """Return the median over the seeds of values at each x, with their spread.

    Parameters
    ----------
    solver : str
        Empty for a reference.
    x : sequence of float
    values : sequence of ndarray
        One array for each x, one entry for each seed.
    label : str
        The solver where there is none.
    """
    median, low, high = np.array([spread(each) for each in values]).T
    at = np.array(x, dtype=np.float64)
    return Series(label or solver, at, median, low, high, solver=solver)


def side_by_side(name: str, kind: str, panels: Mapping[str, Panel], about: Sequence[str]) -> Plot:
    """Return a plot of several panels, all of them on paper; says what lines and bands are."""
    keys = [(key,) for key in panels]
    bands = sorted({panel.band for panel in panels.values() if panel.band})
    told = (*about, *(f"medians over the seeds; bands: {each}" for each in bands))
    return Plot(name, kind, {"panel": list(panels)}, lambda key: panels[key[0]], keys, told)


def band(seeds: int) -> str:
    """Return what bands over so many seeds are."""
    return spread_name(seeds) if seeds > 1 else ""
