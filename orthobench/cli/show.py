"""The command ``orthobench show``."""

from __future__ import annotations

from pathlib import Path

import click

from orthobench.cli.options import AS_JSON, SUITE_OF_STORE, TOLERANCE
from orthobench.cli.printing import print_facts, print_results


@click.command()
@click.argument("name")
@SUITE_OF_STORE
@TOLERANCE
@AS_JSON
def show(name: str, suite: str | None, tolerance: float | None, as_json: bool) -> None:
    """Show a solver, problem or suite, or the results in a store.

    NAME is a solver, problem or suite, or the path of a store or of the folder with its
    results.sqlite. The exit code is 0 also if runs failed.
    """
    from orthobench.results.results import Results, store_at

    if store_at(Path(name)).is_file() or name.endswith(".sqlite"):  # the latter may be absent
        print_results(Results.read(name, suite, tolerance), None, as_json, tables=True)
    elif suite or tolerance:
        raise click.UsageError(f"--suite and --tolerance are for a store, which {name!r} is not")
    else:
        from orthobench.registry.plugins import catalogue
        from orthobench.report.terminal import listing

        facts = listing.details(catalogue(), name)
        if facts["kind"] == "solver":
            from orthobench.atlas.answers import opened

            facts["record"] = opened(None, rows=False).about.get("records", {}).get(name, "")
        print_facts(facts, as_json, listing.page)
