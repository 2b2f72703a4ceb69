"""The history of answers: which changed since the atlas before, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from orthobench.atlas.answers import AtlasAnswer, answers
from orthobench.atlas.table import Atlas
from orthobench.report.formatting import clean, listed, plural

LONGEST = 400
"""The most changes that an atlas keeps of those before."""

ADDED, CHANGED, GONE = "new", "changed", "gone"


@dataclass(frozen=True)
class Change:
    """An answer that changed.

    Attributes
    ----------
    date : str
        Of the results that changed it.
    family, situation : str
    kind : str
        ``"new"``, ``"changed"`` or ``"gone"``.
    was, now : str
        The answers; empty where there was none.
    why : str
        What is different in the results behind it.
    """

    date: str
    family: str
    situation: str
    kind: str
    was: str
    now: str
    why: str


def history(atlas: Atlas, found: Sequence[AtlasAnswer], previous: Atlas | None) -> list[Change]:
    """Return what changed since the atlas before, and then what that one says of those before it.

    Parameters
    ----------
    atlas : Atlas
    found : sequence of AtlasAnswer
        Its answers.
    previous : Atlas, optional
    """
    if previous is None:
        return []
    return [*_changes(atlas, found, previous), *kept(previous)][:LONGEST]


def kept(atlas: Atlas) -> list[Change]:
    """Return the history that an atlas has in its file; entries that are none are passed over."""
    names = set(Change.__dataclass_fields__)
    entries = atlas.about.get("history", [])
    return [
        Change(**{name: clean(str(value)) for name, value in one.items()})
        for one in (entries if isinstance(entries, list) else [])
        if isinstance(one, dict) and set(one) == names
    ]


def as_values(changes: Sequence[Change]) -> list[dict[str, Any]]:
    """Return a history as the plain values that a file of an atlas has."""
    return [asdict(change) for change in changes]


def _changes(atlas: Atlas, found: Sequence[AtlasAnswer], previous: Atlas) -> Iterator[Change]:
    before, after = _by_place(answers(previous)), _by_place(found)
    date = str(atlas.about.get("date", ""))
    for place in dict.fromkeys((*after, *before)):
        old, new = before.get(place), after.get(place)
        if old is None and new is not None:
            yield Change(date, *place, ADDED, "", new.answer.answer, "Nothing was known before.")
        elif new is None and old is not None:
            yield Change(date, *place, GONE, old.answer.answer, "", "No result is about it now.")
        elif old and new and old.answer.solver != new.answer.solver:
            why = " ".join(_reasons(old, new, previous, atlas))
            yield Change(date, *place, CHANGED, old.answer.answer, new.answer.answer, why)


def _by_place(found: Sequence[AtlasAnswer]) -> Mapping[tuple[str, str], AtlasAnswer]:
    return {(one.family, one.situation.name): one for one in found}


def _reasons(old: AtlasAnswer, new: AtlasAnswer, previous: Atlas, atlas: Atlas) -> Iterator[str]:
    """Yield what is different in the results behind an answer."""
    reasons = [
        *_of_solvers(old, new), *_of_problems(old, new), *_of_versions(previous, atlas)
    ]  # fmt: skip
    yield from reasons or ["The same solvers, problems and versions: the numbers changed."]


def _of_solvers(old: AtlasAnswer, new: AtlasAnswer) -> Iterator[str]:
    before, after = (dict.fromkeys(row.solver for row in one.situation.rows) for one in (old, new))
    if added := [clean(name) for name in after if name not in before]:
        yield f"New: {listed(added)}."
    if lost := [clean(name) for name in before if name not in after]:
        yield f"No longer there: {listed(lost)}."


def _of_problems(old: AtlasAnswer, new: AtlasAnswer) -> Iterator[str]:
    before, after = set(old.problems), set(new.problems)
    if before != after:
        yield f"{plural(len(after - before), 'problem')} more, {len(before - after)} fewer."
    seeds = [len({row.seed for row in one.situation.rows}) for one in (old, new)]
    if seeds[0] != seeds[1]:
        yield f"{plural(seeds[1], 'seed')} instead of {seeds[0]}."


def _of_versions(previous: Atlas, atlas: Atlas) -> Iterator[str]:
    before, after = (dict(one.about.get("versions", {})) for one in (previous, atlas))
    other = [name for name in after if before.get(name, after[name]) != after[name]]
    if other:
        changes = [clean(f"{name} {before[name]} to {after[name]}") for name in other]
        yield f"Other versions: {listed(changes)}."
