"""Why a cell runs, or is taken from the store: what of it changed since it was last run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from orthobench.harness.cell import Cell
from orthobench.harness.identity import Identity
from orthobench.harness.source_digests import changed_files
from orthobench.tools.collections import grouped

RUNS, STORED = "runs", "stored"

CODE = ("code of problem", "code of solver")


def explain(
    planned: Iterable[Cell], stored: Mapping[str, Identity], failed: Mapping[str, str]
) -> Iterator[dict[str, str]]:
    """Yield for each planned ``cell`` its ``action``, `RUNS` or `STORED`, and the ``reason``.

    Parameters
    ----------
    planned : iterable of Cell
    stored : mapping
        What identifies the cells in the store, by key.
    failed : mapping
        The status of those of them that run again, by key.
    """
    same = grouped(stored.values(), _who)
    for plan in planned:
        key = plan.key
        action = STORED if key in stored and key not in failed else RUNS
        if key in failed:
            reason = f"it ended with {failed[key]}, and is tried again"
        elif key in stored:
            reason = "nothing of it changed"
        else:
            before = [one.content for one in same.get(_who(plan.identity), ())]
            reason = _changes([_differences(plan, old) for old in before])
        yield {"cell": plan.label, "action": action, "reason": reason}


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


def _who(identity: Identity) -> tuple[str, str, int]:
    """Return what makes two cells the same to people: problem, solver, their parameters, seed."""
    return identity.problem, identity.solver, identity.seed


def _changes(differences: Sequence[list[str]]) -> str:
    if not differences:
        return "it is new: no cell of this problem, solver, parameters and seed is there"
    nearest = min(differences, key=len)
    return "changed since: " + "; ".join(nearest)


def _differences(cell: Cell, old: Mapping[str, Any]) -> list[str]:
    new = cell.content
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
