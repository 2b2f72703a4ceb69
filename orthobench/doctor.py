"""The installation, examined: what is there, and what is wrong with it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from orthobench import environment
from orthobench.datasets import cache_folder
from orthobench.registry import catalogue

EXTRAS = {
    "report": ("jinja2", "plotly"),
    "export": ("pandas", "pyarrow"),
    "data": ("rdata",),
    "dask": ("distributed",),
    "peers": ("pymanopt", "pyttb", "tensorly"),
}
"""What each extra of the distribution brings; without one of them that extra does not work."""


def examine() -> dict[str, Any]:
    """Return the environment, the plugins and the data cache, and the problems found."""
    snapshot = environment.snapshot()
    registry = catalogue()
    cache = cache_folder()
    return {
        "environment": snapshot,
        "extras": {
            extra: {name: environment.version(name) for name in names}
            for extra, names in EXTRAS.items()
        },
        "plugins": [f"{p.name} ({p.distribution} {p.version})" for p in registry.plugins],
        "solvers": len(registry.solvers),
        "problems_known": len(registry.problems),
        "data_cache": str(cache),
        "data_files": _files(cache),
        "problems": [*_broken(registry.broken), *_missing(snapshot), *_cache(cache)],
    }


def lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the report, a line a fact, the problems last."""
    environment = report["environment"]
    packages = ", ".join(f"{name} {version}" for name, version in environment["packages"].items())
    facts = {
        "orthobench": f"{environment['orthobench']} on Python {environment['python']}",
        "platform": environment["platform"],
        "processor": f"{environment['cpu']}, {environment['cores']} cores",
        "load": environment["load"],
        "packages": packages,
        **{f"[{extra}]": _extra(extra, versions) for extra, versions in report["extras"].items()},
        "BLAS": "; ".join(_blas(pool) for pool in environment["blas"]),
        "plugins": ", ".join(report["plugins"]),
        "catalogue": f"{report['solvers']} solvers, {report['problems_known']} problems",
        "data cache": f"{report['data_cache']} ({len(report['data_files'])} files)",
    }
    for name, value in facts.items():
        yield f"{click.style(f'{name:<12}', bold=True)}{value}"
    for problem in report["problems"]:
        yield f"{click.style('problem     ', bold=True, fg='red')}{problem}"
    if not report["problems"]:
        yield "no problems found"


def _extra(extra: str, versions: Mapping[str, str | None]) -> str:
    absent = [name for name, version in versions.items() if version is None]
    if absent:
        return f"lacks {', '.join(absent)}: pip install 'orthobench[{extra}]'"
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _blas(pool: Mapping[str, Any]) -> str:
    kind = f"{pool['internal_api']} {pool['version']}"
    return f"{kind} ({pool['architecture']}, {pool['num_threads']} threads)"


def _files(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.iterdir()) if cache.is_dir() else []


def _broken(broken: Mapping[str, str]) -> list[str]:
    return [f"plugin {name!r} is broken: {why}" for name, why in broken.items()]


def _missing(snapshot: Mapping[str, Any]) -> list[str]:
    absent = [name for name, version in snapshot["packages"].items() if version is None]
    return [f"{name} is not installed: pip install orthobench" for name in absent]


def _cache(cache: Path) -> list[str]:
    if cache.exists() and not os.access(cache, os.R_OK):
        return [f"the data cache {cache} cannot be read"]
    return []
