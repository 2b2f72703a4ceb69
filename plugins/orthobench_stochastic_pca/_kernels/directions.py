"""The kernel of CCIPCA."""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array
from orthobench.tools.compiled import kernel
from orthobench_stochastic_pca._kernels.dense import axpy, dot
from orthobench_stochastic_pca._kernels.span import TINY


@kernel
def turn(V: Array, samples: Array, before: int, amnesic: float) -> None:
    """Turn directions towards samples, one after the other, in place.

    Parameters
    ----------
    V : ndarray, shape (k, d), C order
        Directions, of zeros where there is none yet.
    samples : ndarray, shape (count, d), C order
    before : int
        Number of samples before these.
    amnesic : float
        How much more than earlier ones a sample counts.

    Notes
    -----
    14dk flops a sample.

    References
    ----------
    Weng, Zhang and Hwang 2003, Algorithm 1.
    """
    k, d = V.shape
    u = np.empty(d)
    for t in range(len(samples)):
        n = before + t + 1
        extra = amnesic if n > amnesic + 1.0 else 0.0
        for j in range(d):
            u[j] = samples[t, j]
        for i in range(min(k, n)):
            v = V[i]
            square = dot(v, v, d)
            if square <= TINY:  # it has none yet, and takes what is left of the sample
                for j in range(d):
                    v[j] = u[j]
                break
            along = (1.0 + extra) / n * dot(u, v, d) / np.sqrt(square)
            for j in range(d):
                v[j] *= (n - 1.0 - extra) / n
            axpy(along, u, v, d)
            square = dot(v, v, d)
            if square > TINY:
                axpy(-dot(u, v, d) / square, v, u, d)
