"""Costs written for torch or jax, with automatic differentiation."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.tools.arrays import Array


@dataclass(frozen=True)
class Differentiated(ABC):
    """A cost of another library as a function of NumPy arrays.

    `cost` maps a float64 array (n, p) of the library to one of shape (), `partials` to the partial
    derivatives (n, p), by default automatically.
    """

    cost: Callable[[Any], Any]
    partials: Callable[[Any], Any] | None = None

    def __call__(self, X: Array) -> Any:
        """Return the cost at X."""
        with self.exact():
            return self.to_numpy(self.value_there(self.from_numpy(X)))

    def both(self, X: Array) -> tuple[Any, NDArray[Any]]:
        """Return the cost at X and its gradient."""
        with self.exact():
            value, gradient = self.both_there(self.from_numpy(X))
        return self.to_numpy(value), self.to_numpy(gradient)

    def gradient(self, X: Array) -> NDArray[Any]:
        """Return the gradient at X."""
        return self.both(X)[1]

    def product(self, hessian: Callable[[Any, Any], Any]) -> Callable[[Array, Array], Array]:
        """Return the library's Hessian product as a function of NumPy arrays."""

        def of_numpy(X: Array, V: Array) -> Any:
            with self.exact():
                return self.to_numpy(hessian(self.from_numpy(X), self.from_numpy(V)))

        return of_numpy

    def value_there(self, X: Any) -> Any:
        """Return the cost at an array of the library."""
        return self.cost(X)

    def gradient_there(self, X: Any) -> Any:
        """Return the gradient at an array of the library."""
        return self.both_there(X)[1] if self.partials is None else self.partials(X)

    def both_there(self, X: Any) -> tuple[Any, Any]:
        """Return both at an array of the library."""
        if self.partials is None:
            return self.differentiate(X)
        return self.value_there(X), self.partials(X)

    @abstractmethod
    def differentiate(self, X: Any) -> tuple[Any, Any]:
        """Return the cost, and its automatic gradient."""

    @abstractmethod
    def from_numpy(self, X: Array) -> Any:
        """Return an array of the library, of 64-bit floats on the CPU."""

    @abstractmethod
    def to_numpy(self, values: Any) -> Any:
        """Return an array of NumPy."""

    def exact(self) -> AbstractContextManager[Any]:
        """Return a context in which the library computes in 64 bits."""
        return nullcontext()


class TorchCost(Differentiated):
    """A cost that is written for torch."""

    def value_there(self, X: Any) -> Any:
        import torch

        with torch.no_grad():
            return self.cost(X)

    def differentiate(self, X: Any) -> tuple[Any, Any]:
        import torch

        at = X.detach().requires_grad_()
        with torch.enable_grad():
            value = self.cost(at)
        (gradient,) = torch.autograd.grad(value, at)
        return value.detach(), gradient

    def from_numpy(self, X: Array) -> Any:
        import torch

        return torch.tensor(X, dtype=torch.float64)

    def to_numpy(self, values: Any) -> Any:
        return values.numpy(force=True) if hasattr(values, "numpy") else values


class JaxCost(Differentiated):
    """A cost that is written for jax, in 64 bits."""

    def differentiate(self, X: Any) -> tuple[Any, Any]:
        import jax

        value, gradient = jax.value_and_grad(self.cost)(X)
        return value, gradient

    def from_numpy(self, X: Array) -> Any:
        import jax

        return jax.numpy.asarray(X, dtype="float64")

    def to_numpy(self, values: Any) -> Any:
        return np.asarray(values)

    def exact(self) -> AbstractContextManager[Any]:
        import jax

        context: AbstractContextManager[Any] = jax.enable_x64(True)
        return context


def differentiated(
    cost: Callable[[Any], Any], X: Array, gradient: Callable[[Any], Any] | None = None
) -> Differentiated | None:
    """Return a cost with its gradient if it is written for torch or jax, otherwise None.

    The type of the cost at X (n, p), or at a tensor if X is refused, decides; no library is
    loaded.
    """
    torch, jax = sys.modules.get("torch"), sys.modules.get("jax")
    if torch is None and jax is None:
        return None
    try:
        value = cost(X.copy())
    except Exception:
        if torch is None:
            return None
        value = _tried(cost, torch.tensor(X))
    if torch is not None and isinstance(value, torch.Tensor):
        return TorchCost(cost, gradient)
    return JaxCost(cost, gradient) if jax is not None and isinstance(value, jax.Array) else None


def _tried(cost: Callable[[Any], Any], X: Any) -> Any:
    try:
        return cost(X)
    except Exception:
        return None
