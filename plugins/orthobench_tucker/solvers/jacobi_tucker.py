"""The Jacobi algorithm for symmetric tensors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import comb, factorial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.polar import newton_schulz

from orthobench.contract import Array, Solution, State, Status, complete, flops, parameter
from orthobench_tucker import SymmetricTensorOracle
from orthobench_tucker._kernels.partial_cores import TensorCores, unfolded
from orthobench_tucker.objective import (
    derivatives,
    derivatives_flops,
    fail_if_vanishing,
    relative_gradient,
    tolerance_parameter,
)
from orthobench_tucker.sample_moments import full_core
from orthobench_tucker.whole_tensor import WholeTensorSolver, start_parameter

PRODUCT_RATE = 4
"""Number of flops of a matrix product in the time of a flop of a rotation."""

READING, CALLS = 12, 1_000_000
"""The same for reading an entry, and for the calls of a block."""


@dataclass(slots=True, kw_only=True)
class JacobiState(State):
    """The orthogonal U = [Q, Q_perp] (n, n), F(Q), and |(I - QQ')∇F(Q)|."""

    U: Array
    rank: int
    objective: float = np.nan
    slope: float = np.inf


@dataclass(frozen=True)
class JacobiTucker(WholeTensorSolver[JacobiState]):
    """Jacobi rotations of U = [Q, Q_perp], each to the global maximum of F in its plane.

    Only planes (u_i, u_j) with i <= r < j change F, a trigonometric polynomial along each
    (`orthobench_tucker._kernels.rotations`). So F never falls. A step is a sweep over all of them,
    after a rotation of Q and Q_perp, each within its span, to the principal axes of X ·(I, Q, ...,
    Q). It skips a plane if the derivative along it is below 2/n `threshold` times the gradient at
    the beginning of the sweep (the paper: the present gradient), so that all limits are critical
    points.

    The paper rotates the whole tensor. Here blocks J of columns need only X ·(V, ..., V), V = [Q,
    U_J], with the same result up to rounding. The run fails if X ·(I, Q, ..., Q) vanishes at the
    first basis.

    Notes
    -----
    Flops are counted as in the paper: 6d n^(d - 1) + 6n for a rotation, `plane_flops` for a plane
    that is tried, and 4n²N + 9n³ for the principal axes. Memory: that of `TensorCores.at`.

    References
    ----------
    Ishteva, Absil and Van Dooren 2013, "Jacobi algorithm for the best low multilinear rank
    approximation of symmetric tensors". Orders other than 3, principal axes, blocks, the angle, and
    the threshold for whole sweeps are this project's.
    """

    start: str = start_parameter()
    threshold: float = parameter(
        0.1,
        help="minimum derivative along a rotated plane, in units of 2/n of the gradient",
        low=0.0,
        high=1.0,
    )
    tolerance: float = tolerance_parameter()

    name: ClassVar[str] = "jacobi-tucker"
    source: ClassVar[str] = "Ishteva, Absil and Van Dooren 2013"

    def init(self, oracle: SymmetricTensorOracle, rng: np.random.Generator) -> JacobiState:
        Q, n = self.first_basis(oracle, rng), oracle.n
        state = JacobiState(U=complete(Q, np.eye(n), n), rank=oracle.k)
        state.work.flops += self.start_flops(oracle) + flops.svd(n, n)
        W = self._evaluate(TensorCores(oracle.T), state)
        size = float(np.linalg.norm(unfolded(W, oracle.k, oracle.order)))
        fail_if_vanishing(state, oracle, Q, size, oracle.order - 1)
        return state

    def step(self, oracle: SymmetricTensorOracle, state: JacobiState) -> None:
        cores, n = TensorCores(oracle.T), oracle.n
        least = self.threshold * 2 / n * state.slope if state.objective > 0 else 0.0
        Y = cores.first(state.U[:, : state.rank])
        for columns in blocks(n, state.rank, oracle.order):
            Y = _rotate_block(cores, state, columns, Y, least)
        # one Newton-Schulz step restores the orthogonality that rounding has cost
        state.U = newton_schulz(state.U)
        state.work.steps += 1
        self._evaluate(cores, state)

    def solution(self, state: JacobiState) -> Solution:
        return Solution(state.U[:, : state.rank].copy())

    def _evaluate(self, cores: TensorCores, state: JacobiState) -> Array:
        """End the run if the gradient is small, else rotate U; return W."""
        Q, rank = state.U[:, : state.rank], state.rank
        W = cores.at(Q)
        state.objective, G, *_ = derivatives(W, Q.T @ W, Q, cores.order)
        state.slope = float(np.linalg.norm(G))
        state.work.flops += cores.at_flops(rank) + derivatives_flops(len(Q), rank, W.shape[1])
        if 0 < self.tolerance >= relative_gradient(state.slope, state.objective):
            state.status = Status.CONVERGED
        else:
            _rotate_to_axes(state, unfolded(W, rank, cores.order))
        return W


def _rotate_to_axes(state: JacobiState, W: Array) -> None:
    n, size = W.shape
    for part in (slice(0, state.rank), slice(state.rank, n)):
        inside = state.U[:, part].T @ W
        axes = np.linalg.eigh(inside @ inside.T)[1][:, ::-1]
        state.U[:, part] = state.U[:, part] @ axes
    state.work.flops += 2 * flops.gemm(n, n, size) + flops.eigh(n)


def _rotate_block(
    cores: TensorCores, state: JacobiState, columns: NDArray[np.intp], Y: Array, least: float
) -> Array:
    """Rotate the planes of Q and other columns; Y and the result are X ·(I, ..., I, Q)."""
    from orthobench_tucker._kernels.rotations import plane, rotate_planes

    rank, order, V = state.rank, cores.order, state.U[:, columns]
    Y = np.concatenate([Y, cores.first(V[:, rank:])])
    small = full_core(cores.core(Y, V), order).reshape(-1)
    turned = np.eye(len(columns))
    tried, rotated = rotate_planes(small, turned, rank, order, plane(rank, order), least)
    if rotated:
        state.U[:, columns] = V @ turned.T
    state.work.flops += tried * plane_flops(rank, order) + rotated * rotation_flops(cores.n, order)
    return np.asarray(turned[:rank] @ Y)


@lru_cache(maxsize=16)
def block_size(n: int, rank: int, order: int) -> int:
    """Return the number of columns in a block for the fastest sweep."""

    def sweep(b: int) -> float:
        m = rank + b
        products: float = 2 * n ** (order - 1) * m * m + READING * n**order / factorial(order - 1)
        rotations = 6 * order * rank * b * int(m ** (order - 1))
        return ((products + CALLS) / PRODUCT_RATE + rotations) / b

    return min(range(1, n - rank + 1), key=sweep)


def blocks(n: int, rank: int, order: int) -> Iterator[NDArray[np.intp]]:
    """Yield the columns of each block: the first r, then others."""
    if rank == n:
        return
    size = block_size(n, rank, order)
    count = -(-(n - rank) // size)
    for others in np.array_split(np.arange(rank, n), count):
        yield np.concatenate([np.arange(rank), others])


def rotation_flops(n: int, order: int) -> int:
    """Return 6d n^(d - 1) + 6n, the flops of a rotation."""
    return order * flops.givens(int(n ** (order - 1))) + flops.givens(n)


def plane_flops(rank: int, order: int) -> int:
    """Return the flops of F along a plane, about 12 r^(d - 1)/(d - 1)!."""
    others = {k: comb(rank + order - k - 2, order - k) for k in range(1, order)} | {order: 1}
    return sum(3 * (k + 1) ** 2 * count for k, count in others.items())
