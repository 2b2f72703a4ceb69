"""Text about checked claims for the terminal."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Sequence

import click

from orthobench.registry.claims import Verdict
from orthobench.report.formatting import plural
from orthobench.reproduce.check import Checked, measured

COLOURS = {
    Verdict.HOLDS: "green",
    Verdict.FAILS: "yellow",
    Verdict.UNDECIDED: "yellow",
    Verdict.UNTESTABLE: "bright_black",
}


def claim_lines(checked: Checked) -> Iterator[str]:
    """Yield the lines about one claim: verdict, source and sentence, then the measurement."""
    claim, found = checked.claim, checked.found
    verdict = "ERROR" if checked.error else found.verdict.value
    colour = "red" if checked.red else COLOURS[found.verdict]
    yield f"{click.style(verdict, fg=colour, bold=True)}  {claim.source}  {claim.name}"
    yield from _wrapped(claim.sentence)
    numbers = [f"here {measured(found)}"] if measured(found) else []
    numbers += [f"printed {claim.printed}"] if claim.printed else []
    measurement = ": ".join(part for part in (", ".join(numbers), found.text) if part)
    if measurement:
        yield from _wrapped(measurement)
    if claim.reason and claim.check is not None:
        yield from _wrapped(claim.reason)
    if checked.red and not checked.error:
        yield from _wrapped(f"published as: {claim.known.value}. Something has changed.")


def counts_line(checked: Sequence[Checked]) -> str:
    """Return the number of claims with each verdict, in one line."""
    parts = []
    for verdict in Verdict:
        count = sum(c.found.verdict is verdict and not c.error for c in checked)
        parts += [verdict.counted(count)] if count else []
    errors = sum(bool(c.error) for c in checked)
    parts += [f"{errors} could not be checked"] if errors else []
    red = sum(c.red for c in checked)
    published = f"{red} not as published" if red else "all as published"
    return f"{plural(len(checked), 'claim')}: {', '.join(parts)}; {published}"


def _wrapped(text: str) -> list[str]:
    columns = min(shutil.get_terminal_size((100, 24)).columns, 100)
    return textwrap.wrap(text, columns - 4, initial_indent="    ", subsequent_indent="    ")
