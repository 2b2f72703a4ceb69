"""What plots call their axes, their lines, and what stands under their titles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orthobench.report.words import assigned, clean, limits
from orthobench.stats.seeds import spread_name
from orthobench.tuning import Entry

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
    """Return how the legend calls a solver: its chosen parameters, and its failures."""
    chosen = assigned(entry.chosen)
    failed = len(entry.seeds) - sum(not record.status.failed for record in entry.records)
    parts = [entry.solver, f"({chosen})" if chosen else ""]
    parts += [f"(failed {failed} of {len(entry.seeds)})" if failed else ""]
    return clean(" ".join(part for part in parts if part))


def about(entries: Sequence[Entry], *more: str, banded: bool = True) -> tuple[str, ...]:
    """Return families, budgets, seeds and what the band is: what a reader must know."""
    records = [record for entry in entries for record in entry.records]
    seeds = max((len(entry.seeds) for entry in entries), default=1)
    band = f", band: {spread_name(seeds)}" if banded else ""
    over = f"median over {seeds} seeds{band}" if seeds > 1 else "one seed"
    failed = any(record.status.failed for record in records)
    parts = (
        *sorted({record.family for record in records}),
        *sorted({limits(record.budget) for record in records}),
        over,
        "× where a run failed" if failed else "",
        *more,
    )
    return tuple(part for part in parts if part)
