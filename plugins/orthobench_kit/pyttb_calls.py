"""Helpers for pyttb."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from inspect import signature
from typing import Any

import numpy as np

from orthobench.contract import Array, flops

PACKAGES = ("pyttb",)


def gram_flops(n: int, columns: int) -> int:
    """Return the flops of left singular vectors by Gram matrix."""
    return flops.gemm(n, n, columns) + flops.eigh(n)


def tensor_of(T: Array) -> Any:
    """Return a copy of a tensor, in Fortran order."""
    from pyttb import tensor

    return tensor(T)


@contextmanager
def fixed_arpack_start() -> Iterator[None]:
    """Let ARPACK start from the same vector in every call."""
    from unittest.mock import patch

    from scipy.sparse import linalg

    original = linalg.eigsh
    seeded = "rng" in signature(original).parameters

    def eigsh(A: Array, k: int) -> Any:
        v0 = np.random.default_rng(0).uniform(-1, 1, len(A))
        fixed = partial(original, v0=v0, rng=0) if seeded else partial(original, v0=v0)
        return fixed(A, k)

    with patch.object(linalg, "eigsh", eigsh):
        yield
