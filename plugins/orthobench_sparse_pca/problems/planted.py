"""Synthetic samples with known sparse loadings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array, Instance, Solution, UsageError, parameter
from orthobench_sparse_pca import SparsePCAOracle
from orthobench_sparse_pca.problems.parts import SplitProblem, check_components, scaled

Measure: TypeAlias = Callable[[Solution], Mapping[str, float]]


@dataclass(frozen=True)
class PlantedSparse(SplitProblem):
    """Gaussian samples with covariance V diag(v) V' + noise I, V with sparse orthonormal columns.

    Every column of V has `nonzeros` entries of equal size and random sign, in random features;
    neighbouring columns share `overlap` of them. The variances v fall geometrically from `spread`
    to 1. The test part is drawn afresh; the mean of the training part is subtracted from both. The
    judge adds `support_f1`.
    """

    name = "planted-sparse"

    m: int = parameter(5, help="components planted, and sought", low=1)
    d: int = parameter(500, help="features", low=2)
    samples: int = parameter(200, help="training samples", low=2)
    nonzeros: int = parameter(20, help="non-zero loadings of a component", low=1)
    overlap: int = parameter(
        0, help="features that neighbouring components share: even, at most half of nonzeros", low=0
    )
    spread: float = parameter(
        4.0, help="variance of the first component over that of the last", low=1.0, high=1e100
    )
    noise: float = parameter(
        0.05, help="variance of the noise, the same in every feature", low=1e-12, high=1e100
    )
    test: int = parameter(1000, help="fresh samples for the judge", low=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_components(self.m, self.d, self.samples)
        if self.overlap % 2 or 2 * self.overlap > self.nonzeros:
            raise UsageError(
                f"overlap must be even and at most half of nonzeros = {self.nonzeros}, "
                f"not {self.overlap}"
            )
        needed = self.m * self.nonzeros - (self.m - 1) * self.overlap
        if needed > self.d:
            raise UsageError(
                f"{self.m} components of {self.nonzeros} non-zeros need {needed} features, "
                f"d is {self.d}"
            )

    @property
    def variances(self) -> Array:
        """The variances v of the components, shape (m,), decreasing from `spread` to 1."""
        steps = np.arange(self.m - 1, -1, -1) / max(1, self.m - 1)
        variances: Array = self.spread**steps
        return variances

    def loadings(self, rng: np.random.Generator) -> Array:
        """Draw V (d, m). In shared features half of the products of entries are positive."""
        V = np.zeros((self.d, self.m))
        order = rng.permutation(self.d)
        for j in range(self.m):
            first = j * (self.nonzeros - self.overlap)
            rows = order[first : first + self.nonzeros]
            signs = rng.choice([-1.0, 1.0], self.nonzeros)
            if j > 0:
                shared = rows[: self.overlap]
                signs[: self.overlap] = np.sign(V[shared, j - 1])
                signs[: self.overlap : 2] *= -1
            V[rows, j] = signs / np.sqrt(self.nonzeros)
        return V

    def build(self, rng: np.random.Generator) -> Instance[SparsePCAOracle]:
        V = self.loadings(rng)
        train = self._draw(V, self.samples, rng)
        parts = scaled(train, self._draw(V, self.test, rng), "centred")
        instance = self.instance(parts, rng)
        judge = partial(_with_support, instance.measure, V)
        return replace(instance, measure=judge, best={**instance.best, "support_f1": 1.0})

    def _draw(self, V: Array, count: int, rng: np.random.Generator) -> Array:
        factors = rng.standard_normal((count, self.m)) * np.sqrt(self.variances)
        noise = rng.standard_normal((count, self.d)) * np.sqrt(self.noise)
        samples: Array = factors @ V.T + noise
        return samples


def _with_support(measure: Measure, loadings: Array, solution: Solution) -> dict[str, float]:
    return {**measure(solution), "support_f1": support_f1(solution.point != 0, loadings != 0)}


def support_f1(found: NDArray[np.bool_], true: NDArray[np.bool_]) -> float:
    """Return the mean F1 score of supports under the best one-to-one matching of components.

    For supports S and T it is 2 |S & T| / (|S| + |T|), the harmonic mean of precision and recall;
    zero for an empty support. Both arrays have the shape (d, m), without an empty column of
    `true`. 2dm² operations, and an assignment problem of size m.
    """
    from scipy.optimize import linear_sum_assignment

    common = found.T.astype(np.int64) @ true
    sizes = found.sum(axis=0)[:, None] + true.sum(axis=0)
    f1 = 2 * common / sizes
    rows, columns = linear_sum_assignment(f1, maximize=True)
    return float(f1[rows, columns].mean())
