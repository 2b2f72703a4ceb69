"""Why a cell runs, or is taken from the store: the difference from its last run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from orthobench.harness.cell import Cell
from orthobench.harness.identity import Identity
from orthobench.harness.source_digests import changed_files
from orthobench.tools.collections import grouped

RUNS, STORED = "runs", "stored"

NEW = "it is new: no cell of this problem, solver, parameters and seed is there"


def explain(
    planned: Iterable[Cell], stored: Mapping[str, Identity], failed: Mapping[str, str]
) -> Iterator[dict[str, str]]:
    """Yield for each planned ``cell`` its ``action``, `RUNS` or `STORED`, and the ``reason``.

    Parameters
    ----------
    planned : iterable of Cell
    stored : mapping
        The identities of stored cells, by key.
    failed : mapping
        The statuses of those that run again, by key.
    """
    same = grouped(stored.values(), lambda one: (one.problem, one.solver, one.seed))
    for cell in planned:
        key, identity = cell.key, cell.identity
        action, reason = RUNS, NEW
        if key in failed:
            reason = f"it ended with {failed[key]}, and is tried again"
        elif key in stored:
            action, reason = STORED, "nothing of it changed"
        elif before := same.get((identity.problem, identity.solver, identity.seed)):
            nearest = min((_differences(cell, old.content) for old in before), key=len)
            reason = f"changed since: {'; '.join(nearest)}"
        yield {"cell": cell.label, "action": action, "reason": reason}


def lines(facts: Iterable[Mapping[str, str]], *, listed: bool = True) -> Iterator[str]:
    """Yield lines for people: the number of cells by reason, and their labels if `listed`."""
    groups = grouped(facts, lambda fact: (fact["action"], fact["reason"]))
    for (action, reason), cells in sorted(groups.items()):
        one = len(cells) == 1
        verb = "run" + "s" * one if action == RUNS else f"{'is' if one else 'are'} in the store"
        yield f"{len(cells):,} cell{'s' * (not one)} {verb}: {reason}"
        yield from (f"  {fact['cell']}" for fact in cells if listed)


def _differences(cell: Cell, old: Mapping[str, Any]) -> list[str]:
    """Return the parts of the identity that changed, with their values, or their files of code."""
    before, now, found = _flat(old), _flat(cell.content), list[str]()
    for name in sorted({*before, *now}):
        a, b = before.get(name), now.get(name)
        if a != b and a and isinstance(a, str) and name in ("code of problem", "code of solver"):
            cls = type(cell.solver if name == "code of solver" else cell.problem)
            found.append(f"{name} ({', '.join(changed_files(cls, a)) or 'something is gone'})")
        elif a != b:
            found.append(f"{name} {_short(a)} -> {_short(b)}")
    return found


def _flat(content: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part, value in content.items():
        joint = " of " if part in ("code", "versions") else " "
        if isinstance(value, Mapping):
            found |= {f"{part}{joint}{name}": one for name, one in value.items()}
        else:
            found[part] = value
    return found


def _short(value: Any) -> str:
    return "none" if value in (None, "") else str(value)[:12]
