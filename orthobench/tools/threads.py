"""The BLAS libraries of the process, and the number of their threads."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
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


@cache
def blas_libraries() -> tuple[str, ...]:
    """Return the BLAS libraries with versions and architectures, on which the bits depend."""
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info

    pools = [pool for pool in threadpool_info() if pool.get("user_api") == "blas"]
    parts = ("internal_api", "version", "architecture")
    return tuple(sorted({" ".join(str(pool.get(part)) for part in parts) for pool in pools}))
