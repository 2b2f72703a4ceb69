"""Examination of the installation: versions, plugins and the data cache, and their problems."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import click

from orthobench.cli.printing import wrapped
from orthobench.registry.plugins import catalogue
from orthobench.tools import environment
from orthobench.tools.array_libraries import LIBRARIES
from orthobench.tools.datasets import data_folder
from orthobench.tools.places import Place

DEVELOPMENT = ("bench", "dev", "docs", "mutation", "test")
"""The extras that only those who change orthobench need."""

COLOURS = {"problem": "red"}


def examine() -> dict[str, Any]:
    """Return the environment, the plugins, the data cache, and their problems, as plain values."""
    registry, problems = catalogue(), []
    snapshot, cache = environment.snapshot(), data_folder()
    places = [Place(name, device) for name, one in LIBRARIES.items() for device in one.devices]
    places += [Place(reduction=reduction) for reduction in ("blocks", "dask:2")]
    missing = {place: place.missing() for place in places}
    problems += [f"{name!r} is broken: {why}" for name, why in registry.broken.items()]
    problems += [
        f"{name} is not installed: pip install orthobench"
        for name, version in snapshot["packages"].items()
        if version is None
    ]
    unreadable = cache.exists() and not os.access(cache, os.R_OK | os.X_OK)
    if unreadable or cache.is_file():
        problems.append(f"the data cache {cache} is no folder that can be read")
    files = (
        [] if unreadable or not cache.is_dir() else sorted(filter(Path.is_file, cache.iterdir()))
    )
    return {
        "environment": snapshot,
        "extras": {
            extra: {name: environment.version(name) for name in names}
            for extra, names in extras().items()
        },
        "plugins": [f"{p.name} ({p.distribution} {p.version})" for p in registry.plugins],
        "places": {str(place): place.facts() for place, why in missing.items() if why is None},
        "not_on": {str(place): why for place, why in missing.items() if why},
        "solvers": len(registry.solvers),
        "problems_known": len(registry.problems),
        "data_cache": str(cache),
        "data_files": [path.name for path in files],
        "problems": problems,
    }


def extras() -> dict[str, list[str]]:
    """Return the packages that each extra adds, as the distribution declares them."""
    found: dict[str, list[str]] = {}
    for text in requires("orthobench") or ():
        name, extra = re.split(r"[^\w.-]", text)[0], text.partition("extra == ")[2][1:-1]
        if name != "orthobench" and extra not in ("", *DEVELOPMENT):
            found.setdefault(extra, []).append(name)
    return found


def lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield a paragraph for each fact, the problems last."""
    for name, value in _facts(report):
        text = wrapped(f"{name:<11} {value}", 12).removeprefix(name)
        yield click.style(name, bold=True, fg=COLOURS.get(name)) + text
    if report["problems"]:
        yield "next: do what each problem says, and ask again"
    else:
        yield "no problems found\nnext: orthobench run makes a first comparison"


def _facts(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    environment = report["environment"]
    yield "orthobench", f"{environment['orthobench']} on Python {environment['python']}"
    yield "platform", environment["platform"]
    yield "processor", f"{environment['cpu']}, {environment['cores']} cores"
    yield "load", str(environment["load"])
    yield "packages", _versions(environment["packages"])
    for extra, versions in report["extras"].items():
        absent = ", ".join(name for name, version in versions.items() if version is None)
        lacks = f"lacks {absent}: pip install 'orthobench[{extra}]'"
        yield f"[{extra}]", lacks if absent else _versions(versions)
    places = (f"{name} ({_versions(facts)})" for name, facts in report["places"].items())
    yield "computes on", "; ".join(places).replace(" ()", "")
    yield "not on", "; ".join(f"{name} ({why})" for name, why in report["not_on"].items()) or "none"
    gpus = [f"{g['name']}, {g['memory']}, driver {g['driver']}" for g in environment["gpus"]]
    yield "GPUs", "; ".join(gpus) or "none that nvidia-smi tells of"
    yield (
        "BLAS",
        "; ".join(
            "{internal_api} {version} ({architecture}, {num_threads} threads)".format(**pool)
            for pool in environment["blas"]
        ),
    )
    yield "plugins", ", ".join(report["plugins"]) or "none"
    yield "catalogue", f"{report['solvers']} solvers, {report['problems_known']} problems"
    yield "data cache", f"{report['data_cache']} ({len(report['data_files'])} files)"
    yield from (("problem", problem) for problem in report["problems"])


def _versions(facts: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {version}" for name, version in facts.items())
