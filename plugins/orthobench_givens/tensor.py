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
from orthobench_givens.tensor_sweeps import (
    Indices,
    Sweep,
    cyclic_sweep,
    offsets,
    packed_size,
    whole_sweep,
)

ANGLE_FLOPS = 225
"""Approximate flops of one best angle: the roots of a cubic, three values, a Newton step."""

ROUNDING = 1e-14
"""Gains below this times |T| are rounding."""

DRAWN = 4096
"""Random pairs drawn at a time: always as many, so that they do not depend on how steps are cut."""


def rotation_flops(d: int) -> int:
    """Return the flops of one rotation of T~, packed, and of U: 3d² + O(d).

    6 for each of the (d - 1)(d - 2)/2 pairs of entries (iab, jab), 14 for each of the d - 2
    triples (iia, ija, jja), 51 for (iii, iij, ijj, jjj) and the powers of cosine and sine, and 6d
    for U.
    """
    return 3 * (d - 1) * (d - 2) + 14 * (d - 2) + 51 + flops.givens(d)


def precomputation_flops(d: int) -> int:
    """Return the flops of T(U, U, U) at the start, three matrix products: 6d⁴."""
    return 3 * flops.gemm(d * d, d, d)


@dataclass(slots=True, kw_only=True)
class TensorState(State):
    """U and the rotated tensor T~ = T(U, U, U).

    Attributes
    ----------
    basis : ndarray, shape (d, d)
        U' at the beginning of the round.
    blocks : ndarray, shape (blocks(blocks + 1)(blocks + 2)/6, size³)
        T~ at the beginning of the round (`orthobench_givens.blocked_tensor`); empty if the tensor
        is kept whole.
    tensors : ndarray, shape (n, m(m + 1)(m + 2)/6)
        T~ now, packed: for each pair of blocks the entries within them, or all entries.
    rotations : ndarray, shape (n, m, m)
        For each pair of blocks, or the whole, the product of the rotations since the beginning of
        the round, new basis vectors as rows.
    round : int
        Number of the round in the sweep.
    done : int
        Number of pairs already tried, of the round or of those last drawn.
    idle : int
        Number of pairs in a row that needed no rotation.
    norm : float
        |T|.
    rng : numpy.random.Generator
        Draws random pairs.
    drawn : ndarray of int, shape (count, 3)
        The random pairs last drawn, as in `orthobench_givens.tensor_sweeps.Round`.
    """

    basis: Array
    blocks: Array
    tensors: Array
    rotations: Array
    round: int = 0
    done: int = 0
    idle: int = 0
    norm: float
    rng: np.random.Generator
    drawn: Indices


@dataclass(frozen=True)
class GivensTensor(Solver[TensorOracle, TensorState]):
    """Givens coordinate ascent for orthogonal tensor decomposition.

    Maximizes sum_i T(u_i, u_i, u_i) over U'U = I by rotations in the planes of two columns. The
    best angle of the full circle follows in closed form from four entries of T~ = T(U, U, U), which
    is kept up to date in packed form. Since the circle is searched in full, the method leaves the
    strict local maxima at signed permutations of the factors. U is never re-orthonormalized, and
    need not be.

    A step tries one pair of columns. It is not rotated if the derivative is at most `tolerance` |T|
    and no angle gains more than rounding; when this holds for all pairs, the method has converged.

    Rotations keep the sign of det U, which does not matter: the order of the columns is free.

    Parameters
    ----------
    order : {"cyclic", "random"}
        Each pair once a sweep, or pairs drawn uniformly as in Algorithm 3. Large tensors are swept
        in rounds (`orthobench_givens.tensor_sweeps`): up to rounding the result is that of rotating
        the same pairs one at a time.
    start : {"random", "identity", "contraction"}
        The first U (`orthobench.families.orthogonal_tensor.first_point`).
    tolerance : float
        Largest derivative along a rotation, relative to |T|, at convergence.

    Notes
    -----
    Flops: 6d⁴ and those of the first U at the start, about 225 for each pair tried, and
    3d² + O(d) for each rotation (`rotation_flops`). Memory: d³/6 doubles for the state, at most
    2d³ at the start.

    References
    ----------
    Shalit and Chechik 2014, Algorithm 3 (random order), with equation 11 corrected in sign
    (`orthobench_givens.tensor_angles`). Their Theorem 3 overlooks the local maxima.
    """

    converges: ClassVar[bool] = True
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
        """Compute the first U, and T(U, U, U)."""
        d, sweep = oracle.n, self._sweep(oracle.n)
        U, count = first_point(oracle, self.start, rng), len(sweep.rounds[0].members)
        state = TensorState(
            basis=np.ascontiguousarray(U.T),
            blocks=rotated_blocks(oracle.T, U, sweep.blocks, sweep.size),
            tensors=np.empty((count, packed_size(sweep.width))),
            rotations=np.tile(np.eye(sweep.width), (count, 1, 1)),
            norm=float(np.linalg.norm(oracle.T)),
            rng=rng,
            drawn=np.empty((0, 3), dtype=np.intp),
        )
        _begin_round(sweep, state)
        self._compile(sweep, state)
        state.work.flops += first_point_flops(d, self.start) + precomputation_flops(d)
        if d == 1:
            state.status = Status.CONVERGED
        return state

    def step(self, oracle: TensorOracle, state: TensorState) -> None:
        """Try one pair."""
        self.advance(oracle, state, 1)

    def advance(self, oracle: TensorOracle, state: TensorState, count: int) -> None:
        """Try `count` pairs, or fewer if the method converges."""
        from orthobench_givens.packed_tensor import try_pairs

        sweep = self._sweep(oracle.n)
        first, second = offsets(sweep.width)
        limits = (self.tolerance * state.norm, ROUNDING * state.norm, _pairs(oracle.n))
        while count > 0 and state.status is Status.RUNNING:
            pairs = self._next(sweep, state)[:count]
            tried, rotated, state.idle = try_pairs(
                state.tensors, state.rotations, pairs, first, second, limits, state.idle
            )
            count, state.done = count - tried, state.done + tried
            state.work.steps += tried
            state.work.flops += tried * ANGLE_FLOPS + rotated * rotation_flops(oracle.n)
            if state.idle == _pairs(oracle.n):
                self._confirm(state)

    def solution(self, state: TensorState) -> Solution:
        """Return U and its weights, the diagonal of T~; columns of negative weight are flipped."""
        d = len(state.basis)
        sweep = self._sweep(d)
        first, second = offsets(sweep.width)
        diagonal = first + second + np.arange(sweep.width)
        rows, weights = np.empty((d, d)), np.empty(d)
        for pair, members in enumerate(sweep.rounds[state.round].members):
            n = len(members)
            rows[members] = state.rotations[pair, :n, :n] @ state.basis[members]
            weights[members] = state.tensors[pair, diagonal[:n]]
        return decomposition(np.ascontiguousarray(rows.T), weights)

    def _sweep(self, d: int) -> Sweep:
        """Return the sweep of d indices in the order asked for."""
        return whole_sweep(d) if self.order == "random" else cyclic_sweep(d)

    def _next(self, sweep: Sweep, state: TensorState) -> Indices:
        """Return the pairs that come next, at least one."""
        if self.order == "random":
            if state.done == len(state.drawn):
                drawn = state.rng.integers(_pairs(sweep.width), size=DRAWN)
                state.drawn, state.done = sweep.rounds[0].pairs[drawn], 0
            return state.drawn[state.done :]
        if state.done == len(sweep.rounds[state.round].pairs):
            _next_round(sweep, state)
        return sweep.rounds[state.round].pairs[state.done :]

    def _compile(self, sweep: Sweep, state: TensorState) -> None:
        """Call the kernels that the few steps of a warm-up would not reach; changes nothing."""
        from orthobench_givens.packed_tensor import stationary

        if sweep.blocks > 1:
            _end_round(sweep, state)
        elif self.order == "random":
            stationary(state.tensors[0], *offsets(sweep.width), 0.0, 0.0)

    def _confirm(self, state: TensorState) -> None:
        """Converge, unless random pairs have missed one that needs a rotation."""
        from orthobench_givens.packed_tensor import stationary

        if self.order == "random":
            d = len(state.basis)
            state.work.flops += _pairs(d) * ANGLE_FLOPS
            tolerances = self.tolerance * state.norm, ROUNDING * state.norm
            if not stationary(state.tensors[0], *offsets(d), *tolerances):
                state.idle = 0
                return
        state.status = Status.CONVERGED


def _pairs(d: int) -> int:
    """Return the number of pairs of d indices."""
    return d * (d - 1) // 2


def _begin_round(sweep: Sweep, state: TensorState) -> None:
    """Pack the entries that the pairs of a round need; a tensor kept whole is packed once."""
    from orthobench_givens.blocked_tensor import begin_round
    from orthobench_givens.packed_tensor import pack

    entry_offsets = offsets(sweep.width)
    if sweep.blocks > 1:
        block_pairs, block_offsets = sweep.rounds[state.round].block_pairs, offsets(sweep.blocks)
        begin_round(state.blocks, block_pairs, block_offsets, state.tensors, entry_offsets)
    else:
        pack(state.blocks.reshape((sweep.width,) * 3), *entry_offsets, state.tensors[0])
        state.blocks = np.empty((0, 0))


def _end_round(sweep: Sweep, state: TensorState) -> None:
    """Apply the rotations of a round to the whole tensor."""
    from orthobench_givens.blocked_tensor import end_round

    block_pairs, block_offsets = sweep.rounds[state.round].block_pairs, offsets(sweep.blocks)
    entry_offsets = offsets(sweep.width)
    end_round(
        state.blocks, block_pairs, block_offsets, state.tensors, entry_offsets, state.rotations
    )


def _next_round(sweep: Sweep, state: TensorState) -> None:
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
