"""The BLAS libraries of the process, and the number of their threads."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any


@contextmanager
def limited(threads: int) -> Iterator[None]:
    """Limit every BLAS library of the process to a number of threads meanwhile.

    Only libraries that are loaded can be limited. SciPy brings a BLAS of its own, which compiled
    kernels call; so it is loaded first.
    """
    import scipy.linalg  # noqa: F401

    with _controller(len(sys.modules)).limit(limits=threads):
        yield


@lru_cache(maxsize=1)
def _controller(modules: int) -> Any:
    """Return a controller of the libraries loaded; a new one once more modules are imported."""
    del modules
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def cores() -> int:
    """Return how many physical cores this process may use; threads of one core count once."""
    if not hasattr(os, "sched_getaffinity"):
        return os.cpu_count() or 1
    usable = os.sched_getaffinity(0)
    return len({_siblings(number) for number in usable})


def _siblings(number: int) -> str:
    """Return the processors that share the core of one, as Linux lists them."""
    topology = Path(f"/sys/devices/system/cpu/cpu{number}/topology")
    try:
        return (topology / "thread_siblings_list").read_text()
    except OSError:
        return str(number)


@cache
def blas_libraries() -> tuple[str, ...]:
    """Return the BLAS libraries with versions and architectures, on which the bits depend."""
    from threadpoolctl import threadpool_info

    _load_blas()
    pools = [pool for pool in threadpool_info() if pool.get("user_api") == "blas"]
    parts = ("internal_api", "version", "architecture")
    return tuple(sorted({" ".join(str(pool.get(part)) for part in parts) for pool in pools}))


def _load_blas() -> None:
    """Load the BLAS libraries of NumPy and SciPy, the latter without SciPy where it brings one."""
    import numpy as np

    np.dot(np.ones((2, 2)), np.ones((2, 2)))
    spec = find_spec("scipy")
    folder = Path(spec.origin).parent.with_name("scipy.libs") if spec and spec.origin else None
    libraries = sorted(folder.glob("*openblas*.so*")) if folder else []
    if len(libraries) == 1:
        import ctypes

        ctypes.CDLL(str(libraries[0]))
    else:
        import scipy.linalg  # noqa: F401
