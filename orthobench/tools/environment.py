"""The environment of runs: versions, processors, BLAS, git; stores keep it, `doctor` shows it."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from orthobench._version import __version__
from orthobench.tools.distributions import version
from orthobench.tools.git import GitError, git

PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "matplotlib", "threadpoolctl", "pluggy")
"""The distributions whose versions are recorded."""

GPU_FACTS = {"name": "name", "memory": "memory.total", "driver": "driver_version"}
"""What nvidia-smi is asked about each GPU."""


def snapshot() -> dict[str, Any]:
    """Return versions, processor, GPUs, load, BLAS libraries and git state, as plain values."""
    return {
        "orthobench": __version__,
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "gpus": gpus(),
        "load": _load(),
        "packages": {name: version(name) for name in PACKAGES},
        "blas": _blas_libraries(),
        "git": _git_state(Path.cwd()),
    }


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def gpus() -> list[dict[str, str]]:
    """Return name, memory and driver of each GPU, as nvidia-smi tells them; none without it."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    asked = f"--query-gpu={','.join(GPU_FACTS.values())}"
    command = [program, asked, "--format=csv,noheader"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return []
    rows = [line.split(", ") for line in told.stdout.splitlines()]
    return [dict(zip(GPU_FACTS, row, strict=True)) for row in rows if len(row) == len(GPU_FACTS)]


def _blas_libraries() -> list[dict[str, Any]]:
    """Return the BLAS libraries and thread pools that are loaded, with their threads."""
    import numpy as np
    from threadpoolctl import threadpool_info

    np.dot(np.ones((2, 2)), np.ones((2, 2)))
    keys = ("internal_api", "version", "architecture", "num_threads")
    return [{key: pool.get(key) for key in keys} for pool in threadpool_info()]


def _git_state(folder: Path) -> dict[str, Any] | None:
    """Return the commit of the checkout around a folder, and whether it has changes, or None."""
    commit = _git(folder, "rev-parse", "HEAD")
    if commit is None:
        return None
    return {"commit": commit, "dirty": bool(_git(folder, "status", "--porcelain"))}


def _git(folder: Path, *words: str) -> str | None:
    try:
        return git(folder, *words, timeout=5)
    except (OSError, GitError):
        return None


def _load() -> list[float] | None:
    return [round(x, 2) for x in os.getloadavg()] if hasattr(os, "getloadavg") else None
