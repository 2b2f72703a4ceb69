"""What all methods of this plugin share: a point, products that are counted, and normalization."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from orthobench_kit.stacks import each, lengths, sizes, stacked

from orthobench.contract import ArraySolver, State, Status, copied, flops, namespace
from orthobench_polar.oracle import PolarOracle, PolarSolution


@dataclass(slots=True, kw_only=True)
class PolarState(State):
    """A point on its way to the polar factor.

    Attributes
    ----------
    X : array, shape (n, p) or (b, n, p)
    rows : int
        The rows of A, by which products are counted.
    products : float
        `PolarSolution.products`.
    """

    X: Any
    rows: int
    products: float = 0.0


PolarStateT = TypeVar("PolarStateT", bound=PolarState)


class PolarSolver(ArraySolver[PolarOracle, PolarStateT]):
    """Base of the methods, which take arrays of any library, and batches of matrices."""

    def solution(self, state: Any) -> PolarSolution:
        """Return X, the matrices of a batch one below another."""
        return PolarSolution(stacked(copied(state.X)), products=state.products)


def counted(
    state: PolarState, *, tall: float = 0.0, small: float = 0.0, other: float = 0.0
) -> None:
    """Count work for each matrix (n, p) of a batch.

    Parameters
    ----------
    state : PolarState
    tall : float
        Products of 2np² flops: X'X, or X times a matrix (p, p).
    small : float
        Products of two matrices (p, p), 2p³ flops.
    other : float
        Flops beside products of matrices; those of factorizations count as products by their flops.
    """
    (m, _, p), n = sizes(state.X), state.rows
    done = tall * flops.gemm(n, p, p) + small * flops.gemm(p, p, p) + other
    state.work.flops += int(m * done)
    state.products += done / flops.gemm(n, p, p)


def normalized(A: Any) -> Any:
    """Return A / |A|_F, each matrix of a batch by itself; 3np flops."""
    return A / each(lengths(A))


def normalization_flops(A: Any) -> int:
    """Return the flops of `normalized` for one matrix."""
    _, n, p = sizes(A)
    return 3 * n * p


def rounding_unit(X: Any) -> float:
    """Return the distance from 1 to the next number of the precision of an array."""
    if isinstance(X, np.ndarray):
        return float(np.finfo(X.dtype).eps)
    return float(namespace(X).finfo(X.dtype).eps)


def finish(state: PolarState) -> None:
    """End the run: the method has done all of its steps."""
    state.status = Status.CONVERGED
