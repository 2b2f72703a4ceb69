"""Synthetic tensors with known orthonormal factors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations
from typing import ClassVar, TypeAlias

import numpy as np
from orthobench_kit.symmetric_tensors import composed, symmetrized

from orthobench.contract import Array, Instance, Solution, parameter, random_point
from orthobench_orthogonal_tensor import (
    AnyOrderOracle,
    FourthOrderOracle,
    OrthogonalTensor,
    orthogonal_tensor,
)

Measure: TypeAlias = Callable[[Solution], Mapping[str, float]]

SPECTRA = ("geometric", "linear")
"""How the weights fall: values of the parameter ``spectrum``."""


@dataclass(frozen=True)
class Odeco(OrthogonalTensor):
    """A nearly orthogonally decomposable tensor: random components, plus symmetric Gaussian noise.

    T = sum_i w_i a_i ⊗ a_i ⊗ a_i + E with weights that fall from `spread` to 1. The components are
    the columns of A = U G^½ with a uniformly random orthogonal U and G of ones on the diagonal and
    `overlap` elsewhere: unit vectors with equal inner products. The truth is U, the nearest
    orthonormal matrix. E is a Gaussian tensor averaged over the permutations of its indices, with
    `noise` times the norm of the rest.

    Ranked by ``recovery_error``. The optimum, the sum of the weights, is known only without noise
    and overlap.
    """

    name = "odeco"
    primary = "recovery_error"
    order: ClassVar[int] = 3

    d: int = parameter(20, help="dimension, and number of factors", low=2)
    spectrum: str = parameter("geometric", help="how the weights fall", choices=SPECTRA)
    spread: float = parameter(
        10.0, help="largest weight over the smallest, which is 1; 1: all equal", low=1.0, high=1e6
    )
    noise: float = parameter(
        0.0, help="norm of the noise over that of the tensor without", low=0.0, high=1e6
    )
    overlap: float = parameter(
        0.0, help="inner product of any two components; 0: orthogonal", low=0.0, below=1.0
    )

    @property
    def weights(self) -> Array:
        """The weights, shape (d,), decreasing from `spread` to 1."""
        if self.spectrum == "linear":
            return np.linspace(self.spread, 1.0, self.d)
        return np.geomspace(self.spread, 1.0, self.d)

    def build(self, rng: np.random.Generator) -> Instance[AnyOrderOracle]:
        U = random_point(self.d, self.d, rng)
        T = composed(self._components(U), self.weights, self.order)
        if self.noise:
            E = symmetric_gaussian(self.d, rng, self.order)
            T = T + E * (self.noise * np.linalg.norm(T) / np.linalg.norm(E))
        exact = not (self.noise or self.overlap)
        instance = orthogonal_tensor(T, factors=U, weights=self.weights if exact else None)
        best = {**instance.best, "recovery_error": 0.0} if exact else {}
        return replace(instance, measure=partial(_recovery_first, instance.measure), best=best)

    def _components(self, U: Array) -> Array:
        """Return U G^½: (1 - overlap)^½ on all of U, but for the mean of its columns."""
        if not self.overlap:
            return U
        rest, mean = np.sqrt(1 - self.overlap), np.sqrt(1 + (self.d - 1) * self.overlap)
        return np.asarray(rest * U + (mean - rest) / self.d * U.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class Odeco4(Odeco):
    """The same of order 4: T = sum_i w_i a_i ⊗ a_i ⊗ a_i ⊗ a_i + E."""

    name = "odeco-4"
    offers: ClassVar[type[AnyOrderOracle]] = FourthOrderOracle
    order: ClassVar[int] = 4

    d: int = parameter(10, help="dimension, and number of factors", low=2)


def symmetric_gaussian(d: int, rng: np.random.Generator, order: int = 3) -> Array:
    """Return a Gaussian tensor averaged over all permutations of its indices."""
    if order != 3:
        E = rng.standard_normal((d,) * order)
        places = list(permutations(range(order)))
        return np.asarray(sum(E.transpose(p) for p in places)) / len(places)
    E = rng.standard_normal((d, d, d))
    E = E + E.transpose(1, 0, 2)
    return symmetrized((E + E.transpose(2, 1, 0) + E.transpose(0, 2, 1)) / 6)


def _recovery_first(measure: Measure, solution: Solution) -> dict[str, float]:
    metrics = measure(solution)
    return {"recovery_error": metrics["recovery_error"], **metrics}
