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
        Symmetric to the last bit, as `orthobench.families.symmetric_tensors.symmetrized` makes
        it.

    Attributes
    ----------
    T : ndarray, shape (n, n, n)
        A read-only view.
    """

    def __init__(self, T: Array) -> None:
        self.T = np.ascontiguousarray(T).view()
        self.T.flags.writeable = False
        self.n = self.k = len(T)
