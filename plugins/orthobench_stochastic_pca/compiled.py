"""How kernels are compiled.

Division follows IEEE 754, without which loops that divide are not vectorized.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


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


def _compiled(function: F, **options: Any) -> F:
    compiled: F = njit(cache=True, error_model="numpy", **options)(function)
    return compiled
