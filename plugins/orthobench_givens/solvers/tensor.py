"""Orthogonal tensor decomposition by Givens rotations of a maintained tensor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from orthobench_orthogonal_tensor import (
    TensorOracle,
    first_point,
    first_point_flops,
    start_parameter,
)

from orthobench.contract import Solution, Solver, Status, flops, parameter
from orthobench_givens._kernels.random_order import begin_random
from orthobench_givens._kernels.tensor_rounds import begin_rounds
from orthobench_givens._kernels.tensor_state import Limits, TensorState, pairs_of

ANGLE_FLOPS = 225
"""Approximate flops of one best angle: the roots of a cubic, three values, a Newton step."""

ROUNDING = 1e-14
"""Gains below this times |T| are rounding."""


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


@dataclass(frozen=True)
class GivensTensor(Solver[TensorOracle, TensorState]):
    """Givens coordinate ascent for orthogonal tensor decomposition.

    Maximizes sum_i T(u_i, u_i, u_i) over U'U = I by rotations in the planes of two columns. The
    best angle of the full circle follows in closed form from four entries of T~ = T(U, U, U), which
    are kept up to date. Since the circle is searched in full, the method leaves the strict local
    maxima at signed permutations of the factors. U is never re-orthonormalized, and need not be.

    A step tries one pair of columns. It is not rotated if the derivative is at most `tolerance` |T|
    and no angle gains more than rounding; when this holds for all pairs, the method has converged.

    Rotations keep the sign of det U, which does not matter: the order of the columns is free.

    Parameters
    ----------
    order : {"cyclic", "random"}
        Each pair once a sweep, or pairs drawn uniformly as in Algorithm 3. Sweeps keep T~, in
        packed form, and of large tensors go in rounds (`orthobench_givens._kernels.tensor_sweeps`);
        random order keeps T(U, I, I) (`orthobench_givens._kernels.tensor_slabs`). Up to rounding
        the result is that of rotating T~ by the same pairs, one at a time.
    start : {"random", "identity", "contraction"}
        The first U (`orthobench_orthogonal_tensor.first_point`).
    tolerance : float
        Largest derivative along a rotation, relative to |T|, at convergence.

    Notes
    -----
    Flops: 6d⁴ and those of the first U at the start, about 225 for each pair tried, and
    3d² + O(d) for each rotation (`rotation_flops`). Memory: d³/6 doubles for the state in cyclic
    order, d³/2 + 8d² in random order, at most 2d³ at the start.

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
        """Compute the first U, and what is kept of T(U, U, U)."""
        d, U = oracle.n, first_point(oracle, self.start, rng)
        rounds = self.order == "cyclic"
        state = begin_rounds(oracle.T, U) if rounds else begin_random(oracle.T, U, rng)
        state.work.flops += first_point_flops(d, self.start) + precomputation_flops(d)
        if d == 1:
            state.status = Status.CONVERGED
        return state

    def advance(self, oracle: TensorOracle, state: TensorState, count: int) -> None:
        """Try `count` pairs, or fewer if the method converges."""
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
        """Converge, unless random pairs have missed one that needs a rotation."""
        if self.order == "random":
            state.work.flops += limits[2] * ANGLE_FLOPS
        if state.stationary(limits):
            state.status = Status.CONVERGED
