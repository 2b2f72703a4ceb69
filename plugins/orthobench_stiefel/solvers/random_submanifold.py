"""Riemannian descent on random submanifolds."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.arrays import like, not_finite, where
from orthobench_kit.ending import finish_if, unless_ended
from orthobench_kit.memory import refusal_of
from orthobench_kit.stacks import matrix_rows, q_factor, sizes, transposed

from orthobench.contract import (
    Status,
    UsageError,
    flops,
    identity,
    namespace,
    orthonormalize,
    parameter,
)
from orthobench_stiefel import ProductOracle
from orthobench_stiefel.descent import (
    ArrayDescent,
    Iterate,
    batch_parameter,
    relative_parameter,
    size_of,
    tolerance_parameter,
)

COVER = 4
"""Number of draws, times (n/r)², that cover nearly every pair."""


@dataclass(slots=True, kw_only=True)
class SubmanifoldState(Iterate):
    """The iterate, the generator of coordinates, and their number r, `size`.

    `idle` is the number of steps since the gradient was last above the tolerance.
    """

    rng: np.random.Generator
    size: int
    idle: Any = 0


@dataclass(frozen=True)
class RandomSubmanifold(ArrayDescent[SubmanifoldState]):
    """RSDM: X <- X + P'(Y - I)PX with Y = qr(I - t skew(PG(PX)')), P random with r rows.

    P is r rows of a random permutation, in order, or of a random orthogonal matrix; r is half of n
    by default. A permutation needs only those rows of G, which set tolerance and unit. X is
    orthonormalized after ``orthonormalize`` steps, since rounding adds up; the authors never do
    that. It has converged if the gradient was small in 4(n/r)² steps, which cover nearly every
    pair of coordinates.

    Notes
    -----
    Flops of a step: rows of a gradient and 4r²p + 8r³/3 for permutations, or a gradient and 6nrp +
    4nr² + 4r²p + 4r³/3 for rotations. Memory: 2np + 3r², and nr for rotations.

    References
    ----------
    Han, Poirion and Takeda 2025, "Efficient optimization with orthogonality constraint: a
    randomized Riemannian submanifold method", Algorithm 1.
    """

    name: ClassVar[str] = "random-submanifold"
    source: ClassVar[str] = "Han, Poirion and Takeda 2025, Algorithm 1"

    sampling: str = parameter(
        "permutation", choices=("permutation", "rotation"), help="how coordinates are drawn"
    )
    size: int | None = parameter(None, low=2, help="coordinates rotated at a time; half by default")
    step_size: float = parameter(
        0.1, name="step", above=0.0, grid=(0.1, 0.3, 1.0, 3.0, 10.0), help="step"
    )
    orthonormalize: int = parameter(0, low=0, help="steps between orthonormalizations; 0: never")
    batch: int = batch_parameter()
    tolerance: float = tolerance_parameter()
    relative: bool = relative_parameter()

    def init(self, oracle: ProductOracle, rng: np.random.Generator) -> SubmanifoldState:
        begun = self.begun(oracle)
        _, n, p = sizes(begun["X"])
        size = max(2, n // 2) if self.size is None else self.size
        if size > n and self.size is not None:
            raise UsageError(f"size = {size} coordinates are more than the {n} rows of X")
        size = min(size, n)
        if too_large := refusal_of(3 * 8 * size**2, f"a rotation of {size} coordinates"):
            raise UsageError(f"{too_large}; pass a smaller size, such as {2 * p}")
        return SubmanifoldState(**begun, rng=rng, size=size)

    def step(self, oracle: ProductOracle, state: SubmanifoldState) -> None:
        state.work.steps += 1
        norm = (self._rows if self.sampling == "permutation" else self._mixed)(oracle, state)
        m, n, p = sizes(state.X)
        self._settle(state, norm, n)
        if self.orthonormalize and state.work.steps % self.orthonormalize == 0:
            state.X = unless_ended(state, q_factor(state.X), state.X)
            state.work.flops += m * flops.qr(n, p)

    def _rows(self, oracle: ProductOracle, state: SubmanifoldState) -> Any:
        (_, n, _), r = sizes(state.X), state.size
        drawn = np.sort(state.rng.choice(n, r, replace=False))
        rows = like(drawn, state.X)
        if self.batch:
            G = matrix_rows(state.estimated(oracle, state.X, self.batch), rows)
        else:
            G = state.scaled(oracle.gradient_rows(state.X, rows))
            state.work.samples += oracle.terms
            state.work.flops += oracle.gradient_rows_flops(r)
        some = matrix_rows(state.X, rows)
        turn, norm = self._turn(state, G, some)
        state.X = unless_ended(state, _replaced(state.X, drawn, turn @ some), state.X)
        return norm

    def _mixed(self, oracle: ProductOracle, state: SubmanifoldState) -> Any:
        (m, n, p), r = sizes(state.X), state.size
        P = identity(n, state.X)
        if r < n:
            P = orthonormalize(like(state.rng.standard_normal((n, r)), state.X))
        G = state.estimated(oracle, state.X, self.batch)
        state.work.flops += flops.qr(n, r) + 3 * m * flops.gemm(n, p, r)
        PX = P.T @ state.X
        turn, norm = self._turn(state, P.T @ G, PX)
        moved = state.X + P @ (turn @ PX - PX)
        state.X = unless_ended(state, moved, state.X)
        state.work.flops += size_of(PX) + size_of(state.X)
        return norm

    def _turn(self, state: SubmanifoldState, G: Any, X: Any) -> tuple[Any, Any]:
        """Return qr(I - t skew(GX')), and the norm of skew(GX')."""
        m, r, p = sizes(X)
        if isinstance(state.unit, float):  # zero before the first step
            state.unit = state.unit or state.norm_of(G)
        K = G @ transposed(X)
        skew = (K - transposed(K)) / 2
        turn = q_factor(identity(r, X) - self.step_size * skew)
        state.work.flops += m * (2 * flops.gemm(r, r, p) + flops.qr(r, r) + 5 * r * r)
        return turn, state.norm_of(skew)

    def _settle(self, state: SubmanifoldState, norm: Any, n: int) -> None:
        small = norm <= (0.0 if self.batch else self.tolerance) * state.unit
        state.idle = where(small, state.idle + 1, 0)
        enough = state.idle >= ceil(COVER * (n / state.size) ** 2)
        finish_if(state, enough, not_finite(norm))
        if state.status is Status.FAILED:
            state.fail()


def _replaced(X: Any, rows: NDArray[np.intp], some: Any) -> Any:
    if isinstance(X, np.ndarray):
        X[..., rows, :] = some
        return X
    order = np.arange(X.shape[-2])
    order[rows] = len(order) + np.arange(len(rows))
    xp = namespace(X)
    return xp.take(xp.concat([X, some], axis=-2), like(order, X), axis=-2)
