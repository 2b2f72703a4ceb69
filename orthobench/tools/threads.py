"""How many threads the BLAS may use."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import Any


@contextmanager
def limited(threads: int) -> Iterator[None]:
    """Hold every BLAS of the process to `threads` threads.

    Only a library that is loaded can be held. SciPy brings a BLAS of its own, which compiled
    kernels call; it is loaded first, or the first run of a process would escape.
    """
    import scipy.linalg  # noqa: F401

    with _controller(len(sys.modules)).limit(limits=threads):
        yield


@lru_cache(maxsize=1)
def _controller(modules: int) -> Any:
    """Return a view of the loaded libraries: made anew where modules were imported since."""
    del modules
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@cache
def blas() -> tuple[str, ...]:
    """Return the BLAS of numpy and that of scipy, with version and kernels: what sets the bits."""
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info

    pools = [pool for pool in threadpool_info() if pool.get("user_api") == "blas"]
    parts = ("internal_api", "version", "architecture")
    return tuple(sorted({" ".join(str(pool.get(part)) for part in parts) for pool in pools}))
