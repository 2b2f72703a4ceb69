"""Examination of the installation: versions, plugins and the data cache, and their problems."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from orthobench.cli import import_time
from orthobench.compare.environments import MOST, cache_folder, kept_environments
from orthobench.errors import UsageError
from orthobench.registry.plugins import CHOICE, Plugin, Registry, catalogue
from orthobench.tools import distributions, environment
from orthobench.tools.array_libraries import LIBRARIES
from orthobench.tools.datasets import data_folder
from orthobench.tools.places import Place

EXTRAS = {
    "report": ("jinja2",),
    "export": ("pandas", "pyarrow"),
    "data": ("rdata",),
    "dask": ("distributed",),
    "hdf5": ("h5py",),
    "zarr": ("zarr",),
    "torch": ("torch",),
    "jax": ("jax",),
    "cupy": ("cupy-cuda12x",),
    "peers": ("pymanopt", "python-picard", "pyttb", "tensorly"),
    "peers-dask": ("dask-ml",),
    "peers-torch": ("geoopt", "pogo-torch", "torch"),
}
"""The packages of each extra, all of which it needs."""

SLOW = 0.5
"""The seconds from which on the import of a plugin is slow; every command waits for it."""


def examine() -> dict[str, Any]:
    """Return the environment, the plugins, the data cache, and their problems, as plain values."""
    snapshot = environment.snapshot()
    registry, choice = _registry()
    cache = data_folder()
    return {
        "environment": snapshot,
        "extras": {
            extra: {name: distributions.version(name) for name in names}
            for extra, names in EXTRAS.items()
        },
        "plugins": [f"{p.name} ({p.distribution} {p.version})" for p in registry.plugins],
        "places": dict(_places()),
        "not_on": dict(_absent_places()),
        "left_out": [plugin.name for plugin in registry.left_out],
        "slow": list(_slow(registry)),
        "solvers": len(registry.solvers),
        "problems_known": len(registry.problems),
        "data_cache": str(cache),
        "data_files": _files(cache),
        "environments": _environments(),
        "problems": [
            *choice,
            *(f"plugin {name!r} is broken: {why}" for name, why in registry.broken.items()),
            *_missing(snapshot),
            *_cache_problems(cache),
        ],
    }


def lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each fact, the problems last."""
    environment = report["environment"]
    packages = ", ".join(f"{name} {version}" for name, version in environment["packages"].items())
    facts = {
        "orthobench": f"{environment['orthobench']} on Python {environment['python']}",
        "platform": environment["platform"],
        "processor": f"{environment['cpu']}, {environment['cores']} cores",
        "load": environment["load"],
        "packages": packages,
        **{f"[{extra}]": _extra(extra, versions) for extra, versions in report["extras"].items()},
        "computes on": "; ".join(_place(*item) for item in report["places"].items()),
        "not on": "; ".join(f"{name} ({why})" for name, why in report["not_on"].items()) or "none",
        "GPUs": "; ".join(map(_gpu, environment["gpus"])) or "none that nvidia-smi tells of",
        "BLAS": "; ".join(_blas(pool) for pool in environment["blas"]),
        "plugins": ", ".join(report["plugins"]) or "none",
        "catalogue": f"{report['solvers']} solvers, {report['problems_known']} problems",
        "data cache": f"{report['data_cache']} ({len(report['data_files'])} files)",
        "comparisons": _kept(report["environments"]),
    }
    for name, value in facts.items():
        yield f"{click.style(f'{name:<11} ', bold=True)}{value}"
    if report["left_out"]:
        yield f"{click.style('left out    ', bold=True)}{', '.join(report['left_out'])} ({CHOICE})"
    for slow in report["slow"]:
        yield f"{click.style('slow        ', bold=True, fg='yellow')}{slow}"
    for problem in report["problems"]:
        yield f"{click.style('problem     ', bold=True, fg='red')}{problem}"
    if not report["problems"]:
        yield "no problems found"


def _registry() -> tuple[Registry, list[str]]:
    """Return what is installed, and the error in the choice of plugins, if any."""
    try:
        return catalogue(), []
    except UsageError as error:
        return Registry(), [str(error)]


def _slow(registry: Registry) -> Iterator[str]:
    """Yield a sentence about each plugin that is slow to import, also when imported again."""
    for plugin, seconds in registry.seconds.items():
        if seconds >= SLOW and plugin.module:
            again = import_time.measure(plugin.module.partition(":")[0])
            if again.seconds >= SLOW:
                yield _slowness(plugin, again)


def _slowness(plugin: Plugin, cost: import_time.ImportTime) -> str:
    """Return how slow an import is, with the package that takes most of it, and what to do."""
    slow = f"{plugin} takes {cost.seconds:.1f} s to import, for which every command waits"
    top = plugin.module.partition(":")[0].partition(".")[0]
    others = {n: s for n, s in cost.shares.items() if n != top}
    heaviest = max(others, key=others.__getitem__, default="")
    if others.get(heaviest, 0) < cost.seconds / 4:
        return f"{slow}: do that work inside the functions that need it"
    share = f"{others[heaviest]:.1f} s for {heaviest}"
    return f"{slow}, {share}: import it inside the functions that use it"


def _extra(extra: str, versions: Mapping[str, str | None]) -> str:
    absent = [name for name, version in versions.items() if version is None]
    if absent:
        return f"lacks {', '.join(absent)}: pip install 'orthobench[{extra}]'"
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _places() -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield the places where solvers can compute here, with what results depend on."""
    for place in _devices():
        if place.missing() is None:
            yield str(place), place.facts()
    for reduction in ("blocks", "dask:2"):
        place = Place(reduction=reduction)
        if place.missing() is None:
            yield str(place), place.facts()


def _absent_places() -> Iterator[tuple[str, str]]:
    """Yield the devices where nothing can be computed here, with the reason."""
    for place in _devices():
        if why := place.missing():
            yield str(place), why


def _devices() -> list[Place]:
    return [Place(name, device) for name, one in LIBRARIES.items() for device in one.devices]


def _gpu(facts: Mapping[str, str]) -> str:
    return f"{facts['name']}, {facts['memory']}, driver {facts['driver']}"


def _place(name: str, facts: Mapping[str, str]) -> str:
    versions = ", ".join(f"{key} {value}" for key, value in facts.items())
    return f"{name} ({versions})" if versions else name


def _blas(pool: Mapping[str, Any]) -> str:
    kind = f"{pool['internal_api']} {pool['version']}"
    return f"{kind} ({pool['architecture']}, {pool['num_threads']} threads)"


def _files(cache: Path) -> list[str]:
    readable = cache.is_dir() and not _cache_problems(cache)
    return sorted(path.name for path in cache.iterdir() if path.is_file()) if readable else []


def _environments() -> dict[str, Any]:
    """Return what `orthobench compare` keeps."""
    folder = cache_folder()
    kept = kept_environments(folder)
    return {"folder": str(folder), "count": len(kept), "bytes": sum(kept.values())}


def _kept(found: Mapping[str, Any]) -> str:
    size = f"{found['bytes'] / 1e6:.0f} MB of at most {MOST / 1e6:.0f} MB"
    return f"{found['folder']} ({found['count']}, {size}; remove the folder to clear it)"


def _missing(snapshot: Mapping[str, Any]) -> list[str]:
    absent = [name for name, version in snapshot["packages"].items() if version is None]
    return [f"{name} is not installed: pip install orthobench" for name in absent]


def _cache_problems(cache: Path) -> list[str]:
    if cache.exists() and not cache.is_dir():
        return [f"the data cache {cache} is not a folder"]
    if cache.exists() and not os.access(cache, os.R_OK | os.X_OK):
        return [f"the data cache {cache} cannot be read"]
    return []
