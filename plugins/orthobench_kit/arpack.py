"""ARPACK by scipy, with equal bits for equal inputs.

After an invariant subspace ARPACK draws a random vector, which scipy does not seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from inspect import signature, unwrap
from typing import Any

import numpy as np

from orthobench.contract import Array


def leading_eigenpairs(
    A: Any, k: int, rng: np.random.Generator, **options: Any
) -> tuple[Array, Array]:
    """Return the k largest eigenpairs of a symmetric operator, descending."""
    values, vectors = _seeded(rng)(A, k, which="LA", **options)
    order = np.argsort(values)[::-1]
    return values[order], vectors[:, order]


@contextmanager
def restarting_with(rng: np.random.Generator) -> Iterator[None]:
    """Let scipy's svds use a generator."""
    from unittest.mock import patch

    from scipy.sparse.linalg import svds

    with patch.dict(unwrap(svds).__globals__, eigsh=_seeded(rng)):
        yield


def _seeded(rng: np.random.Generator) -> Any:
    from scipy.sparse.linalg import eigsh

    return partial(eigsh, rng=rng) if "rng" in signature(eigsh).parameters else eigsh
