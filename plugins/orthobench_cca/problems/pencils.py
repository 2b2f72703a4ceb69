"""Generalized eigenvalue problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from orthobench_kit.data import digits

from orthobench.contract import Instance, Problem, UsageError, parameter
from orthobench_cca.pencil import PencilOracle, generalized_eigenvectors


class GeneralizedEigenvectors(Problem[PencilOracle]):
    """Base of the problems of this family."""

    family = "generalized eigenvectors"
    offers: ClassVar[type[PencilOracle]] = PencilOracle
    primary = tuned_by = "suboptimality"


@dataclass(frozen=True)
class PlantedPencil(GeneralizedEigenvectors):
    """Random matrices A and B with the generalized eigenvalues 1, `ratio`, `ratio`², ...

    A = M diag(values) M' and B = MM'; B has the condition number `condition`.
    """

    name = "planted-pencil"

    n: int = parameter(50, help="rows of A and B", low=1)
    k: int = parameter(3, help="eigenvectors sought", low=1)
    ratio: float = parameter(0.8, help="of each eigenvalue to the one before", above=0.0, below=1.0)
    condition: float = parameter(10.0, help="condition number of B", low=1.0, high=1e6)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.k > self.n:
            raise UsageError(f"k must be at most n = {self.n}, not {self.k}")

    def build(self, rng: np.random.Generator) -> Instance[PencilOracle]:
        left, right = (np.linalg.qr(rng.standard_normal((self.n, self.n)))[0] for _ in range(2))
        M = (left * np.geomspace(1, self.condition**-0.5, self.n)) @ right
        return generalized_eigenvectors(
            (M * self.ratio ** np.arange(self.n)) @ M.T, M @ M.T, self.k
        )


@dataclass(frozen=True)
class DigitDiscriminants(GeneralizedEigenvectors):
    """Fisher's linear discriminants of the 1,797 handwritten digits of scikit-learn.

    A is the scatter of the means of the ten classes, B the scatter within classes. Blank pixels
    require a ridge of B, relative to the variance of a pixel.
    """

    name = "digit-discriminants"
    source = "handwritten digits of scikit-learn (Alpaydin and Kaynak 1998)"

    k: int = parameter(4, help="discriminants sought", low=1, high=9)
    ridge: float = parameter(
        0.01, help="ridge over the mean variance of a pixel", low=1e-6, high=1e6
    )

    def build(self, rng: np.random.Generator) -> Instance[PencilOracle]:
        X, labels = digits.pixels().astype(np.float64), digits.labels()
        means = np.stack([X[labels == label].mean(axis=0) for label in range(10)])
        between, within = means[labels] - X.mean(axis=0), X - means[labels]
        ridge = self.ridge * float(X.var(axis=0).mean()) * np.eye(X.shape[1])
        A, B = (rows.T @ rows / len(rows) for rows in (between, within))
        return generalized_eigenvectors(A, B + ridge, self.k)
