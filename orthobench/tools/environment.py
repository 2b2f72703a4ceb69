"""The environment of runs: versions, processors, BLAS and its threads, git."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

from orthobench._version import __version__

PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "matplotlib", "threadpoolctl")
"""Distributions whose versions are recorded."""


@cache
def version(distribution: str) -> str | None:
    """Return the version of an installed distribution, or None."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def snapshot() -> dict[str, Any]:
    """Return versions, processor, load, BLAS libraries and git state, as plain values."""
    import platform

    return {
        "orthobench": __version__,
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "cpu": _cpu_model() or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "load": [round(x, 2) for x in os.getloadavg()] if hasattr(os, "getloadavg") else None,
        "packages": {name: version(name) for name in PACKAGES},
        "blas": _blas_libraries(),
        "git": _git_state(Path.cwd()),
    }


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next((ln.partition(":")[2].strip() for ln in lines if ln.startswith("model name")), "")


def _blas_libraries() -> list[dict[str, Any]]:
    """Return the BLAS libraries and thread pools that are loaded, with their threads."""
    keys = ("internal_api", "version", "architecture", "num_threads")
    return [{key: pool.get(key) for key in keys} for pool in _pools()]


def _git_state(folder: Path) -> dict[str, Any] | None:
    """Return the commit of the checkout around a folder, and whether it has changes, or None."""
    from orthobench.tools.git import GitError, git

    try:
        head, *told = git(folder, "status", "--porcelain=v2", "--branch", timeout=5).splitlines()
    except (OSError, GitError):
        return None
    commit = head.removeprefix("# branch.oid ")
    dirty = any(not line.startswith("#") for line in told)
    return None if commit == "(initial)" else {"commit": commit, "dirty": dirty}


SOURCES = ("source", "source code", "repository", "code", "github", "homepage", "home")
"""Labels of the address of a project's code, the most specific first."""


@cache
def published(distribution: str) -> tuple[str, str]:
    """Return the address of the code and the licence of an installed distribution."""
    try:
        told = metadata.metadata(distribution).get_all
    except metadata.PackageNotFoundError:
        return "", ""
    links = [link.partition(", ")[::2] for link in told("Project-URL", [])]
    links += [("home", url) for url in told("Home-page", [])]
    known = {label.lower(): url for label, url in links}
    classes = (one.split(" :: ") for one in told("Classifier", []))
    licences = [*told("License-Expression", []), *(p[-1] for p in classes if p[0] == "License")]
    return next((known[name] for name in SOURCES if name in known), ""), "".join(licences[:1])


@contextmanager
def limited(threads: int) -> Iterator[None]:
    """Limit every BLAS library of the process to a number of threads in this context."""
    import scipy.linalg  # noqa: F401 - only loaded libraries can be limited

    with _controller(len(sys.modules)).limit(limits=threads):
        yield


@lru_cache(maxsize=1)
def _controller(_modules: int) -> Any:
    """Return a controller of the loaded libraries; a new one after further imports."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def cores() -> int:
    """Return the number of physical cores that this process may use."""
    if not hasattr(os, "sched_getaffinity"):
        return os.cpu_count() or 1
    return len({_siblings(number) for number in os.sched_getaffinity(0)})


def _siblings(number: int) -> str:
    """Return the processors that share a core with one."""
    file = Path(f"/sys/devices/system/cpu/cpu{number}/topology/thread_siblings_list")
    return file.read_text() if file.exists() else str(number)


@cache
def blas_libraries() -> tuple[str, ...]:
    """Return the BLAS libraries with versions and architectures; bits depend on them."""
    pools = [pool for pool in _pools() if pool.get("user_api") == "blas"]
    parts = ("internal_api", "version", "architecture")
    return tuple(sorted({" ".join(str(pool.get(part)) for part in parts) for pool in pools}))


def _pools() -> Any:
    """Return the thread pools of this process, with the BLAS of NumPy and of SciPy."""
    import numpy as np
    import scipy.linalg  # noqa: F401 - loads its BLAS
    from threadpoolctl import threadpool_info

    np.dot(np.ones((2, 2)), np.ones((2, 2)))
    return threadpool_info()
