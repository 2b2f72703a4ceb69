"""Random order: pairs of columns drawn uniformly, one after the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from orthobench_orthogonal_tensor import decomposition

from orthobench.contract import Array, Solution
from orthobench_givens._kernels.tensor_state import Limits, TensorState, pairs_of
from orthobench_givens._kernels.tensor_sweeps import Indices

DRAWN = 4096
"""Random pairs drawn at a time: always as many, so that they do not depend on how steps are cut."""


@dataclass(slots=True, kw_only=True)
class RandomState(TensorState):
    """U, the slabs T(u_a, I, I), and the entries of T~ that angles follow from.

    Attributes
    ----------
    basis : ndarray, shape (d, d)
        U'.
    slabs, twice : ndarray
        From `orthobench_givens._kernels.tensor_slabs.slabs_of`, for U as it is now.
    rng : numpy.random.Generator
        Draws pairs.
    drawn : ndarray of int, shape (count, 2)
        The pairs last drawn, i < j.
    """

    basis: Array
    slabs: Array
    twice: Array
    rng: np.random.Generator
    drawn: Indices

    def try_next(self, most: int, limits: Limits) -> tuple[int, int]:
        """Try pairs that are drawn."""
        from orthobench_givens._kernels.tensor_slabs import try_pairs

        if self.done == len(self.drawn):
            d = len(self.basis)
            numbers = self.rng.integers(pairs_of(d), size=DRAWN)
            self.drawn, self.done = np.stack(np.triu_indices(d, 1), axis=1)[numbers], 0
        pairs = self.drawn[self.done :][:most]
        tried, rotated, self.idle = try_pairs(
            self.slabs, self.twice, self.basis, pairs, limits, self.idle
        )
        self.done += tried
        return tried, rotated

    def stationary(self, limits: Limits) -> bool:
        """Try all pairs, of which random ones may have missed some; if one needs it, go on."""
        from orthobench_givens._kernels.tensor_slabs import stationary

        settled = stationary(self.twice, *limits[:2])
        self.idle = self.idle if settled else 0
        return settled

    def solution(self) -> Solution:
        """Return U and the diagonal of T~."""
        return decomposition(np.ascontiguousarray(self.basis.T), np.diag(self.twice).copy())


def begin_random(T: Array, U: Array, rng: np.random.Generator) -> RandomState:
    """Return the state before the first pair."""
    from orthobench_givens._kernels.tensor_slabs import slabs_of, stationary

    basis = np.ascontiguousarray(U.T)
    slabs, twice = slabs_of(T, basis)
    stationary(twice, 0.0, 0.0)  # compiles what the few steps of a warm-up would not reach
    return RandomState(
        basis=basis,
        slabs=slabs,
        twice=twice,
        norm=float(np.linalg.norm(T)),
        rng=rng,
        drawn=np.empty((0, 2), dtype=np.intp),
    )
