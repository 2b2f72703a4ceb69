"""How kernels are compiled, and where the machine code is kept.

Division follows IEEE 754, without which loops that divide are not vectorized.

Numba keys its cache by the file of a kernel, and does not notice that a kernel in another file,
which is compiled into it, has changed. So the cache of this plugin lies in a folder named by a
digest of all its sources: after an upgrade everything is compiled anew, and nothing stale runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])

config: Any = numba.config


def kernel(function: F) -> F:
    """Compile a kernel."""
    return _compiled(function)


def inner(function: F) -> F:
    """Compile a kernel that only kernels call; calling it from Python crashes.

    Without an entry point from Python it compiles a tenth faster.
    """
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def summed(function: F) -> F:
    """Compile a kernel whose sums may be taken in any order, so that they vectorize.

    Nothing else in it may depend on the order of operations.
    """
    return _compiled(function, fastmath={"reassoc", "contract"})


def _cache_folder() -> str:
    here = Path(__file__).parent
    sources = hashlib.sha256()
    for path in sorted(here.glob("*.py")):
        sources.update(path.read_bytes())
    base = Path(config.CACHE_DIR) if config.CACHE_DIR else here / "__pycache__"
    return str(base / f"kernels-{sources.hexdigest()[:16]}")


CACHE = _cache_folder()


def _compiled(function: F, **options: Any) -> F:
    """Compile on first call; numba reads the folder of the cache when it is told to use one."""
    others, config.CACHE_DIR = config.CACHE_DIR, CACHE
    try:
        compiled: F = numba.njit(cache=True, error_model="numpy", **options)(function)
    finally:
        config.CACHE_DIR = others
    return compiled
