"""The command ``orthobench doctor``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import click

from orthobench.cli.options import AS_JSON
from orthobench.cli.printing import FAILED, print_facts, wrapped


@click.command()
@AS_JSON
def doctor(as_json: bool) -> None:
    """Check the installation.

    Print versions, BLAS, threads, the data cache, the plugins and their errors. The exit code is 1
    if there are problems.
    """
    facts = examine()
    print_facts(facts, as_json, lines)
    sys.exit(FAILED if facts["problems"] else 0)


def examine() -> dict[str, Any]:
    """Return the environment, the plugins, the data cache, and their problems, as plain values."""
    from orthobench.registry.plugins import catalogue
    from orthobench.tools import environment
    from orthobench.tools.array_libraries import LIBRARIES
    from orthobench.tools.datasets import data_folder
    from orthobench.tools.places import Place

    registry, cache = catalogue(), data_folder()
    places = [Place(name, device) for name, one in LIBRARIES.items() for device in one.devices]
    places += [Place(reduction=reduction) for reduction in ("blocks", "dask:2")]
    missing = {place: place.missing() for place in places}
    papers = [*registry.papers]  # is read before the broken ones
    problems = [f"{name!r} is broken: {why}" for name, why in registry.broken.items()]
    readable = cache.is_dir() and os.access(cache, os.R_OK | os.X_OK)
    if cache.exists() and not readable:
        problems.append(f"the data cache {cache} is no folder that can be read")
    return {
        "environment": environment.snapshot(),
        "plugins": [f"{p.name} ({p.distribution} {p.version})" for p in registry.plugins],
        "papers": papers,
        "places": {str(place): place.facts() for place, why in missing.items() if why is None},
        "not_on": {str(place): why for place, why in missing.items() if why},
        "data_cache": str(cache),
        "data_files": sorted(p.name for p in cache.iterdir() if p.is_file()) if readable else [],
        "problems": problems,
    }


def lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield a paragraph for each fact, the problems last."""
    for name, value in _facts(report):
        text = wrapped(f"{name:<11} {value}", 12).removeprefix(name)
        yield click.style(name, bold=True, fg="red" if name == "problem" else None) + text
    if report["problems"]:
        yield "next: correct each problem, and call orthobench doctor again"
    else:
        yield "no problems found\nnext: orthobench run makes a first comparison"


def _facts(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    environment = report["environment"]
    yield "orthobench", f"{environment['orthobench']} on Python {environment['python']}"
    yield "platform", environment["platform"]
    yield "processor", f"{environment['cpu']}, {environment['cores']} cores"
    yield "load", str(environment["load"])
    yield "packages", _versions(environment["packages"])
    places = (f"{name} ({_versions(facts)})" for name, facts in report["places"].items())
    yield "computes on", "; ".join(places).replace(" ()", "")
    yield "not on", "; ".join(f"{name} ({why})" for name, why in report["not_on"].items()) or "none"
    blas = "{internal_api} {version} ({architecture}, {num_threads} threads)"
    yield "BLAS", "; ".join(blas.format(**pool) for pool in environment["blas"])
    yield "plugins", ", ".join(report["plugins"]) or "none"
    yield "papers", ", ".join(report["papers"]) or "none"
    yield "data cache", f"{report['data_cache']} ({len(report['data_files'])} files)"
    yield from (("problem", problem) for problem in report["problems"])


def _versions(facts: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {version}" for name, version in facts.items())
