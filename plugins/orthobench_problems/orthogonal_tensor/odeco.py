"""Synthetic tensors with known orthonormal factors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from orthobench.contract import Array, Instance, Solution, parameter, random_point
from orthobench.families.orthogonal_tensor import OrthogonalTensor, TensorOracle, orthogonal_tensor
from orthobench.families.symmetric_tensors import composed, symmetrized

Measure: TypeAlias = Callable[[Solution], Mapping[str, float]]

SPECTRA = ("geometric", "linear")
"""How the weights fall: values of the parameter ``spectrum``."""


@dataclass(frozen=True)
class Odeco(OrthogonalTensor):
    """An orthogonally decomposable tensor with random factors, plus symmetric Gaussian noise.

    T = sum_i w_i u_i ⊗ u_i ⊗ u_i + E with a uniformly random orthogonal U = [u_1 ... u_d] and
    weights that fall from `spread` to 1. E is a Gaussian tensor averaged over the permutations of
    its indices; its Frobenius norm is `noise` times that of the rest.

    Ranked by ``recovery_error``, since the factors are known whatever the noise. The optimum, the
    sum of the weights, is known only without noise.
    """

    name = "odeco"
    primary = "recovery_error"

    d: int = parameter(20, help="dimension, and number of factors", low=2)
    spectrum: str = parameter("geometric", help="how the weights fall", choices=SPECTRA)
    spread: float = parameter(
        10.0, help="largest weight over the smallest, which is 1; 1: all equal", low=1.0, high=1e6
    )
    noise: float = parameter(
        0.0, help="norm of the noise over that of the tensor without", low=0.0, high=1e6
    )

    @property
    def weights(self) -> Array:
        """The weights, shape (d,), decreasing from `spread` to 1."""
        if self.spectrum == "linear":
            return np.linspace(self.spread, 1.0, self.d)
        return np.geomspace(self.spread, 1.0, self.d)

    def build(self, rng: np.random.Generator) -> Instance[TensorOracle]:
        """Return the instance; `rng` draws the factors and the noise."""
        U = random_point(self.d, self.d, rng)
        T = composed(U, self.weights)
        weights = self.weights
        if self.noise:
            E = symmetric_gaussian(self.d, rng)
            T = T + E * (self.noise * np.linalg.norm(T) / np.linalg.norm(E))
        instance = orthogonal_tensor(T, factors=U, weights=None if self.noise else weights)
        best = {} if self.noise else {**instance.best, "recovery_error": 0.0}
        return replace(instance, measure=partial(_recovery_first, instance.measure), best=best)


def symmetric_gaussian(d: int, rng: np.random.Generator) -> Array:
    """Return a Gaussian tensor (d, d, d) averaged over all six permutations of its indices."""
    E = rng.standard_normal((d, d, d))
    E = E + E.transpose(1, 0, 2)
    return symmetrized((E + E.transpose(2, 1, 0) + E.transpose(0, 2, 1)) / 6)


def _recovery_first(measure: Measure, solution: Solution) -> dict[str, float]:
    """Return the family's metrics with ``recovery_error`` first."""
    metrics = measure(solution)
    return {"recovery_error": metrics["recovery_error"], **metrics}
