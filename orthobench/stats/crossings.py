"""Sizes at which one of two costs overtakes the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise


def crossings(sizes: Sequence[float], ratios: Sequence[float]) -> list[float]:
    """Return the sizes at which a ratio is one, between two sizes or at one of them.

    Between two sizes the logarithm of the ratio is taken to be linear in that of the size, as it is
    where both costs are powers of the size.

    Parameters
    ----------
    sizes : sequence of float
        Positive, ascending.
    ratios : sequence of float
        Positive; those that are not finite are left out, with their sizes.

    Examples
    --------
    >>> crossings([10, 1000], [0.1, 10])
    [100.0]
    """
    known = [
        (math.log(size), math.log(ratio))
        for size, ratio in zip(sizes, ratios, strict=True)
        if math.isfinite(ratio)
    ]
    at = [x for x, y in known if y == 0]
    at += [x - y * (x_after - x) / (y_after - y)
           for (x, y), (x_after, y_after) in pairwise(known) if y * y_after < 0]  # fmt: skip
    return [float(f"{math.exp(x):.12g}") for x in sorted(at)]
