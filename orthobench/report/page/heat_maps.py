"""Heat maps of tuning: the score of each pair of values of two tuned parameters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from orthobench.harness.identity import canonical
from orthobench.report.formatting import clean, number, short
from orthobench.report.plots.tuning import varied
from orthobench.results.tuning import SolverResult, Trial


@dataclass(frozen=True)
class HeatCell:
    """The score of one trial.

    Attributes
    ----------
    text : str
        Empty where there is no such trial.
    shade : int
        From 0, the lowest score, to 100, the highest, on a logarithmic scale where all are
        positive; 100 where a run failed.
    chosen : bool
    """

    text: str = ""
    shade: int = 100
    chosen: bool = False


@dataclass(frozen=True)
class HeatMap:
    """The scores of a solver over two parameters; others are held at their chosen values.

    Attributes
    ----------
    solver, down, across : str
        The solver, and the parameters along the columns and the rows.
    columns : tuple of str
        The values of `across`.
    rows : tuple of (str, tuple of HeatCell)
        The values of `down`, each with its cells.
    """

    solver: str
    down: str
    across: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[HeatCell, ...]], ...]


def heat_maps(entries: Sequence[SolverResult]) -> Iterator[HeatMap]:
    """Yield the heat map of each solver on one problem that has two parameters tuned, or more."""
    for entry in entries:
        names = [] if entry.refused else varied(entry)
        if len(names) > 1:
            yield _heat_map(entry, names[0], names[1])


def _heat_map(entry: SolverResult, down: str, across: str) -> HeatMap:
    held = {name: v for name, v in entry.best_parameters.items() if name not in (down, across)}
    trials = {
        (canonical({"": t.tuned[down]}), canonical({"": t.tuned[across]})): t
        for t in entry.trials
        if all(canonical({"": t.tuned[name]}) == canonical({"": v}) for name, v in held.items())
    }
    rows, columns = (_values(entry, name) for name in (down, across))
    scores = [t.score for t in trials.values()]
    cells = tuple(
        (
            clean(short(value)),
            tuple(_cell(entry, trials.get((row, column)), scores) for column in columns),
        )
        for row, value in rows.items()
    )
    shown = tuple(clean(short(value)) for value in columns.values())
    return HeatMap(entry.solver, clean(down), clean(across), shown, cells)


def _values(entry: SolverResult, name: str) -> dict[str, Any]:
    """Return the values of a parameter, numbers in order, by what tells them apart."""
    values = [t.tuned[name] for t in entry.trials]
    if all(isinstance(v, (int, float)) for v in values):
        values.sort()
    return {canonical({"": value}): value for value in values}


def _cell(entry: SolverResult, trial: Trial | None, scores: Sequence[float]) -> HeatCell:
    if trial is None:
        return HeatCell()
    text = number(trial.score) if math.isfinite(trial.score) else "failed"
    chosen = canonical(trial.tuned) == canonical(entry.best_parameters)
    return HeatCell(text, round(100 * _place(trial.score, scores)), chosen)


def _place(score: float, scores: Sequence[float]) -> float:
    """Return where a score is between the lowest, 0, and the highest, 1."""
    finite = [s for s in scores if math.isfinite(s)]
    if not math.isfinite(score):
        return 1.0
    scale = math.log if min(finite) > 0 else float
    low, high = scale(min(finite)), scale(max(finite))
    return (scale(score) - low) / (high - low) if high > low else 0.0
