"""The command ``orthobench list``."""

from __future__ import annotations

from typing import Any

import click

from orthobench.cli.options import AS_JSON
from orthobench.cli.printing import print_facts, say

KINDS = ("solvers", "problems", "suites", "plugins")


@click.command()
@click.argument("words", nargs=-1, metavar="[KIND] [WORD]...")
@AS_JSON
def list(words: tuple[str, ...], as_json: bool) -> None:  # noqa: A001 - as it is typed
    """List and count solvers, problems, suites and plugins.

    KIND is solvers, problems, suites or plugins  [default: all]. With words, list only what has
    them in its name, its family or its summary.

    \b
    orthobench list
    orthobench list solvers sparse-PCA
    orthobench list oja
    """  # noqa: D301 - click reads the backspace
    from orthobench.registry.plugins import catalogue
    from orthobench.report.terminal import listing
    from orthobench.tools.formatting import plural

    sought = [word.lower().replace("-", " ") for word in words if word not in KINDS]
    found = {}
    for kind, rows in listing.facts(catalogue()).items():
        if kind in words or not {*KINDS} & {*words}:
            found[kind] = [row for row in rows if all(word in _text(row) for word in sought)]
    if not as_json:
        counts = (plural(len(rows), kind.removesuffix("s")) for kind, rows in found.items())
        say(f"{', '.join(counts)}\n")
    print_facts(found, as_json, listing.tables)


def _text(row: dict[str, Any]) -> str:
    families = [row.get("family", ""), *row.get("families", ())]
    return " ".join([row["name"], *families, row["summary"]]).lower().replace("-", " ")
