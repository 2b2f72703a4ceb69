"""Pictures of papers: lines of medians over the seeds, and panels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from orthobench.contract import Array
from orthobench.contract.panel import Axis, Panel, Series
from orthobench_papers.reproduce import Run, curve, spread, spread_name


def over_seeds(
    label: str, x: ArrayLike, values: Sequence[Array] | Array, solver: str | None = None
) -> Series:
    """Return medians over the seeds at each x, with their spread.

    Parameters
    ----------
    x : array_like, shape (m,)
    values : sequence of ndarray
        One array for each x, with one entry for each seed.
    solver : str, optional
        The solver whose style is used: empty for a reference; default: `label`.
    """
    median, low, high = np.array([spread(each) for each in values]).T
    style = label if solver is None else solver
    return Series(label, np.asarray(x, dtype=np.float64), median, low, high, style)


def along(label: str, records: Sequence[Run], x: str, metric: str, factor: float = 1.0) -> Series:
    """Return the median of a metric along the runs, with its spread."""
    found = curve(records, x, metric)
    median, low, high = (factor * np.asarray(part) for part in (found.y, found.low, found.high))
    return Series(label, found.x, median, low, high, label)


def along_runs(
    x: Axis, y: Axis, runs: Mapping[str, Sequence[Run]], factor: float = 1.0, *more: Series,
    **options: Any,
) -> Panel:  # fmt: skip
    """Return the panel of the metric `y` along the runs of each label, and of other series."""
    series = [along(label, records, x.key, y.key, factor) for label, records in runs.items()]
    seeds = min(map(len, runs.values()))
    return Panel(x, y, (*series, *more), band=band(seeds), **options)


def band(seeds: int) -> str:
    """Return the meaning of bands over this number of seeds."""
    return spread_name(seeds) if seeds > 1 else ""
