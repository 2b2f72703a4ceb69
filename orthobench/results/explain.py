"""Why a cell runs, or is taken from the store: what of it changed since it was last run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from orthobench.harness.cell import Cell
from orthobench.harness.identity import canonical
from orthobench.harness.source_digests import changed_files

RUNS, STORED = "runs", "stored"

CODE = ("code of problem", "code of solver")


@dataclass(frozen=True)
class Explanation:
    """What happens to a planned cell.

    Attributes
    ----------
    cell : Cell
    action : str
        ``"runs"`` or ``"stored"``.
    reason : str
        For people.
    """

    cell: Cell
    action: str
    reason: str


def explain(
    planned: Iterable[Cell], stored: Mapping[str, Mapping[str, Any]], failed: Mapping[str, str]
) -> Iterator[Explanation]:
    """Yield for each planned cell why it runs or why not.

    Parameters
    ----------
    planned : iterable of Cell
    stored : mapping
        The contents of the cells in the store, by key.
    failed : mapping
        The status of those of them that run again, by key.
    """
    known: dict[str, list[Mapping[str, Any]]] = {}
    for content in stored.values():
        known.setdefault(_who(content), []).append(content)
    for plan in planned:
        key = plan.key
        if key in failed:
            yield Explanation(plan, RUNS, f"it ended with {failed[key]}, and is tried again")
        elif key in stored:
            yield Explanation(plan, STORED, "nothing of it changed")
        else:
            content = plan.content
            changes = partial(_differences, plan, new=content)
            yield Explanation(plan, RUNS, _changes(map(changes, known.get(_who(content), []))))


def lines(facts: Iterable[Mapping[str, str]], *, listed: bool = True) -> Iterator[str]:
    """Yield what people read: how many cells have one fate and reason, and which, where `listed`.

    Those that run come first.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for fact in facts:
        groups.setdefault((fact["action"], fact["reason"]), []).append(fact["cell"])
    for (action, reason), cells in sorted(groups.items()):
        one = len(cells) == 1
        verb = "run" + "s" * one if action == RUNS else f"{'is' if one else 'are'} in the store"
        yield f"{len(cells):,} cell{'s' * (not one)} {verb}: {reason}"
        yield from (f"  {cell}" for cell in cells if listed)


def _who(content: Mapping[str, Any]) -> str:
    """Return what makes two cells the same to people: problem, solver, their parameters, seed."""
    return canonical({part: content[part] for part in ("problem", "solver", "seed")})


def _changes(found: Iterable[list[str]]) -> str:
    differences = list(found)
    if not differences:
        return "it is new: no cell of this problem, solver, parameters and seed is there"
    fewest = min(len(changes) for changes in differences)
    nearest = next(changes for changes in differences if len(changes) == fewest)
    return "changed since: " + "; ".join(nearest)


def _differences(cell: Cell, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    return [
        f"{name} {_files(cell, name, old_value)}"
        if name in CODE and isinstance(old_value, str)
        else f"{name} {_short(old_value)} -> {_short(new_value)}"
        for part in sorted({*old, *new})
        for name, old_value, new_value in _parts(part, old.get(part), new.get(part))
        if old_value != new_value
    ]


def _parts(part: str, old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the entries of a table one by one, and anything else as it is."""
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        yield part, old, new
        return
    for name in sorted({*old, *new}):
        yield (
            f"{part} of {name}" if part in ("code", "versions") else f"{part} {name}",
            old.get(name),
            new.get(name),
        )


def _files(cell: Cell, name: str, old: str) -> str:
    """Return the files of a plugin that are not what they were."""
    cls = type(cell.solver if name == CODE[1] else cell.problem)
    return f"({', '.join(changed_files(cls, old)) or 'something is gone'})"


def _short(value: Any) -> str:
    if value in (None, ""):
        return "none"
    return str(value)[:12] if isinstance(value, str) else str(value)
