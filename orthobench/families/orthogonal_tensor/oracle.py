"""The oracle of orthogonal tensor decomposition: the tensor."""

from __future__ import annotations

import numpy as np

from orthobench.contract.problem import Oracle
from orthobench.tools.arrays import Array


class TensorOracle(Oracle):
    """A symmetric (n, n, n) tensor, of which n orthonormal factors are sought: k = n.

    Parameters
    ----------
    T : ndarray, shape (n, n, n)
        Symmetric, exactly: `symmetrized` returns it so. Do not write into it.
    """

    def __init__(self, T: Array) -> None:
        self.T = np.ascontiguousarray(T).view()
        self.T.flags.writeable = False
        self.n = self.k = len(T)
