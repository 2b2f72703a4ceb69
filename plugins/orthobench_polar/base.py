"""State and base classes of the methods, with counted products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from orthobench_kit.arrays import like
from orthobench_kit.stacks import lengths, sizes, stacked, transposed

from orthobench.contract import ArraySolver, Solver, State, copied, flops, namespace
from orthobench.tools.places import Place
from orthobench_polar.oracle import PolarOracle, PolarSolution


@dataclass(slots=True, kw_only=True)
class PolarState(State):
    """A point X (n, p) or (b, n, p), with `rows` of A and `products`, those of `PolarSolution`."""

    X: Any
    rows: int
    products: float = 0.0


PolarStateT = TypeVar("PolarStateT", bound=PolarState)


class PolarMethod(Solver[PolarOracle, PolarStateT]):
    """Base of all methods."""

    converges: ClassVar[bool] = True
    reads_start: ClassVar[bool] = False

    def solution(self, state: Any) -> PolarSolution:
        return PolarSolution(stacked(copied(state.X)), products=state.products)


class PolarSolver(PolarMethod[PolarStateT], ArraySolver[PolarOracle, PolarStateT]):
    """Base of the methods that take arrays of any library, and batches of matrices."""


class Factorizing(PolarSolver[PolarStateT]):
    """Base of methods that factorize, in single and double precision."""

    @classmethod
    def computes_on(cls, place: Place) -> bool:
        return super().computes_on(place) and place.dtype in ("float64", "float32")


def lost(X: Any) -> int:
    """Return the number of zero singular values, if others are one."""
    return round(float(namespace(X).sum(X.shape[-1] - lengths(X) ** 2)))


def completed(X: Any, A: Any) -> Any:
    """Return X with orthonormal columns in lost directions, too.

    The singular values of X (n, p), or of a batch, are near one, or zero. For zeros the columns
    are those of the polar factor of A, or arbitrary if A vanishes. 2np² + 9p³ flops for each
    matrix, and 8npm + 2(6nm² + 20m³) for m directions.
    """
    xp = namespace(X)
    if X.ndim > 2:
        return xp.stack([completed(x, a) for x, a in zip(X, A, strict=True)])
    n = X.shape[0]
    values, V = xp.linalg.eigh(transposed(X) @ X)
    m = int(xp.sum(values < 0.5))
    if not m:
        return X
    N, V = V[:, :m], V[:, m:]
    X = X @ (V / xp.sqrt(values[m:])) @ transposed(V)
    random = like(np.random.default_rng(0).standard_normal((n, m)), X)
    W = A @ N + rounding_unit(X) * xp.max(xp.abs(A)) * random
    for _ in range(2):  # once more, for what the projection left of rounding
        U, _, Vt = xp.linalg.svd(W - X @ (transposed(X) @ W), full_matrices=False)
        W = U @ Vt
    return X + W @ transposed(N)


def counted(
    state: PolarState, *, tall: float = 0.0, small: float = 0.0, other: float = 0.0
) -> None:
    """Count work for each matrix (n, p) of a batch.

    Parameters
    ----------
    tall : float
        Products of 2np² flops: X'X, or X times a matrix (p, p).
    small : float
        Products of two matrices (p, p), 2p³ flops.
    other : float
        Flops of other operations; factorizations count as products with the same flops.
    """
    (m, _, p), n = sizes(state.X), state.rows
    done = tall * flops.gemm(n, p, p) + small * flops.gemm(p, p, p) + other
    state.work.flops += int(m * done)
    state.products += done / flops.gemm(n, p, p)


def rounding_unit(X: Any) -> float:
    """Return the distance from 1 to the next number of an array's precision."""
    return float(namespace(X).finfo(X.dtype).eps)
