"""The subspace power method."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import numpy as np
from orthobench_orthogonal_tensor import AnyOrderOracle, decomposition

from orthobench.contract import (
    Array,
    Solution,
    Solver,
    State,
    Status,
    complete,
    flops,
    parameter,
    polar,
)

NULL = 1e-10
"""Singular value of the flattened tensor, relative to the largest, below which it is rounding."""

ACCEPTED = 1e-8
"""Value of 1 - f(x) below which x is a component: no other start is tried."""

LONGEST = 5000
"""Maximum number of iterations from one start."""


@dataclass(slots=True, kw_only=True)
class SubspacePowerState(State):
    """The components found, and the flattened tensor without them.

    Attributes
    ----------
    start : ndarray, shape (n, n)
        Orthonormal columns; the last ones complete solutions.
    left : ndarray, shape (n, n, r)
        An orthonormal basis of the span of the matrices a_i a_i' still to be found.
    right : ndarray, shape (n^(d - 2), r)
        The same of the a_i for order 3, or of the a_i a_i', flattened, for order 4.
    inverse : ndarray, shape (r, r)
        The inverse of the flattened tensor between these bases.
    components : ndarray, shape (n, found)
        Unit columns a_i.
    """

    order: int
    rng: np.random.Generator
    start: Array
    left: Array
    right: Array
    inverse: Array
    components: Array
    weights: Array


@dataclass(frozen=True)
class SubspacePower(Solver[AnyOrderOracle, SubspacePowerState]):
    """Subspace power method: maximize |V'(x ⊗ x)|² on the sphere, deflate, and so on.

    T = sum_i w_i a_i ⊗ ... ⊗ a_i is flattened to a matrix (n², n^(d - 2)). V is an orthonormal
    basis of its n leading left singular vectors, which span the a_i ⊗ a_i. Only at the a_i f(x) =
    |V'(x ⊗ x)|² is 1: they need be linearly independent, but not orthogonal. One after the other

        x <- V_x (x'V_x) + gamma x, normalized,         V_x = V contracted with x,

    with gamma = (1/2)^½ times (2f(1 - f))^½ if f > 2/3, or else 1 - f/2, until x moves by at most
    `tolerance`. The weight of a component is w = 1 / (beta'C^-1 alpha) in coordinates alpha of a ⊗
    a and beta of the rest; subtracting it lowers the rank of the flattened tensor.

    The first of `starts` random starts with f > 1 - 1e-8 is taken, or else the best. A step is a
    component. Solutions are the orthonormal matrix nearest to the components found, completed by
    the common start.

    Notes
    -----
    An iteration takes 2n²r + 4nr flops with r components left, and deflation 4n²r + 4n^(d - 2) r +
    8r². The first decomposition takes 3n⁴ + 20n³, for order 4 9/8 n⁶. Memory: n³ doubles; for
    order 4 2n³, and n⁴ / 4 for that decomposition.

    References
    ----------
    Kileel and Pereira 2019, "Subspace power method for symmetric tensor decomposition", Algorithm
    1, with its shift; for odd order as in their code. The threshold is stricter than theirs, since
    one wrong component spoils all that follow.
    """

    starts: int = parameter(3, help="maximum number of starts for a component", low=1)
    tolerance: float = parameter(
        1e-13, help="distance that x moves in the last iteration", low=1e-15, below=1.0
    )

    converges: ClassVar[bool] = True
    name: ClassVar[str] = "subspace-power"
    source: ClassVar[str] = "Kileel and Pereira 2019, Algorithm 1"

    def init(self, oracle: AnyOrderOracle, rng: np.random.Generator) -> SubspacePowerState:
        n, order = oracle.n, oracle.T.ndim
        left, values, right = flattened(oracle.T)
        rank = min(n, int(np.count_nonzero(np.abs(values) > NULL * np.abs(values[0]))))
        state = SubspacePowerState(
            order=order,
            rng=rng,
            start=oracle.start.copy(),
            left=np.ascontiguousarray(left[..., :rank]),
            right=np.ascontiguousarray(right[:, :rank]),
            inverse=np.diag(1 / values[:rank]),
            components=np.empty((n, 0)),
            weights=np.empty(0),
        )
        state.work.flops += flattening_flops(n, order) + rank
        return state

    def step(self, oracle: AnyOrderOracle, state: SubspacePowerState) -> None:
        a, power = self._component(state)
        alpha = a @ power
        beta = state.right.T @ (a if state.order == 3 else np.outer(a, a).ravel())
        into, out_of = state.inverse @ alpha, beta @ state.inverse
        weight = 1 / (beta @ into)
        state.work.steps += 1
        if not np.isfinite(weight):
            state.status, state.reason = Status.FAILED, "a component has no finite weight"
            return
        state.components = np.column_stack([state.components, a])
        state.weights = np.append(state.weights, weight)
        state.work.flops += _deflation_flops(state)
        self._deflate(state, into, out_of)
        if not len(state.inverse):
            state.status = Status.CONVERGED

    def solution(self, state: SubspacePowerState) -> Solution:
        """Return the orthonormal matrix nearest to the components, with their weights."""
        n, found = state.components.shape
        nearest = polar(state.components) if found else state.components
        weights = np.concatenate([state.weights, np.zeros(n - found)])
        return decomposition(complete(nearest, state.start, n), weights, state.order)

    def _component(self, state: SubspacePowerState) -> tuple[Array, Array]:
        f, best, power = self._climb(state)
        for _ in range(self.starts - 1):
            if f > 1 - ACCEPTED:
                break
            other = self._climb(state)
            if other[0] > f:
                f, best, power = other
        return best, power

    def _climb(self, state: SubspacePowerState) -> tuple[float, Array, Array]:
        """Return the end of the iteration from a random start: f, x and V contracted with x."""
        n, _, rank = state.left.shape
        rows = state.left.reshape(n, n * rank)
        x = np.asarray(state.rng.standard_normal(n))
        x /= np.linalg.norm(x)
        for _ in range(LONGEST):
            power = (x @ rows).reshape(n, rank)
            coordinates = x @ power
            y = power @ coordinates + shift(float(coordinates @ coordinates)) * x
            y /= np.linalg.norm(y)
            moved = float(np.linalg.norm(y - x))
            x = y
            state.work.flops += 2 * n * n * rank + 4 * n * rank + 2 * rank + 8 * n
            if moved <= self.tolerance:
                break
        power = (x @ rows).reshape(n, rank)
        coordinates = x @ power
        state.work.flops += 2 * n * n * rank + 2 * n * rank + 2 * rank + 3 * n
        return float(coordinates @ coordinates), x, power

    def _deflate(self, state: SubspacePowerState, into: Array, out_of: Array) -> None:
        """Drop the directions of the component: C^-1 alpha right, C^-1' beta left."""
        n, _, rank = state.left.shape
        left = less_one_direction(state.left.reshape(n * n, rank), out_of)
        state.left = left.reshape(n, n, rank - 1)
        state.right = less_one_direction(state.right, into)
        inner = less_one_direction(state.inverse, out_of)
        state.inverse = less_one_direction(inner.T, into).T


def shift(f: float) -> float:
    """Return gamma of the iteration at a point with f."""
    f = min(f, 1.0)
    return sqrt(0.5) * (sqrt(2 * f * (1 - f)) if f > 2 / 3 else 1 - f / 2)


def less_one_direction(A: Array, direction: Array) -> Array:
    """Return A H without its first column, H the reflection of a direction onto the first axis."""
    v = direction / np.linalg.norm(direction)
    v[0] += np.copysign(1.0, v[0])
    v /= np.linalg.norm(v)
    return np.asarray(A[:, 1:] - np.outer(2 * (A @ v), v[1:]))


def flattened(T: Array) -> tuple[Array, Array, Array]:
    """Return T, flattened to (n², n^(d - 2)), as left diag(values) right', largest values first.

    Equal rows (b, c) and (c, b) are one, times √2, with the same singular values. Left (n, n, r) is
    symmetric in the first two indices and orthonormal; right is (n^(d - 2), r). For order 4 values
    are eigenvalues, with signs.
    """
    n = len(T)
    rows, columns = np.triu_indices(n)
    scale = np.where(rows == columns, 1.0, sqrt(2))
    if T.ndim == 3:
        half, values, right = np.linalg.svd(T[rows, columns] * scale[:, None], full_matrices=False)
        return _square(half, scale), values, right.T
    S = T[rows, columns][:, rows, columns] * scale[:, None] * scale
    values, half = np.linalg.eigh(S)
    order = np.argsort(-np.abs(values), kind="stable")[:n]
    left = _square(half[:, order], scale)
    return left, values[order], left.reshape(n * n, -1)


def _square(half: Array, scale: Array) -> Array:
    """Return symmetric matrices (n, n, r) from their upper halves (n(n + 1)/2, r)."""
    n = int(sqrt(2 * len(half)))
    rows, columns = np.triu_indices(n)
    whole = np.empty((n, n, half.shape[1]))
    whole[rows, columns] = whole[columns, rows] = half / scale[:, None]
    return whole


def flattening_flops(n: int, order: int) -> int:
    """Return the flops of `flattened`."""
    half = n * (n + 1) // 2
    if order == 3:
        return half * n + flops.svd(half, n) + half * n
    return 2 * half * half + flops.eigh(half) + half * n


def _deflation_flops(state: SubspacePowerState) -> int:
    (n, _, rank), size = state.left.shape, len(state.right)
    weight = flops.gemm(1, rank, n) + flops.gemm(rank, 1, size) + 2 * flops.gemm(rank, 1, rank)
    weight += 2 * rank + 1 + (n * n if state.order == 4 else 0)
    rows = n * n + size + rank + max(rank - 1, 0)
    return int(weight + rows * (4 * rank - 1) + 28 * rank)
