"""How many threads the BLAS may use."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
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
