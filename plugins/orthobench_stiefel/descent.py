"""State and base classes of the methods."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, prod, sqrt
from typing import Any, TypeVar

import numpy as np
from orthobench_kit.arrays import norm, not_finite, ratio
from orthobench_kit.ending import EndingSolver, EndingState, finish_if
from orthobench_kit.polar import newton_schulz
from orthobench_kit.stacks import defects, most, q_factor, sizes, stacked

from orthobench.contract import (
    Solution,
    Solver,
    Status,
    UsageError,
    copied,
    flops,
    namespace,
    parameter,
)
from orthobench.contract.solver import OracleT_contra, StateT
from orthobench_stiefel import FiniteSumOracle, ProductOracle

DRIFT = 1e-13
"""Maximum |X'X - I| of an iterate that is left as it is."""


@dataclass(slots=True, kw_only=True)
class Iterate(EndingState):
    """The iterate, and the unit of its gradients.

    Attributes
    ----------
    X : array, shape (n, p) or (m, n, p)
    unit : number
        Norm of the partial derivatives at the start.
    factor : number, or None
        Factor of cost and gradients: 1 if steps are absolute, or one over the norm of the first
        gradient, and None before it.
    """

    X: Any
    unit: Any = 0.0
    factor: Any = None

    def scaled(self, G: Any) -> Any:
        """Return a gradient times `factor`, which the first nonzero gradient sets."""
        if isinstance(self.factor, int):  # absolute
            return G
        if self.factor is None:
            norm = length_of(G) / sqrt(sizes(G)[0])
            if isinstance(norm, float) and not 0 < norm < inf:
                return G
            self.factor = ratio(1.0, norm, 1.0)
        self.work.flops += size_of(G)
        return self.factor * G

    def evaluated(self, oracle: ProductOracle, X: Any) -> tuple[Any, Any]:
        """Return value and gradient at X, in the unit, counted."""
        self.work.samples += oracle.terms
        self.work.flops += oracle.both_flops
        value, G = oracle.value_and_gradient(X)
        G = self.scaled(G)
        plain = self.factor is None or isinstance(self.factor, int)
        return (value if plain else value * self.factor), G

    def estimated(self, oracle: ProductOracle, X: Any, batch: int) -> Any:
        """Return the gradient at X, or its estimate, counted."""
        if batch and isinstance(oracle, FiniteSumOracle):
            self.work.samples += batch
            self.work.flops += batch * oracle.term_flops
            return self.scaled(oracle.stochastic_gradient(X, batch))
        self.work.samples += oracle.terms
        self.work.flops += oracle.gradient_flops
        return self.scaled(oracle.gradient(X))

    def norm_of(self, A: Any) -> Any:
        """Return the Frobenius norm, 2np flops, counted."""
        self.work.flops += 2 * size_of(A)
        return norm(A)

    def measured(self, G: Any) -> bool:
        """Set the unit by the first gradient; end the run if it is zero."""
        if self.work.steps > 1:
            return False
        self.unit = self.norm_of(G)
        return self.settle(self.unit, 0.0)

    def settle(self, norm: Any, tolerance: float) -> bool:
        """End the run if the norm of the Riemannian gradient is not finite or small.

        `tolerance` is relative to the unit.
        """
        small, lost = norm <= tolerance * self.unit, not_finite(norm)
        if (small is False and lost is False) or not finish_if(self, small, lost):
            return False
        if self.status is Status.FAILED:
            self.fail()
        return True

    def fail(self) -> None:
        """End the run because a gradient is not finite."""
        self.status = Status.FAILED
        self.reason = (
            f"the gradient is not finite at step {self.work.steps}: the step is too long for the "
            "method, or the cost is not smooth there"
        )

    def cleaned(self, X: Any) -> Any:
        """Return X, or its Q factor if |X'X - I| is above `DRIFT`; 2np² flops, counted.

        Outside NumPy it is always X (3I - X'X)/2, which reads no value from a device.
        """
        m, n, p = sizes(X)
        self.work.flops += m * (flops.gemm(p, p, n) + 3 * p * p)
        if not isinstance(X, np.ndarray):
            return newton_schulz(X)
        if most(defects(X)) <= DRIFT:
            return X
        self.work.flops += m * flops.qr(n, p)
        return q_factor(X)


class Descent(Solver[OracleT_contra, StateT]):
    """Base of methods that begin at the common start."""

    def begun(self, oracle: ProductOracle) -> dict[str, Any]:
        """Return the start and the first `Iterate.factor`; check the batch."""
        check_batch(oracle, getattr(self, "batch", 0))
        factor = None if getattr(self, "relative", True) else 1
        return {"X": copied(oracle.start), "factor": factor}

    def solution(self, state: Any) -> Solution:
        return Solution(stacked(copied(state.X)))


IterateT = TypeVar("IterateT", bound=Iterate)


class ArrayDescent(Descent[ProductOracle, IterateT], EndingSolver[ProductOracle, IterateT]):
    """Base of methods for arrays of any library; a stack has one step and one end."""

    def advance(self, oracle: ProductOracle, state: Any, count: int) -> None:
        super().advance(oracle, state, count)
        if state.status is Status.FAILED and not state.reason:
            state.fail()


def relative_parameter(what: str = "step") -> Any:
    """Declare the parameter ``relative`` for the quantity `what`."""
    return parameter(
        True, help=f"{what} for a cost of first gradient norm one; false: for the cost as it is"
    )


def tolerance_parameter() -> Any:
    """Declare the parameter ``tolerance``."""
    return parameter(
        1e-10, low=0.0, help="norm of the Riemannian gradient to end at, over that of the first G"
    )


def batch_parameter() -> Any:
    """Declare the parameter ``batch``."""
    return parameter(0, low=0, help="terms of a finite sum for a gradient; 0: all")


def momentum_parameter(which: str = "") -> Any:
    """Declare the parameter ``momentum``."""
    return parameter(
        0.0, low=0.0, below=1.0, help=f"share of the last step's direction in the next{which}"
    )


def check_batch(oracle: ProductOracle, batch: int) -> None:
    """Refuse batches if the function is not a finite sum."""
    if batch and not isinstance(oracle, FiniteSumOracle):
        raise UsageError(f"batch = {batch} needs a cost that is a finite sum; take batch = 0")


def length_of(A: Any) -> Any:
    """Return the Frobenius norm, without overflow or underflow of squares."""
    xp = namespace(A)
    largest = xp.max(xp.abs(A))
    if isinstance(A, np.ndarray):
        largest = float(largest)
        return largest * norm(A / largest) if 0 < largest < inf else largest
    return largest * norm(A * ratio(1.0, largest, 0.0))


def size_of(A: Any) -> int:
    """Return the number of entries of an array."""
    return A.size if isinstance(A, np.ndarray) else prod(A.shape)
