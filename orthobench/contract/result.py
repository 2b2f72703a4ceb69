"""Results: a solution for its user, as arrays with names, meanings and units."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import get_type_hints

import numpy as np

SHOWN = 3
"""Maximum number of entries of a vector that a `repr` shows."""


@dataclass(frozen=True, repr=False, eq=False)
class Result:
    """Base of the results of families.

    Subclasses are frozen dataclasses with ``repr=False, eq=False`` and at most ten fields, each
    annotated with its meaning and unit:
    ``variance: Annotated[Array, "unit of X squared, divisor n - 1"]``.
    """

    def __repr__(self) -> str:
        hints = get_type_hints(type(self), include_extras=True)
        names = [f.name for f in fields(self)]
        rows = [(n, _shown(getattr(self, n)), hints[n].__metadata__[0]) for n in names]
        name, value = (max(len(row[i]) for row in rows) for i in (0, 1))
        lines = [f"  {row[0]:{name}}  {row[1]:{value}}  {row[2]}" for row in rows]
        return "\n".join([type(self).__name__, *lines])


def _shown(value: object) -> str:
    """Return the shape of an array, with the first entries of a vector; other values as text."""
    if not isinstance(value, np.ndarray):
        return str(value)
    if value.ndim != 1:
        return str(value.shape)
    first = ", ".join(f"{entry:.4g}" for entry in value[:SHOWN])
    return f"{value.shape}: {first}{', ...' if len(value) > SHOWN else ''}"
