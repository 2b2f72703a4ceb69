"""What a run ran on: recorded with every session, shown by ``orthobench doctor``."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from orthobench._version import __version__

PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "matplotlib", "threadpoolctl", "pluggy")


def snapshot() -> dict[str, Any]:
    """Return versions, processor, BLAS and its threads, load and git state, in plain values."""
    return {
        "orthobench": __version__,
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "load": _load(),
        "packages": {name: version(name) for name in PACKAGES},
        "blas": blas(),
        "git": git_state(Path.cwd()),
    }


def version(distribution: str) -> str | None:
    """Return the version of an installed distribution, or None."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def cpu_model() -> str:
    """Return the processor's name as the system knows it."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def blas() -> list[dict[str, Any]]:
    """Return the BLAS libraries that are loaded, with their threads."""
    import numpy as np
    from threadpoolctl import threadpool_info

    np.dot(np.ones((2, 2)), np.ones((2, 2)))
    keys = ("internal_api", "version", "architecture", "num_threads")
    return [{key: pool.get(key) for key in keys} for pool in threadpool_info()]


def git_state(folder: Path) -> dict[str, Any] | None:
    """Return commit and cleanliness of the git checkout that `folder` lies in, or None."""
    commit = _git(folder, "rev-parse", "HEAD")
    if commit is None:
        return None
    return {"commit": commit, "dirty": bool(_git(folder, "status", "--porcelain"))}


def _git(folder: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words],  # noqa: S607 - fixed words, git from the path
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _load() -> list[float] | None:
    return [round(x, 2) for x in os.getloadavg()] if hasattr(os, "getloadavg") else None
