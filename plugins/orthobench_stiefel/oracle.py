"""Oracles of the Stiefel manifold, and the base class of its problems."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.stacks import matrix_rows, unstacked

from orthobench.contract.parameters import ParameterError
from orthobench.contract.problem import Oracle, Problem, Solution, Work
from orthobench.tools.arrays import Array, namespace
from orthobench.tools.geometry import polar

Cost: TypeAlias = Callable[[Array], float]
"""Maps X (n, p) to a number."""

Gradient: TypeAlias = Callable[[Array], Array]
"""Maps X to the matrix (n, p) of partial derivatives of the cost, not projected."""

Hessian: TypeAlias = Callable[[Array, Array], Array]
"""Maps X and V to the derivative of the gradient at X along V, a matrix (n, p)."""

WINDOW = 2**20
"""Maximum number of terms of a finite sum that are drawn ahead."""


class ProductOracle(Oracle, ABC):
    """A smooth function of one matrix or of a stack of them, each with orthonormal columns.

    Its solvers take a stack X (m, n, p), a point of a product of Stiefel manifolds, like a single
    X (n, p). A `Solution` has the matrices one below another, (mn, p).

    Subclasses write `value` and `gradient`, and override `value_and_gradient` if both share work
    and `gradient_rows` if some rows cost less than all. X may be off the manifold. If `portable`,
    they take and return arrays of any library, of shape () for a value.

    Attributes
    ----------
    n, k : int
        Rows of all matrices, and columns of each.
    stack : tuple of int
        The leading axes of X: (m,), or none for a single matrix.
    start : array, of the shape of X
        The point to begin at.
    cost_flops, gradient_flops : int
        Flops of one `value` and of one `gradient`; zero if unknown.
    terms : int
        Samples of an evaluation: 1, or the terms of a finite sum.
    """

    stack: tuple[int, ...] = ()
    terms: int = 1
    cost_flops: int = 0
    gradient_flops: int = 0
    shows: ClassVar[Mapping[str, str]] = {
        "cost": "a function of X (n, k) that returns a number, to be minimized",
        "gradient": "a function of X that returns the partial derivatives (n, k), not projected",
    }

    @property
    def start(self) -> Any:
        """The point to begin at."""
        return vars(self)["start"]

    @start.setter
    def start(self, drawn: Any) -> None:
        stacked = self.stack and drawn.ndim == 2
        vars(self)["start"] = polar(unstacked(drawn, self.stack)) if stacked else drawn

    @cached_property
    def cost(self) -> Cost:
        """The cost, as a function of X."""
        return self.value

    @cached_property
    def both_flops(self) -> int:
        """Flops of one `value_and_gradient`."""
        return self.cost_flops + self.gradient_flops

    @abstractmethod
    def value(self, X: Any) -> Any:
        """Return the cost at X."""

    @abstractmethod
    def gradient(self, X: Any) -> Any:
        """Return the partial derivatives at X, a fresh array of its shape, not projected."""

    def value_and_gradient(self, X: Any) -> tuple[Any, Any]:
        """Return both at X."""
        return self.value(X), self.gradient(X)

    def objective(self, solution: Solution) -> tuple[float, Work]:
        X = unstacked(solution.point, self.stack)
        return float(self.value(X)), Work(samples=self.terms, flops=self.cost_flops)

    def gradient_rows(self, X: Any, rows: Any) -> Any:
        """Return some rows of the gradient of each matrix, a fresh array."""
        return matrix_rows(self.gradient(X), rows)

    def gradient_rows_flops(self, count: int) -> int:
        """Return the flops of `gradient_rows` for a number of rows of each matrix."""
        return self.gradient_flops


class StiefelOracle(ProductOracle, ABC):
    """A smooth function of one X (n, p), p <= n, to be minimized over orthonormal columns.

    Attributes
    ----------
    hessian : callable, optional
        Maps NumPy's X and V to the derivative of the gradient at X along V.
    hessian_flops : int
        Flops of one such product; zero if unknown.
    """

    hessian: Hessian | None = None
    hessian_flops: int = 0


class FiniteSumOracle(StiefelOracle):
    """A mean of functions, the terms, some of which give an estimate of the gradient.

    Subclasses also write `terms_gradient`. Terms are drawn without replacement until all have been
    drawn, then in another order.

    Attributes
    ----------
    terms : int
        The number of terms.
    term_flops : int
        Flops of the gradient of one term.
    """

    term_flops: int = 0
    window: int = WINDOW
    _drawn: int = 0
    _ahead: int = 0
    _there: Any = None

    @abstractmethod
    def terms_gradient(self, X: Any, chosen: Any) -> Any:
        """Return the gradient at X of the mean of the chosen terms, a fresh array."""

    def rewind(self, rng: np.random.Generator) -> None:
        self._rng, self._drawn, self._ahead = rng, 0, 0
        self._order = rng.permutation(self.terms)

    @property
    def taken(self) -> int:
        return self._drawn - self._ahead

    def prepare(self, samples: int) -> None:
        missing = samples - self._ahead
        if self.place.is_default or missing <= 0:
            return
        there = self.placed(self._draw(missing))
        if self._ahead:
            there = namespace(there).concat([self._there[-self._ahead :], there])
        self._there, self._ahead = there, samples

    def stochastic_gradient(self, X: Any, batch: int) -> Any:
        """Return an unbiased estimate of the gradient at X (n, p), from the next `batch` terms."""
        if self.place.is_default:
            return self.terms_gradient(X, self._draw(batch))
        self.prepare(batch)
        begin = self._there.shape[0] - self._ahead
        self._ahead -= batch
        return self.terms_gradient(X, self._there[begin : begin + batch])

    def _draw(self, count: int) -> NDArray[np.intp]:
        drawn: list[NDArray[np.intp]] = []
        while count > 0:
            at = self._drawn % self.terms
            if at == 0 and self._drawn:
                self._order = self._rng.permutation(self.terms)
            drawn.append(self._order[at : at + count])
            self._drawn, count = self._drawn + len(drawn[-1]), count - len(drawn[-1])
        return np.concatenate(drawn)


class Stiefel(Problem[ProductOracle]):
    """Base of the problems of this family, each with a parameter n, the rows of X."""

    family: ClassVar[str] = "Stiefel manifold"
    offers: ClassVar[type[ProductOracle]] = StiefelOracle  # type: ignore[type-abstract]
    primary: ClassVar[str] = "objective_gap"
    tuned_by: ClassVar[str] = "objective"

    n: int

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        n, p = getattr(self, "n", None), getattr(self, "p", None)
        if n is not None and p is not None and p > n:
            raise ParameterError("p", f"p = {p} columns are more than n = {n} rows")

    @property
    def square(self) -> bool:
        """Whether X is square, so that methods for the orthogonal group apply."""
        return self.n == getattr(self, "p", self.n)
