"""Checks of claims, and the text about their verdicts."""

from __future__ import annotations

import math
import shutil
import textwrap
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import click

from orthobench.errors import OrthobenchError, unknown
from orthobench.harness.suite import FULL, QUICK, SMOKE
from orthobench.tools.datasets import data_folder
from orthobench.tools.formatting import number, plural
from orthobench_papers.reproduce.claims import Claim, Measurement, Paper, Verdict
from orthobench_papers.reproduce.runs import Evidence

COLOURS = {
    Verdict.HOLDS: "green",
    Verdict.FAILS: "yellow",
    Verdict.UNDECIDED: "yellow",
    Verdict.UNTESTABLE: "bright_black",
}


@dataclass(frozen=True)
class Checked:
    """A claim that was checked.

    Attributes
    ----------
    claim : Claim
    measurement : Measurement
    size : str
        One of `orthobench.harness.suite.SIZES`.
    error : str
        Why there is no measurement; empty if there is.
    """

    claim: Claim
    measurement: Measurement
    size: str = FULL
    error: str = ""

    @property
    def red(self) -> bool:
        """Whether the verdict contradicts the published one.

        Missing data, or an undecided claim at the quick size, are none. At the smoke size only
        errors count.
        """
        verdict, known = self.measurement.verdict, self.claim.known
        if self.error:
            return True
        if verdict is known or verdict is Verdict.UNTESTABLE or self.size == SMOKE:
            return False
        return not (self.size == QUICK and Verdict.UNDECIDED in {verdict, known})


def select(paper: Paper, names: Sequence[str]) -> tuple[Claim, ...]:
    """Return the claims with some names, or all; an unknown name raises a `UsageError`."""
    known = {claim.name: claim for claim in paper.claims}
    for name in names:
        if name not in known:
            raise unknown(f"claim of {paper.name}:", name, known)
    return tuple(known[name] for name in names) if names else paper.claims


def check(claims: Sequence[Claim], runs: Evidence) -> Iterator[Checked]:
    """Check claims; an error in one does not stop the others."""
    for claim in claims:
        missing, error = missing_data(claim.data), ""
        try:
            if claim.check is None:
                found = Measurement(Verdict.UNTESTABLE, text=claim.reason)
            elif missing:
                text = f"{', '.join(missing)} is not in the data folder (see orthobench doctor)"
                found = Measurement(Verdict.UNTESTABLE, text=text)
            else:
                found = runs.asked(claim.check)
        except OrthobenchError as failure:
            error = str(failure)
        except Exception as failure:
            where = traceback.extract_tb(failure.__traceback__)[-1]
            error = f"{type(failure).__name__}: {failure} ({where.name}, line {where.lineno})"
        if error:
            found = Measurement(Verdict.UNDECIDED, text=error)
        yield Checked(claim, found, runs.size, error)


def missing_data(names: Sequence[str]) -> list[str]:
    """Return the files that are missing in the data folder."""
    return [name for name in names if not (data_folder() / name).exists()]


def measured(measurement: Measurement) -> str:
    """Return value and interval as text; empty if nothing was measured."""
    if math.isnan(measurement.value):
        return ""
    low, high = measurement.interval
    if math.isnan(low) or low == high == measurement.value:
        return number(measurement.value)
    return f"{number(measurement.value)} [{number(low)}, {number(high)}]"


def facts(checked: Checked) -> dict[str, Any]:
    """Return a checked claim as plain values, for JSON."""
    claim, measurement = checked.claim, checked.measurement
    return {
        "claim": claim.name, "source": claim.source, "sentence": claim.sentence,
        "printed": claim.printed,
        "verdict": "error" if checked.error else measurement.verdict.value,
        "value": measurement.value, "interval": list(measurement.interval),
        "text": measurement.text, "known": claim.known.value, "reason": claim.reason,
        "red": checked.red,
    }  # fmt: skip


def claim_lines(checked: Checked) -> Iterator[str]:
    """Yield the lines about a claim: verdict, source, sentence and measurement."""
    claim, measurement = checked.claim, checked.measurement
    verdict = "ERROR" if checked.error else measurement.verdict.value
    colour = "red" if checked.red else COLOURS[measurement.verdict]
    yield f"{click.style(verdict, fg=colour, bold=True)}  {claim.source}  {claim.name}"
    value = measured(measurement)
    numbers = [f"here {value}" * bool(value), f"printed {claim.printed}" * bool(claim.printed)]
    told = ", ".join(filter(None, numbers))
    texts = [claim.sentence, ": ".join(filter(None, (told, measurement.text)))]
    texts += [claim.reason] if claim.check else []
    if checked.red and not checked.error:
        texts.append(f"published as: {claim.known.value}. Something has changed.")
    columns = min(shutil.get_terminal_size((100, 24)).columns, 100) - 4
    for text in texts:
        yield from textwrap.wrap(text, columns, initial_indent="    ", subsequent_indent="    ")


def counts(checked: Sequence[Checked]) -> list[str]:
    """Return the number of claims with each verdict as text."""
    verdicts = Counter(c.measurement.verdict for c in checked if not c.error)
    parts = [verdict.counted(verdicts[verdict]) for verdict in Verdict if verdicts[verdict]]
    errors = len(checked) - verdicts.total()
    return [*parts, f"{errors} could not be checked"] if errors else parts


def counts_line(checked: Sequence[Checked]) -> str:
    """Return the number of claims with each verdict, in one line."""
    red = sum(c.red for c in checked)
    if any(c.size == SMOKE for c in checked):
        return f"{plural(len(checked), 'claim')}: {len(checked) - red} can be checked, {red} cannot"
    published = f"{red} not as published" if red else "all as published"
    return f"{plural(len(checked), 'claim')}: {', '.join(counts(checked))}; {published}"
