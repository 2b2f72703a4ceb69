"""Sparse matrices of users for methods that need all entries."""

from __future__ import annotations

import math
from typing import Any

from orthobench.errors import DataError
from orthobench_kit.sparse import checked_sparse, is_sparse

MOST_BYTES = 2**31
"""Maximum size of a sparse matrix that is made dense, in bytes of float64."""


def densified(data: Any, what: str) -> Any:
    """Return a sparse matrix as an array, and other data as they are.

    ``what`` is its name in messages, in the plural. DataError if it is damaged, or takes more than
    `MOST_BYTES`.
    """
    if not is_sparse(data):
        return data
    size = 8 * math.prod(data.shape)
    if size > MOST_BYTES:
        raise DataError(
            f"{what} are a sparse matrix of shape {data.shape}, of {size:,} bytes as an "
            f"array; at most {MOST_BYTES:,} are made dense here: leave out rows or columns"
        )
    return checked_sparse(data, what).toarray()
