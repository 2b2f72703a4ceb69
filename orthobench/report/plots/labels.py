"""What plots call their axes, their lines, and what stands under their titles."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from orthobench.report.words import assigned, clean, limits
from orthobench.results.record import Record
from orthobench.results.tuning import Entry
from orthobench.stats.seeds import final, metric_of, spread_name

AXES: Mapping[str, str] = {
    "samples": "samples",
    "seconds": "time (s), clock + reading",
    "flops": "floating-point operations",
    "steps": "steps",
}

COSTS = ("flops", "seconds")
"""The axes that say what a result costs, whatever the method."""


def axis_label(key: str) -> str:
    """Return how an axis of a cost or of a metric is called, with its unit."""
    return AXES.get(key) or clean(key.replace("_", " "))


def legend_label(entry: Entry) -> str:
    """Return how the legend calls a solver: its chosen parameters, and its failures.

    A run whose primary metric is not finite at its end has failed, as in the tables.
    """
    chosen = assigned(entry.chosen)
    finals = [final(record, metric_of(record.problem.primary)) for record in entry.records]
    failed = len(entry.seeds) - sum(map(math.isfinite, finals))
    parts = [entry.solver, f"({chosen})" if chosen else ""]
    parts += [f"(failed {failed} of {len(entry.seeds)})" if failed else ""]
    return clean(" ".join(part for part in parts if part))


def about(
    entries: Sequence[Entry], *more: str, banded: bool = True, crossed: bool = True
) -> tuple[str, ...]:
    """Return families, budgets, seeds, what band and crosses are: what a reader must know.

    Parameters
    ----------
    entries : sequence of Entry
    more : str
        What the plot itself has to say.
    banded, crossed : bool
        Whether it has bands, and crosses where runs failed.
    """
    records = [record for entry in entries for record in entry.records]
    seeds = max((len(entry.seeds) for entry in entries), default=1)
    band = f", band: {spread_name(seeds)}" if banded else ""
    over = f"median over {seeds} seeds{band}" if seeds > 1 else "one seed"
    parts = (
        *sorted({record.problem.family for record in records}),
        *sorted({limits(record.budget) for record in records}),
        over,
        _crosses(records) if crossed else "",
        *more,
    )
    return tuple(part for part in parts if part)


def _crosses(records: Sequence[Record]) -> str:
    marks = (mark for record in records for mark in record.trace)
    if any(not math.isfinite(value) for mark in marks for value in mark.metrics.values()):
        return "× where a run failed or its metric was no longer finite"
    return "× where a run failed" if any(record.failed for record in records) else ""
