"""Cyclic order: sweeps of a tensor in rounds, or of a small one as a whole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from orthobench_orthogonal_tensor import decomposition

from orthobench.contract import Array, Solution
from orthobench_givens._kernels.tensor_start import rotated_blocks
from orthobench_givens._kernels.tensor_state import Limits, TensorState
from orthobench_givens._kernels.tensor_sweeps import (
    Indices,
    Sweep,
    cyclic_sweep,
    offsets,
    packed_size,
)


@dataclass(slots=True, kw_only=True)
class RoundState(TensorState):
    """U and the rotated tensor T~ = T(U, U, U), in blocks.

    Attributes
    ----------
    basis : ndarray, shape (d, d)
        U' at the beginning of the round.
    blocks : ndarray, shape (blocks(blocks + 1)(blocks + 2)/6, size³)
        T~ at the beginning of the round (`orthobench_givens._kernels.blocked_tensor`); empty if the
        tensor is kept whole.
    tensors : ndarray, shape (n, m(m + 1)(m + 2)/6)
        T~ now, packed: for each pair of blocks the entries within them, or all entries.
    rotations : ndarray, shape (n, m, m)
        For each pair of blocks, or the whole, the product of the rotations since the beginning of
        the round, new basis vectors as rows.
    round : int
        Number of the round in the sweep.
    """

    basis: Array
    blocks: Array
    tensors: Array
    rotations: Array
    round: int = 0

    @property
    def sweep(self) -> Sweep:
        """The sweep of the d indices."""
        return cyclic_sweep(len(self.basis))

    def try_next(self, most: int, limits: Limits) -> tuple[int, int]:
        """Try pairs of the round, or of the next one if all are tried."""
        from orthobench_givens._kernels.packed_tensor import try_pairs

        if self.done == len(self._pairs):
            next_round(self.sweep, self)
        first, second = offsets(self.sweep.width)
        pairs = self._pairs[self.done :][:most]
        tried, rotated, self.idle = try_pairs(
            self.tensors, self.rotations, pairs, first, second, limits, self.idle
        )
        self.done += tried
        return tried, rotated

    def stationary(self, limits: Limits) -> bool:
        """Return True: in cyclic order each pair has been tried since the last rotation."""
        del limits
        return True

    def solution(self) -> Solution:
        """Return U and the diagonal of T~."""
        d, width = len(self.basis), self.sweep.width
        first, second = offsets(width)
        diagonal = first + second + np.arange(width)
        rows, weights = np.empty((d, d)), np.empty(d)
        for pair, members in enumerate(self.sweep.rounds[self.round].members):
            n = len(members)
            rows[members] = self.rotations[pair, :n, :n] @ self.basis[members]
            weights[members] = self.tensors[pair, diagonal[:n]]
        return decomposition(np.ascontiguousarray(rows.T), weights)

    @property
    def _pairs(self) -> Indices:
        """The pairs of the round."""
        return self.sweep.rounds[self.round].pairs


def begin_rounds(T: Array, U: Array) -> RoundState:
    """Return the state at the beginning of the first sweep."""
    sweep = cyclic_sweep(len(U))
    count = len(sweep.rounds[0].members)
    state = RoundState(
        basis=np.ascontiguousarray(U.T),
        blocks=rotated_blocks(T, U, sweep.blocks, sweep.size),
        tensors=np.empty((count, packed_size(sweep.width))),
        rotations=np.tile(np.eye(sweep.width), (count, 1, 1)),
        norm=float(np.linalg.norm(T)),
    )
    _begin_round(sweep, state)
    if sweep.blocks > 1:  # compiles what the few steps of a warm-up would not reach; no change
        _end_round(sweep, state)
    return state


def _begin_round(sweep: Sweep, state: RoundState) -> None:
    """Pack the entries that the pairs of a round need; a tensor kept whole is packed once."""
    from orthobench_givens._kernels.blocked_tensor import begin_round
    from orthobench_givens._kernels.packed_tensor import pack

    entry_offsets = offsets(sweep.width)
    if sweep.blocks > 1:
        block_pairs, block_offsets = sweep.rounds[state.round].block_pairs, offsets(sweep.blocks)
        begin_round(state.blocks, block_pairs, block_offsets, state.tensors, entry_offsets)
    else:
        pack(state.blocks.reshape((sweep.width,) * 3), *entry_offsets, state.tensors[0])
        state.blocks = np.empty((0, 0))


def _end_round(sweep: Sweep, state: RoundState) -> None:
    """Apply the rotations of a round to the whole tensor."""
    from orthobench_givens._kernels.blocked_tensor import end_round

    block_pairs, block_offsets = sweep.rounds[state.round].block_pairs, offsets(sweep.blocks)
    entry_offsets = offsets(sweep.width)
    end_round(
        state.blocks, block_pairs, block_offsets, state.tensors, entry_offsets, state.rotations
    )


def next_round(sweep: Sweep, state: RoundState) -> None:
    """Apply the rotations of a round to T~ and U, and begin the next."""
    state.done = 0
    if sweep.blocks == 1:
        return
    _end_round(sweep, state)
    members = sweep.rounds[state.round].members
    for rotation, rows in zip(state.rotations, members, strict=True):
        state.basis[rows] = rotation[: len(rows), : len(rows)] @ state.basis[rows]
    state.rotations[:] = np.eye(sweep.width)
    state.round = (state.round + 1) % len(sweep.rounds)
    _begin_round(sweep, state)
