"""Rotations of activations before rounding to four bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from orthobench_kit.arrays import inner, rows_of

from orthobench.contract import Array, Instance, ParameterError, UsageError, parameter, random_point
from orthobench.tools.flops import gemm
from orthobench_stiefel import FiniteSumOracle, Stiefel, StiefelOracle, instance

LARGER = 12.0
"""Factor of columns with outliers."""

LEVELS = 7
"""Largest integer of a symmetric four-bit format."""


class KurtosisOracle(FiniteSumOracle):
    """The oracle of the kurtosis of the entries of WX, W (rows, n).

    It is their mean fourth power over m², m the mean square of the entries of W.
    """

    portable = True

    def __init__(self, W: Array) -> None:
        self.W, (self.terms, self.n), self.k = W, W.shape, W.shape[1]
        self.scale = W.size / inner(W, W) ** 2
        product = gemm(self.terms, self.n, self.n)
        self.cost_flops = product + 3 * W.size
        self.gradient_flops = 2 * product + 2 * W.size + self.n**2
        self.term_flops = self.gradient_flops // self.terms
        self.both_flops = self.gradient_flops + 2 * self.terms * self.n

    def value(self, X: Any) -> Any:
        squares = (self.W @ X) ** 2
        return self.scale * inner(squares, squares)

    def gradient(self, X: Any) -> Any:
        return self._from(self.W, self.W @ X, self.terms)

    def value_and_gradient(self, X: Any) -> tuple[Any, Any]:
        V = self.W @ X
        squares = V * V
        return self.scale * inner(squares, squares), self._from(self.W, V, self.terms)

    def terms_gradient(self, X: Any, chosen: Any) -> Any:
        W = rows_of(self.W, chosen)
        return self._from(W, W @ X, W.shape[0])

    def _from(self, W: Any, V: Any, rows: int) -> Any:
        return (W.T @ (V * V * V)) * (4 * self.scale * self.terms / rows)


@dataclass(frozen=True)
class WeightRotation(Stiefel):
    """Rotate heavy-tailed activations W so that the kurtosis of their entries is minimal.

    The kurtosis is a smooth proxy of ``rounding_error``, |WX - rounded to four bits|/|W|. The rows
    of W are multiples of the rows of a random orthogonal Q, by factors with Student's t
    distribution. For rows of length d the kurtosis is at least N sum d⁴/(sum d²)², attained at X =
    Q'H/sqrt(n), H a Hadamard matrix, so that n is a power of two.

    With ``outliers`` the entries of W have that distribution, and that number of random columns is
    twelve times as large. Then the bound need not be attained.

    References
    ----------
    Liu et al. 2024, "SpinQuant: LLM quantization with learned rotations", for the rotations.
    """

    name = "weight-rotation"
    offers = KurtosisOracle

    n: int = parameter(32, help="rows and columns of X, a power of two", low=1)
    rows: int = parameter(400, help="rows of W, N", low=1)
    tail: float = parameter(
        5.0, help="degrees of freedom of the factors: fewer have heavier tails", above=0.0, high=1e6
    )
    outliers: int = parameter(
        0, help="columns of outliers in W; 0: multiples of orthogonal rows", low=0
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.outliers > self.n:
            raise ParameterError(
                "outliers", f"outliers = {self.outliers} columns are more than n = {self.n}"
            )
        if self.n & (self.n - 1) and not self.outliers:
            raise UsageError(
                f"{self.name}: n must be a power of two, not {self.n}, where outliers = 0"
            )

    def build(self, rng: np.random.Generator) -> Instance[StiefelOracle]:
        W, squares = (self._outlying if self.outliers else self._planted)(rng)
        oracle = KurtosisOracle(W)
        least = self.rows * float(squares @ squares) / float(squares.sum()) ** 2
        return instance(oracle, least, further=Rounding(oracle.W))

    def _planted(self, rng: np.random.Generator) -> tuple[Array, Array]:
        Q = random_point(self.n, self.n, rng)
        chosen = rng.permutation(np.arange(self.rows) % self.n)
        factors = rng.standard_t(self.tail, self.rows)
        return factors[:, None] * Q[chosen], factors**2

    def _outlying(self, rng: np.random.Generator) -> tuple[Array, Array]:
        W = rng.standard_t(self.tail, (self.rows, self.n))
        W[:, rng.choice(self.n, self.outliers, replace=False)] *= LARGER
        return W, np.einsum("ij,ij->i", W, W)


@dataclass(frozen=True)
class Rounding:
    """The error of rounding WX to four bits, W (rows, n)."""

    W: Array

    def __call__(self, X: Array) -> dict[str, float]:
        """Return ``rounding_error``."""
        V = self.W @ X
        unit = np.abs(V).max(axis=1, keepdims=True) / LEVELS
        unit[unit == 0] = 1.0
        missed = V - unit * np.rint(V / unit)
        return {"rounding_error": float(np.linalg.norm(missed) / np.linalg.norm(self.W))}
