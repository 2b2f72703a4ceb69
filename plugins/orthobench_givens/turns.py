"""The rotation of two rows, which all kernels of this plugin are made of."""

from __future__ import annotations

from orthobench.contract import Array
from orthobench.tools.compiled import inner


@inner
def turn(x: Array, y: Array, cosine: float, sine: float) -> None:
    """Set x <- cosine x + sine y and y <- cosine y - sine x; 6 flops an entry."""
    for k in range(len(x)):
        a, b = x[k], y[k]
        x[k] = cosine * a + sine * b
        y[k] = cosine * b - sine * a
