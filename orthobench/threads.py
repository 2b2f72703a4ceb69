"""How many threads the BLAS may use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def limited(threads: int) -> Iterator[None]:
    """Hold every BLAS of the process to `threads` threads.

    Only a library that is loaded can be held. SciPy brings a BLAS of its own, which compiled
    kernels call; it is loaded first, or the first run of a process would escape.
    """
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_limits

    with threadpool_limits(threads):
        yield
