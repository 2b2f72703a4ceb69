"""Tensor decomposition by Givens rotations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from orthobench_orthogonal_tensor import (
    TensorOracle,
    decomposition,
    first_point,
    first_point_flops,
    start_parameter,
)

from orthobench.contract import Array, Solution, Solver, State, Status, flops, parameter
from orthobench_givens._kernels.pairs import (
    Indices,
    Round,
    Sweep,
    cyclic_sweep,
    offsets,
    packed_size,
)

Limits: TypeAlias = tuple[float, float, int]
"""Limits of `packed_tensor.try_pairs`."""

ANGLE_FLOPS = 225
"""Approximate flops of one best angle."""

ROUNDING = 1e-14
"""Gain, relative to |T|, below which it is rounding."""

DRAWN = 4096
"""Number of random pairs drawn at a time, independent of the steps."""


@dataclass(slots=True, kw_only=True)
class TensorState(State, ABC):
    """U, and the part of T~ = T(U, U, U) that an order of pairs needs.

    `basis` (d, d) is U', in cyclic order that at the beginning of the round; `norm` is |T|. `done`
    and `idle` count the pairs tried of the round, and in a row without a rotation.
    """

    basis: Array
    norm: float
    done: int = 0
    idle: int = 0

    @abstractmethod
    def try_next(self, most: int, limits: Limits) -> tuple[int, int]:
        """Try at most `most` pairs; return the numbers tried and rotated."""

    def stationary(self, limits: Limits) -> bool:
        """Return whether no pair needs a rotation, after as many in a row as there are pairs."""
        return True

    @abstractmethod
    def solution(self) -> Solution:
        """Return U and its weights, the diagonal of T~; columns of negative weight are flipped."""


@dataclass(slots=True, kw_only=True)
class RoundState(TensorState):
    """Cyclic order: T~ in blocks, in rounds; a small tensor as a whole.

    Attributes
    ----------
    blocks : ndarray, shape (blocks(blocks + 1)(blocks + 2)/6, size³)
        T~ at the beginning of the round; empty if the tensor is kept whole.
    tensors : ndarray, shape (n, m(m + 1)(m + 2)/6)
        T~ now, packed: for each pair of blocks, or all entries.
    rotations : ndarray, shape (n, m, m)
        The products of the rotations of the round, new basis vectors as rows.
    """

    blocks: Array
    tensors: Array
    rotations: Array
    round: int = 0

    @property
    def sweep(self) -> Sweep:
        """The sweep of the d indices."""
        return cyclic_sweep(len(self.basis))

    @property
    def now(self) -> Round:
        """The round in progress."""
        return self.sweep.rounds[self.round]

    def try_next(self, most: int, limits: Limits) -> tuple[int, int]:
        from orthobench_givens._kernels.packed_tensor import try_pairs

        if self.done == len(self.now.pairs):
            self.next_round()
        pairs, (first, second) = self.now.pairs[self.done :][:most], offsets(self.sweep.width)
        tried, rotated, self.idle = try_pairs(
            self.tensors, self.rotations, pairs, first, second, limits, self.idle
        )
        self.done += tried
        return tried, rotated

    def solution(self) -> Solution:
        d, (first, second) = len(self.basis), offsets(self.sweep.width)
        diagonal = first + second + np.arange(len(first))
        rows, weights = np.empty((d, d)), np.empty(d)
        for pair, members in enumerate(self.now.members):
            n = len(members)
            rows[members] = self.rotations[pair, :n, :n] @ self.basis[members]
            weights[members] = self.tensors[pair, diagonal[:n]]
        return decomposition(np.ascontiguousarray(rows.T), weights)

    def next_round(self) -> None:
        """Apply the rotations of the round to T~ and U, and begin the next."""
        self.done = 0
        if self.sweep.blocks == 1:
            return
        self.end_round()
        for rotation, rows in zip(self.rotations, self.now.members, strict=True):
            self.basis[rows] = rotation[: len(rows), : len(rows)] @ self.basis[rows]
        self.rotations[:] = np.eye(self.sweep.width)
        self.round = (self.round + 1) % len(self.sweep.rounds)
        self.begin_round()

    def begin_round(self) -> None:
        """Pack the entries that the pairs of a round need; a tensor kept whole is packed once."""
        from orthobench_givens._kernels.blocked_tensor import begin_round
        from orthobench_givens._kernels.packed_tensor import pack

        sweep, where = self.sweep, offsets(self.sweep.width)
        if sweep.blocks > 1:
            paired = self.now.block_pairs
            begin_round(self.blocks, paired, offsets(sweep.blocks), self.tensors, where)
        else:
            pack(self.blocks.reshape((sweep.width,) * 3), *where, self.tensors[0])
            self.blocks = np.empty((0, 0))

    def end_round(self) -> None:
        """Apply the rotations of a round to the whole tensor."""
        from orthobench_givens._kernels.blocked_tensor import end_round

        sweep, paired = self.sweep, self.now.block_pairs
        whole, parts = offsets(sweep.blocks), offsets(sweep.width)
        end_round(self.blocks, paired, whole, self.tensors, parts, self.rotations)


def begin_rounds(T: Array, U: Array) -> RoundState:
    """Return the state at the beginning of the first sweep."""
    from orthobench_givens._kernels.blocked_tensor import rotated_blocks

    sweep = cyclic_sweep(len(U))
    count = len(sweep.rounds[0].members)
    state = RoundState(
        basis=np.ascontiguousarray(U.T),
        blocks=rotated_blocks(T, U, sweep.blocks, sweep.size),
        tensors=np.empty((count, packed_size(sweep.width))),
        rotations=np.tile(np.eye(sweep.width), (count, 1, 1)),
        norm=float(np.linalg.norm(T)),
    )
    state.begin_round()
    if sweep.blocks > 1:  # compiles what the few steps of a warm-up would not reach; no change
        state.end_round()
    return state


@dataclass(slots=True, kw_only=True)
class RandomState(TensorState):
    """Random order: the slabs T(u_a, I, I), and the entries of T~ for the angles (`slabs_of`).

    `drawn` are the pairs last drawn, i < j, shape (count, 2).
    """

    slabs: Array
    twice: Array
    rng: np.random.Generator
    drawn: Indices

    def try_next(self, most: int, limits: Limits) -> tuple[int, int]:
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
        """Try all pairs, since random ones may have missed some; if one needs it, go on."""
        from orthobench_givens._kernels.tensor_slabs import stationary

        settled = stationary(self.twice, *limits[:2])
        self.idle = self.idle if settled else 0
        return settled

    def solution(self) -> Solution:
        return decomposition(np.ascontiguousarray(self.basis.T), np.diag(self.twice).copy())


def begin_random(T: Array, U: Array, rng: np.random.Generator) -> RandomState:
    """Return the state before the first pair."""
    from orthobench_givens._kernels.tensor_slabs import slabs_of, stationary

    basis = np.ascontiguousarray(U.T)
    slabs, twice = slabs_of(T, basis)
    stationary(twice, 0.0, 0.0)  # compiles what the few steps of a warm-up would not reach
    drawn, norm = np.empty((0, 2), dtype=np.intp), float(np.linalg.norm(T))
    return RandomState(basis=basis, slabs=slabs, twice=twice, norm=norm, rng=rng, drawn=drawn)


def pairs_of(d: int) -> int:
    """Return the number of pairs of d indices."""
    return d * (d - 1) // 2


def rotation_flops(d: int) -> int:
    """Return the flops of one rotation of T~, packed, and of U: 3d² + O(d)."""
    return 3 * (d - 1) * (d - 2) + 14 * (d - 2) + 51 + flops.givens(d)


def precomputation_flops(d: int) -> int:
    """Return the flops of T(U, U, U) at the start, three matrix products: 6d⁴."""
    return 3 * flops.gemm(d * d, d, d)


@dataclass(frozen=True)
class GivensTensor(Solver[TensorOracle, TensorState]):
    """Givens coordinate ascent for orthogonal tensor decomposition.

    The best angle of the full circle follows in closed form from four entries of T~ = T(U, U, U),
    which rotations update. A pair is not rotated if the derivative is at most `tolerance` |T| and
    no angle gains more than rounding; when this holds for all pairs, the method has converged.

    Notes
    -----
    Flops: 6d⁴ and those of the first U at the start, about 225 for each pair tried, and 3d² + O(d)
    for each rotation (`rotation_flops`). Memory: d³/6 doubles for the state in cyclic order, d³/2
    + 8d² in random order, at most 2d³ at the start.

    References
    ----------
    Shalit and Chechik 2014, Algorithm 3 (random order), with equation 11 corrected in sign
    (`orthobench_givens._kernels.tensor_angles`). Their Theorem 3 overlooks the local maxima.
    """

    converges: ClassVar[bool] = True
    name: ClassVar[str] = "givens-tensor"
    source: ClassVar[str] = "Shalit and Chechik 2014, Algorithm 3"

    order: str = parameter(
        "cyclic",
        help="cyclic: each pair once a sweep, 2 to 3 times fewer rotations; random: Algorithm 3",
        choices=("cyclic", "random"),
    )
    start: str = start_parameter()
    tolerance: float = parameter(
        1e-13, low=1e-14, below=1, help="largest derivative along a rotation, relative to |T|"
    )

    def init(self, oracle: TensorOracle, rng: np.random.Generator) -> TensorState:
        d, U = oracle.n, first_point(oracle, self.start, rng)
        rounds = self.order == "cyclic"
        state = begin_rounds(oracle.T, U) if rounds else begin_random(oracle.T, U, rng)
        state.work.flops += first_point_flops(d, self.start) + precomputation_flops(d)
        if d == 1:
            state.status = Status.CONVERGED
        return state

    def advance(self, oracle: TensorOracle, state: TensorState, count: int) -> None:
        enough = pairs_of(oracle.n)
        limits = (self.tolerance * state.norm, ROUNDING * state.norm, enough)
        while count > 0 and state.status is Status.RUNNING:
            tried, rotated = state.try_next(count, limits)
            count -= tried
            state.work.steps += tried
            state.work.flops += tried * ANGLE_FLOPS + rotated * rotation_flops(oracle.n)
            if state.idle == enough:
                self._confirm(state, limits)

    def solution(self, state: TensorState) -> Solution:
        """Return U and its weights, the diagonal of T~; columns of negative weight are flipped."""
        return state.solution()

    def _confirm(self, state: TensorState, limits: Limits) -> None:
        if self.order == "random":
            state.work.flops += limits[2] * ANGLE_FLOPS
        if state.stationary(limits):
            state.status = Status.CONVERGED
