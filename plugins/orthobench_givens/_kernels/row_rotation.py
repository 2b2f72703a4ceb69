"""The rotation of two rows, which all kernels of this plugin are built on."""

from __future__ import annotations

from orthobench.contract import Array
from orthobench.tools.compiled import kernel


@kernel
def rotate_rows(x: Array, y: Array, cosine: float, sine: float) -> None:
    """Rotate two vectors in their plane: x <- cosine x + sine y, y <- cosine y - sine x.

    Parameters
    ----------
    x, y : ndarray, shape (n,)
        Rotated in place.
    cosine, sine : float
        Of the angle.

    Notes
    -----
    6n flops.
    """
    for k in range(len(x)):
        a, b = x[k], y[k]
        x[k] = cosine * a + sine * b
        y[k] = cosine * b - sine * a
