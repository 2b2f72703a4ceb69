"""The words that all reports share: the verdict, the numbers, and the order of cells."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from orthobench.compare.comparison import Compared, Comparison, Question
from orthobench.compare.sides import Side
from orthobench.stats.run_pairs import Change, Finding
from orthobench.tools.formatting import clean, duration, listed, plural

ASKED = {
    Question.RESULT: "is the result worse at the same budget?",
    Question.WORK: "does it take more work to a target?",
    Question.TIME: "does a unit of work take longer?",
}

NOTHING = "nothing was compared"
"""The verdict where no answer compares both sides; no gate may pass on that."""

SHORTENED = 12
"""How many digits of a commit are shown."""


def verdict(comparison: Comparison) -> str:
    """Return the outcome in one sentence, with the number of answers that are missing.

    ``no regression``, ``3 regressions: 1 of result, 2 of time (4 undecided)``.
    """
    found = Counter(asked for _, asked in comparison.regressions())
    if not any(_compared(a) for cell in comparison.compared for a in cell.answers.values()):
        return NOTHING
    changes = tally(comparison)
    if found:
        parts = [f"{found[asked]} of {asked.value}" for asked in Question if found[asked]]
        sentence = f"{plural(found.total(), 'regression')}: {', '.join(parts)}"
    else:
        sentence = "no regression"
    missing = [
        f"{changes[change]:,} {word}"
        for change, word in ((Change.UNDECIDED, "undecided"), (Change.NONE, "not compared"))
        if changes[change]
    ]
    return f"{sentence} ({', '.join(missing)})" if missing else sentence


def tally(comparison: Comparison, asked: Question | None = None) -> Counter[Change]:
    """Return the number of answers of each kind, to one question or to all."""
    return Counter(
        answer.change
        for cell in comparison.compared
        for question, answer in cell.answers.items()
        if asked in (None, question)
    )


def counted(changes: Counter[Change]) -> str:
    """Return counts in words: ``12 cells: 9 same, 2 worse, 1 undecided``."""
    cells = plural(changes.total(), "cell")
    parts = [(f"{changes[change]:,}", change.value) for change in Change if changes[change]]
    if len(parts) == 1:
        return f"{cells}, all {parts[0][1]}" if changes.total() > 1 else f"{cells}, {parts[0][1]}"
    return f"{cells}: {', '.join(map(' '.join, parts))}" if parts else cells


def cells_with(
    comparison: Comparison, asked: Question, change: Change
) -> list[tuple[Compared, Finding]]:
    """Return the cells with this answer to a question, worst first.

    Of improvements, the largest comes first.
    """
    found = [
        (cell, cell.answers[asked])
        for cell in comparison.compared
        if asked in cell.answers and cell.answers[asked].change is change
    ]
    sign = 1 if change is Change.BETTER else -1
    return sorted(found, key=lambda pair: sign * _size(pair[1].ratio, sign))


def reasons(found: Sequence[tuple[Compared, Finding]]) -> list[tuple[str, str]]:
    """Return each reason, and the cells that have it, as text."""
    cells: dict[str, list[str]] = {}
    for cell, answer in found:
        cells.setdefault(clean(answer.explanation) or "no reason given", []).append(
            clean(cell.label)
        )
    return [(reason, listed(labels, most=3)) for reason, labels in cells.items()]


def ratio(answer: Finding) -> str:
    """Return how much worse HEAD is: ``+5.2 % [+3.9, +6.6]``; empty where it is unknown."""
    return " ".join(part for part in (percent(answer.ratio), interval(answer)) if part)


def percent(value: float) -> str:
    """Return a ratio as a change in percent, with its sign; from tenfold on as a factor."""
    if math.isnan(value):
        return ""
    if value >= 10:
        return "inf" if math.isinf(value) else f"x {value:.3g}"
    change = 100 * (value - 1)
    digits = ".1f" if abs(change) >= 0.05 or change == 0 else ".1g"
    return f"{change:+{digits}} %"


def interval(answer: Finding) -> str:
    """Return the bounds of a measured ratio: ``[+3.9, +6.6]``; empty where there are none."""
    ends = (answer.low, answer.high)
    unknown = any(math.isnan(end) for end in ends) or ends == (0, math.inf)
    if unknown or answer.low == answer.high:
        return ""
    low, high = (percent(end).removesuffix(" %") for end in ends)
    return f"[{low}, {high}]"


def side(one: Side) -> str:
    """Return the user's name of a side, and what it is, with a commit shortened."""
    detail = one.detail
    if re.fullmatch(r"[0-9a-f]{40,64}", detail):
        detail = detail[:SHORTENED]
    return clean(one.name if detail in one.name else f"{one.name} ({detail})")


def measured(comparison: Comparison) -> str:
    """Return how much was measured and where: ``30 rounds in 118 s on Intel Xeon``."""
    parts = [plural(comparison.rounds, "round")] if comparison.rounds else []
    parts += [f"in {duration(comparison.seconds)}"] if comparison.seconds else []
    cpu = comparison.machine.get("cpu")
    parts += [f"on {clean(str(cpu))}"] if cpu else []
    return " ".join(parts)


def tolerated(comparison: Comparison) -> str:
    """Return the tolerances: ``result 0 %, work 0 %, time 3 %``."""
    given = {asked: getattr(comparison.tolerance, asked.value) for asked in Question}
    return ", ".join(f"{asked.value} {100 * value:g} %" for asked, value in given.items())


def remarks(comparison: Comparison) -> list[str]:
    """Return what a reader should know: whether both sides are the same code, and the notes."""
    base, head = comparison.base, comparison.head
    same = (base.kind, base.detail) == (head.kind, head.detail)
    alike = ["BASE and HEAD are the same: what differs is noise"] if same else []
    return [*alike, *(clean(note) for note in comparison.notes)]


def _compared(answer: Finding) -> bool:
    """Return whether an answer compares both sides; that BASE failed does not."""
    only_base_failed = answer.change is Change.BETTER and math.isnan(answer.ratio)
    return answer.change is not Change.NONE and not only_base_failed


def _size(value: float, sign: int) -> float:
    """Return the ratio to sort by; a cell without one, for instance a failed one, comes first."""
    return -sign * math.inf if math.isnan(value) else value
