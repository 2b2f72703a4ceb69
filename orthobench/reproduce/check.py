"""Claims checked one after the other, each as a line."""

from __future__ import annotations

import math
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from orthobench.errors import OrthobenchError, unknown
from orthobench.registry.claims import Claim, Measurement, Paper, Verdict
from orthobench.report.words import number
from orthobench.reproduce.evidence import Runs
from orthobench.tools.datasets import data_folder


@dataclass(frozen=True)
class Checked:
    """A claim with what was found.

    Attributes
    ----------
    claim : Claim
    found : Measurement
    quick : bool
        Whether this is of the small size.
    error : str
        Why the check did not go through; empty where it did.
    """

    claim: Claim
    found: Measurement
    quick: bool = False
    error: str = ""

    @property
    def red(self) -> bool:
        """Whether this is not what is published, so that a solver or a check has changed.

        At the small size seeds may be too few to decide; that is no contradiction. Nor is it one
        that data are not there.
        """
        verdict, known = self.found.verdict, self.claim.known
        if self.error:
            return True
        if verdict is known or verdict is Verdict.UNTESTABLE:
            return False
        return not (self.quick and Verdict.UNDECIDED in {verdict, known})


def select(paper: Paper, names: Sequence[str]) -> tuple[Claim, ...]:
    """Return the claims of these names; all where none is named.

    Raises
    ------
    UsageError
        On an unknown name; suggests the nearest.
    """
    known = {claim.name: claim for claim in paper.claims}
    for name in names:
        if name not in known:
            raise unknown(f"claim of {paper.name}:", name, known)
    return tuple(known[name] for name in names) if names else paper.claims


def check(claims: Sequence[Claim], runs: Runs) -> Iterator[Checked]:
    """Check claims one after the other; a check that raises costs no more than its own claim."""
    for claim in claims:
        yield _checked(claim, runs)


def _checked(claim: Claim, runs: Runs) -> Checked:
    if claim.check is None:
        return Checked(claim, Measurement(Verdict.UNTESTABLE, text=claim.reason), runs.quick)
    absent = [name for name in claim.data if not (data_folder() / name).exists()]
    if absent:
        text = f"{', '.join(absent)} is not in the data folder (see orthobench doctor)"
        return Checked(claim, Measurement(Verdict.UNTESTABLE, text=text), runs.quick)
    try:
        return Checked(claim, claim.check(runs), runs.quick)
    except OrthobenchError as error:
        return _unchecked(claim, runs, str(error))
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        told = f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})"
        return _unchecked(claim, runs, told)


def _unchecked(claim: Claim, runs: Runs, error: str) -> Checked:
    return Checked(claim, Measurement(Verdict.UNDECIDED, text=error), runs.quick, error)


def measured(found: Measurement) -> str:
    """Return value and interval as text; empty where nothing was measured."""
    if math.isnan(found.value):
        return ""
    low, high = found.interval
    if math.isnan(low) or low == high == found.value:
        return number(found.value)
    return f"{number(found.value)} [{number(low)}, {number(high)}]"


def facts(checked: Checked) -> dict[str, Any]:
    """Return a checked claim as plain values, for JSON."""
    claim, found = checked.claim, checked.found
    return {
        "claim": claim.name,
        "source": claim.source,
        "sentence": claim.sentence,
        "printed": claim.printed,
        "verdict": "error" if checked.error else found.verdict.value,
        "value": _finite(found.value),
        "interval": [_finite(end) for end in found.interval],
        "text": found.text,
        "known": claim.known.value,
        "reason": claim.reason,
        "red": checked.red,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
