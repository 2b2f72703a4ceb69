"""The oracles of orthogonal tensor decomposition: a tensor of order 3 or 4."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from orthobench.contract.problem import Oracle
from orthobench.tools.arrays import Array


class AnyOrderOracle(Oracle):
    """A symmetric tensor, of which n orthonormal factors are sought: k = n.

    Parameters
    ----------
    T : ndarray, shape (n,) * d
        Symmetric to the last bit, as `orthobench.families.symmetric_tensors.symmetrized` makes
        it.

    Attributes
    ----------
    T : ndarray, shape (n,) * d
        A read-only view.
    """

    portable: ClassVar[bool] = True

    def __init__(self, T: Array) -> None:
        self.T = np.ascontiguousarray(T).view()
        self.T.flags.writeable = False
        self.n = self.k = len(T)


class TensorOracle(AnyOrderOracle):
    """A symmetric (n, n, n) tensor, which most methods of this family need."""


class FourthOrderOracle(AnyOrderOracle):
    """A symmetric (n, n, n, n) tensor."""
