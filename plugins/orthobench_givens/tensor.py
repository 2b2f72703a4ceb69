"""Orthogonal tensor decomposition by Givens rotations of a maintained tensor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, Solution, Solver, State, Status, flops, parameter
from orthobench.families.orthogonal_tensor import (
    TensorOracle,
    decomposition,
    first_point,
    first_point_flops,
    start_parameter,
)
from orthobench_givens.tensor_start import rotated_blocks
from orthobench_givens.tensor_sweeps import Indices, Sweep, offsets, packed_size, swept, whole

ANGLE_FLOPS = 225
"""Flops of one best angle, about: a cubic, three values, a Newton step."""

ROUNDING = 1e-14
"""Gains below this times |T| are rounding."""

DRAWN = 4096
"""Random pairs drawn at once: the stream does not depend on how steps are grouped."""


def rotation_flops(d: int) -> int:
    """Return the flops of one rotation: of T~ in packed form, and of U.

    6 for each of (d - 1)(d - 2)/2 pairs (iab, jab), 14 for each of d - 2 triples (iia, ija, jja),
    51 for (iii, iij, ijj, jjj) and the powers of cosine and sine, and 6d for U: 3d² + O(d).
    """
    return 3 * (d - 1) * (d - 2) + 14 * (d - 2) + 51 + flops.givens(d)


def precomputation_flops(d: int) -> int:
    """Return the flops of T(U0, U0, U0): three matrix products, 6d⁴."""
    return 3 * flops.gemm(d * d, d, d)


@dataclass(slots=True, kw_only=True)
class TensorState(State):
    """U and the rotated tensor T~, some of whose rotations wait in `turns`.

    Attributes
    ----------
    basis : ndarray, shape (d, d)
        U' at the beginning of the round.
    blocks : ndarray
        T~ at the beginning of the round (`orthobench_givens.blocked_tensor`); empty where it
        is kept whole.
    tensors : ndarray, shape (n, m(m + 1)(m + 2)/6)
        T~ now, packed: for each two blocks the entries within them, or all.
    turns : ndarray, shape (n, m, m)
        The rotations since then, one vector a row.
    round : int
        Which round of the sweep.
    at : int
        How many of its pairs have been tried.
    quiet : int
        How many pairs in a row have not turned.
    norm : float
        |T|.
    rng : Generator
        Draws random pairs.
    drawn : ndarray of int, shape (count, 3)
        Those drawn last.
    """

    basis: Array
    blocks: Array
    tensors: Array
    turns: Array
    round: int = 0
    at: int = 0
    quiet: int = 0
    norm: float
    rng: np.random.Generator
    drawn: Indices


@dataclass(frozen=True)
class GivensTensor(Solver[TensorOracle, TensorState]):
    """Givens coordinate ascent for orthogonal tensor decomposition.

    Maximizes sum_i T(u_i, u_i, u_i) over U'U = I by rotations in the planes of two columns, each
    by the best angle of the full circle, in closed form from four entries of T~ = T(U, U, U): so
    it also leaves the strict local maxima that signed permutations of the factors are. T~ is kept
    up to date in packed form. U is never orthonormalized, and need not be.

    A step tries one pair. It does not turn where the derivative is at most `tolerance` |T| and no
    angle gains more than rounding; once that holds for all pairs the method has converged.

    Notes
    -----
    The precomputation takes 6d⁴ flops and at most 2d³ doubles, a rotation 3d² + O(d) flops
    (`rotation_flops`), a pair that does not turn about 225. The state takes d³/6 doubles.

    In cyclic order a large tensor is swept in rounds (`orthobench_givens.tensor_sweeps`), with the
    same result as pair after pair but for rounding. det U never changes, which does not matter:
    the order of the columns is free.

    References
    ----------
    Shalit and Chechik 2014, Algorithm 3 (random order), with equation 11 corrected in sign
    (`orthobench_givens.tensor_angles`). Their Theorem 3 overlooks the local maxima.
    """

    name: ClassVar[str] = "givens-tensor"
    needs: ClassVar[type[TensorOracle]] = TensorOracle
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
        """Compute T(U0, U0, U0), in 6d⁴ flops, and before it U0 (`first_point_flops`)."""
        d, sweep = oracle.n, self._sweep(oracle.n)
        U, seats = first_point(oracle, self.start, rng), len(sweep.rounds[0].members)
        state = TensorState(
            basis=np.ascontiguousarray(U.T),
            blocks=rotated_blocks(oracle.T, U, sweep.blocks, sweep.size),
            tensors=np.empty((seats, packed_size(sweep.width))),
            turns=np.tile(np.eye(sweep.width), (seats, 1, 1)),
            norm=float(np.linalg.norm(oracle.T)),
            rng=rng,
            drawn=np.empty((0, 3), dtype=np.intp),
        )
        _open(sweep, state)
        self._rehearse(sweep, state)
        state.work.flops += first_point_flops(d, self.start) + precomputation_flops(d)
        if d == 1:
            state.status = Status.CONVERGED
        return state

    def step(self, oracle: TensorOracle, state: TensorState) -> None:
        """Try one pair."""
        self.advance(oracle, state, 1)

    def advance(self, oracle: TensorOracle, state: TensorState, count: int) -> None:
        """Try `count` pairs, or fewer where no pair turns any more."""
        from orthobench_givens.packed_tensor import try_pairs

        sweep = self._sweep(oracle.n)
        first, second = offsets(sweep.width)
        limits = (self.tolerance * state.norm, ROUNDING * state.norm, _pairs(oracle.n))
        while count > 0 and state.status is Status.RUNNING:
            pairs = self._next(sweep, state)[:count]
            tried, turned, state.quiet = try_pairs(
                state.tensors, state.turns, pairs, first, second, limits, state.quiet
            )
            count, state.at = count - tried, state.at + tried
            state.work.steps += tried
            state.work.flops += tried * ANGLE_FLOPS + turned * rotation_flops(oracle.n)
            if state.quiet == _pairs(oracle.n):
                self._confirm(state)

    def solution(self, state: TensorState) -> Solution:
        """Return U with its weights, the diagonal of T~; u is flipped where that is negative."""
        d = len(state.basis)
        sweep = self._sweep(d)
        first, second = offsets(sweep.width)
        diagonal = first + second + np.arange(sweep.width)
        rows, weights = np.empty((d, d)), np.empty(d)
        for seat, members in enumerate(sweep.rounds[state.round].members):
            n = len(members)
            rows[members] = state.turns[seat, :n, :n] @ state.basis[members]
            weights[members] = state.tensors[seat, diagonal[:n]]
        return decomposition(np.ascontiguousarray(rows.T), weights)

    def _sweep(self, d: int) -> Sweep:
        return whole(d) if self.order == "random" else swept(d)

    def _next(self, sweep: Sweep, state: TensorState) -> Indices:
        """Return the pairs that come next, at least one."""
        if self.order == "random":
            if state.at == len(state.drawn):
                drawn = state.rng.integers(_pairs(sweep.width), size=DRAWN)
                state.drawn, state.at = sweep.rounds[0].pairs[drawn], 0
            return state.drawn[state.at :]
        if state.at == len(sweep.rounds[state.round].pairs):
            _next_round(sweep, state)
        return sweep.rounds[state.round].pairs[state.at :]

    def _rehearse(self, sweep: Sweep, state: TensorState) -> None:
        """Call, to no effect, the kernels that the steps of a warm-up would not compile."""
        from orthobench_givens.blocked_tensor import close_round
        from orthobench_givens.packed_tensor import stationary

        within = offsets(sweep.width)
        if sweep.blocks > 1:
            seats, where = sweep.rounds[0].seats, offsets(sweep.blocks)
            close_round(state.blocks, seats, where, state.tensors, within, state.turns)
        elif self.order == "random":
            stationary(state.tensors[0], *within, 0.0, 0.0)

    def _confirm(self, state: TensorState) -> None:
        """Converge where no pair would turn, as after a whole sweep; random pairs may miss one."""
        from orthobench_givens.packed_tensor import stationary

        if self.order == "random":
            d = len(state.basis)
            state.work.flops += _pairs(d) * ANGLE_FLOPS
            still, floor = self.tolerance * state.norm, ROUNDING * state.norm
            if not stationary(state.tensors[0], *offsets(d), still, floor):
                state.quiet = 0
                return
        state.status = Status.CONVERGED


def _pairs(d: int) -> int:
    return d * (d - 1) // 2


def _open(sweep: Sweep, state: TensorState) -> None:
    """Pack what the pairs of a round need; a tensor kept whole is packed once."""
    from orthobench_givens.blocked_tensor import open_round
    from orthobench_givens.packed_tensor import pack

    within = offsets(sweep.width)
    if sweep.blocks > 1:
        seats, where = sweep.rounds[state.round].seats, offsets(sweep.blocks)
        open_round(state.blocks, seats, where, state.tensors, within)
    else:
        pack(state.blocks.reshape((sweep.width,) * 3), *within, state.tensors[0])
        state.blocks = np.empty((0, 0))


def _next_round(sweep: Sweep, state: TensorState) -> None:
    """Rotate the rest of the tensor and U by the rotations of a round, and begin the next."""
    from orthobench_givens.blocked_tensor import close_round

    state.at = 0
    if sweep.blocks == 1:
        return
    seats, members, _ = sweep.rounds[state.round]
    where, within = offsets(sweep.blocks), offsets(sweep.width)
    close_round(state.blocks, seats, where, state.tensors, within, state.turns)
    for turn, rows in zip(state.turns, members, strict=True):
        state.basis[rows] = turn[: len(rows), : len(rows)] @ state.basis[rows]
    state.turns[:] = np.eye(sweep.width)
    state.round = (state.round + 1) % len(sweep.rounds)
    _open(sweep, state)
