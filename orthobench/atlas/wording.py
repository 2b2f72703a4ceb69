"""What an atlas says, as lines for a terminal, as plain values, and as the table of README."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from orthobench.atlas.advice import Advice, Candidate
from orthobench.atlas.answers import AtlasAnswer, situations
from orthobench.atlas.choice import LEFT, TOLERANCE, favourites
from orthobench.atlas.consult import Consultation, name_of
from orthobench.atlas.features import Features
from orthobench.atlas.regimes import Compared, compared
from orthobench.atlas.table import Atlas
from orthobench.report.formatting import clean, listed, number, plural
from orthobench.report.sentences import factor_text

COLUMNS = {
    "best in the end": "Lowest value",
    "few samples": "Fewest samples",
    "little time": "Least time",
    "high accuracy": "High accuracy",
}
"""The situations of README's table, with the heads of its columns."""

NUMBERS = (
    f"In brackets: problems on which it is within {TOLERANCE:g} times of the best, leaves at most "
    f"{100 * LEFT:g} % of the gap to the lowest value, and never fails. A dash: the methods take "
    "no samples, or none gets as far."
)
"""What the numbers of that table are."""

NOBODY = "-"
"""Stands where no solver can be named."""

LOSSES = 2
"""The most losing cases of an answer that the terminal shows."""


def overview(atlas: Atlas) -> Iterator[str]:
    """Yield a line for each kind of problems, and where the answers come from."""
    for kind, own in _headlines(atlas).items():
        said = (f"{COLUMNS[name].lower()}: {_named(one)}" for name, one in own.items())
        yield f"{clean(kind)}: {'; '.join(said)}"
    yield ""
    yield origin(atlas)


def _headlines(atlas: Atlas) -> dict[str, dict[str, list[Compared]]]:
    """Return the problems of each kind, compared in the situations of README's table."""
    return {
        kind: {
            one.name: compared(one.rows, one.regime)
            for one in situations(rows)
            if one.name in COLUMNS
        }
        for kind, rows in atlas.kinds.items()
    }


def of_family(answers: Sequence[AtlasAnswer]) -> Iterator[str]:
    """Yield the answers of one family, with how sure they are and where they lose."""
    kind = ""
    for one in answers:
        if one.family != kind:
            kind = one.family
            yield clean(kind)
        yield f"  {one.situation.question}:"
        yield f"    {one.answer.answer}. {one.answer.sure}"
        lost = [loss for loss in one.losses if loss.shown]
        for loss in lost[:LOSSES]:
            yield f"    But on {clean(loss.problem[1])} {loss.text}."
        if len(lost) > LOSSES:
            yield f"    It is also behind on {plural(len(lost) - LOSSES, 'other problem')}."


def of_problem(found: Consultation) -> Iterator[str]:
    """Yield the advice for a problem: evidence, doubt, and the command that checks it."""
    yield f"{clean(found.about)} ({clean(found.family)}){_features(found.features)}"
    if found.instead:
        told = clean(found.instead.replace("_", " "))
        yield f"  No problem of the atlas has its metric: those compared by {told} answer"
    for regime, one in _together(found.advice):
        yield f"  {regime}: {clean(one.solver) or f'cannot tell, since {one.why}'}"
        if one.candidates:
            yield f"    {_evidence(one)}"
    for one in found.advice[:1]:
        yield from _near(one, found.features is not None)
    yield from _doubt(found)
    yield f"  Check it: {found.check}"


def _together(advice: Sequence[Advice]) -> list[tuple[str, Advice]]:
    """Return the advice in each regime; once for all where it is the same: that it cannot tell."""
    if len({(one.solver, one.why) for one in advice}) == 1 and not advice[0].solver:
        return [(", ".join([advice[0].regime, *(r.regime.lower() for r in advice[1:])]), advice[0])]
    return [(one.regime, one) for one in advice]


def _features(features: Features | None) -> str:
    if features is None:
        return ", a problem of the atlas"
    told = [f"d = {features.d}", f"k = {features.k}"]
    if features.rows:
        told.insert(0, plural(features.rows, "row"))
    if math.isfinite(features.decay):
        told += [f"decay {number(features.decay)}", f"noise {_percent(features.noise)}"]
    if math.isfinite(features.sparsity):
        told.append(f"{_percent(features.sparsity)} zero or missing")
    return ": " + ", ".join(told)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _evidence(advice: Advice) -> str:
    """Return how near the named solver is to the best, on what, and who is as good."""
    first, *others = advice.candidates
    seeds = sorted({one.seeds for one in advice.near})
    span = " to ".join(dict.fromkeys(map(str, (seeds[0], seeds[-1]))))
    shown = sum(one.best == first.solver and one.shown for one in advice.near)
    text = f"{_closeness(first)} on {plural(len(advice.near), 'problem')} with {span} seeds"
    text += f", shown on {shown}" if shown else ""
    equal = [clean(one.solver) for one in others]
    return f"{text}." + (f" As good: {listed(equal)}." if equal else "")


def _closeness(one: Candidate) -> str:
    if not one.worst > 1:
        return "the best"
    near = factor_text(one.worst)
    text = "the best up to 1 %" if near == "1" else f"at most {near} times the best"
    return text + (f" (95 % intervals up to {factor_text(one.highest)})" if one.highest > 1 else "")


def _near(advice: Advice, measured: bool) -> Iterator[str]:
    if not advice.near:
        return
    names = [
        f"{clean(one.problem)}{f' ({one.factor:.2g})' if measured else ''}" for one in advice.near
    ]
    told = "Near, with the largest factor between features" if measured else "Problems"
    yield f"  {told}: {listed(names)}"


def _doubt(found: Consultation) -> Iterator[str]:
    """Yield how the same rule does on problems of the atlas that it was not made from."""
    if not found.hits:
        return
    counts = [
        f"{good} of {named} ({one.regime.lower()})"
        for one, (good, named, _) in zip(found.advice, found.hits, strict=True)
        if named
    ]
    asked = f"asked about each of its own {plural(found.hits[0][2], 'problem')} without those of"
    told = "cannot tell either"
    if counts:
        told = f"named a method as good as the best on {listed(counts)}"
        told += " that it could tell"
    yield f"  Doubt: {asked} that name, the atlas {told}"


def origin(atlas: Atlas) -> str:
    """Return where the answers of an atlas come from."""
    machines = atlas.about.get("machines") or [atlas.about.get("machine", "an unnamed machine")]
    date = atlas.about.get("date", "an unknown date")
    return (
        f"From the atlas of {clean(str(date))}: {len(atlas.rows):,} runs, timed on "
        f"{clean(listed([str(name) for name in machines]))}."
    )


def markdown(atlas: Atlas) -> str:
    """Return the table of README: for each kind of problems, which method to use when.

    Kinds on which nobody can be named have no row.
    """
    found = _headlines(atlas)
    heads = {k: v for k, v in COLUMNS.items() if any(k in own for own in found.values())}
    named = {kind: [_named(own.get(n, []), _page) for n in heads] for kind, own in found.items()}
    lines = [
        f"| | {' | '.join(heads.values())} |",
        f"|---|{'---|' * len(heads)}",
        *(
            f"| {titled(atlas, kind)} | {' | '.join(own)} |"
            for kind, own in named.items()
            if set(own) != {NOBODY}
        ),
        "",
        f"{origin(atlas)} {NUMBERS}",
    ]
    return "\n".join(lines)


def titled(atlas: Atlas, kind: str) -> str:
    """Return the name of a kind of problems; with their names where its family has others, too."""
    rows = atlas.kinds[kind]
    names = dict.fromkeys(clean(row.name) for row in rows)
    return clean(kind) + ("" if kind == rows[0].family else f" ({listed([*names])})")


def _page(solver: str) -> str:
    """Return a solver with the link to its page."""
    return f"[{solver}](docs/methods/{name_of(solver)}.md)"


def _named(problems: Sequence[Compared], told: Callable[[str], str] = str) -> str:
    """Return who is as good as the best on the most problems, and on how many."""
    total = f" of {len(problems)}"
    parts = [f"{told(clean(name))} ({count}{total})" for name, count in favourites(problems)]
    return ", else ".join(parts).replace(total, "", len(parts) - 1) or NOBODY


def facts(answers: Sequence[AtlasAnswer]) -> list[dict[str, Any]]:
    """Return answers as plain values."""
    return [
        {
            "family": one.family,
            "situation": one.situation.name,
            "question": one.situation.question,
            "solver": one.answer.solver,
            "answer": one.answer.answer,
            "sure": one.answer.sure,
            "problems": ["/".join(problem) for problem in one.problems],
            "losses": [loss.text for loss in one.losses if loss.shown],
        }
        for one in answers
    ]
