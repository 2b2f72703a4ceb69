"""Problems of spectral powers and polar factors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, Instance, Problem, parameter
from orthobench_polar.maker import polar, spectral_power
from orthobench_polar.oracle import PolarOracle, SpectralOracle

RECORDED = Path(__file__).parent / "recorded.npz"
"""The recording by `orthobench_polar.problems.recording`."""


@dataclass(frozen=True)
class PolarFactor(Problem[SpectralOracle]):
    """Base of the problems of this family."""

    family = "polar factor"
    offers: ClassVar[type[SpectralOracle]] = PolarOracle
    primary = tuned_by = "distance"


@dataclass(frozen=True)
class Shaped(PolarFactor):
    """Base of problems with random matrices (aspect p, p)."""

    p: int = parameter(64, help="columns", low=1)
    aspect: float = parameter(1.0, help="rows over columns", low=1.0)
    batch: int = parameter(0, help="how many matrices; 0: a single one", low=0)

    def shape(self) -> tuple[int, ...]:
        """Return the shape of A."""
        shape = (round(self.aspect * self.p), self.p)
        return (self.batch, *shape) if self.batch else shape


@dataclass(frozen=True)
class GaussianPolar(Shaped):
    """Standard normal entries; square ones have a few small singular values."""

    name = "gaussian-polar"

    def build(self, rng: np.random.Generator) -> Instance[SpectralOracle]:
        return polar(rng.standard_normal(self.shape()))


@dataclass(frozen=True)
class CauchyPolar(Shaped):
    """Cauchy entries: a few rows and columns have nearly all of the norm."""

    name = "cauchy-polar"

    def build(self, rng: np.random.Generator) -> Instance[SpectralOracle]:
        return polar(rng.standard_cauchy(self.shape()))


@dataclass(frozen=True)
class ScaledColumns(Shaped):
    """Standard normal entries, with columns scaled from 1 to 1 / `scale`."""

    name = "scaled-columns-polar"

    scale: float = parameter(100.0, help="largest over smallest scale of a column", low=1.0)

    def build(self, rng: np.random.Generator) -> Instance[SpectralOracle]:
        return polar(rng.standard_normal(self.shape()) / np.geomspace(1, self.scale, self.p))


@dataclass(frozen=True)
class PrescribedSpectrum(Shaped):
    """Random singular vectors, and singular values from 1 to 1 / `condition`.

    - ``log-uniform``: evenly spaced logarithms.
    - ``clustered``: half of them 1, the others 1 / `condition`.
    - ``heavy-tail``: i^-t for i = 1 to p, ending at 1 / `condition`.
    - ``deficient``: log-uniform, the last quarter zero.
    """

    name = "spectrum-polar"

    condition: float = parameter(1e3, help="largest over smallest singular value", low=1.0)
    spectrum: str = parameter(
        "log-uniform",
        choices=("log-uniform", "clustered", "heavy-tail", "deficient"),
        help="how singular values are spaced",
    )

    def values(self) -> Array:
        """Return the singular values, descending."""
        if self.spectrum == "clustered":
            small = np.arange(self.p) >= (self.p + 1) // 2
            return np.asarray(np.where(small, 1 / self.condition, 1.0))
        if self.spectrum == "heavy-tail":
            power = np.log(self.condition) / max(np.log(self.p), 1.0)
            return np.asarray(np.arange(1.0, self.p + 1) ** -power)
        found = np.geomspace(1, 1 / self.condition, self.p)
        if self.spectrum == "deficient":
            found[self.p - self.p // 4 :] = 0.0
        return found

    def matrix(self, rng: np.random.Generator) -> Array:
        """Return A; `rng` draws the singular vectors."""
        *stack, n, p = self.shape()
        U = np.linalg.qr(rng.standard_normal((*stack, n, p)))[0]
        V = np.linalg.qr(rng.standard_normal((*stack, p, p)))[0]
        return np.asarray((U * self.values()) @ V.swapaxes(-1, -2))

    def build(self, rng: np.random.Generator) -> Instance[SpectralOracle]:
        return polar(self.matrix(rng))


@dataclass(frozen=True)
class SpectralPower(PrescribedSpectrum):
    """The power U S^exponent V' of a matrix with random singular vectors and a given spectrum."""

    name = "spectral-power"
    offers: ClassVar[type[SpectralOracle]] = SpectralOracle

    exponent: float = parameter(0.5, help="exponent of singular values", low=-1.0, high=1.0)

    def build(self, rng: np.random.Generator) -> Instance[SpectralOracle]:
        return spectral_power(self.matrix(rng), self.exponent)


@dataclass(frozen=True)
class NetworkPolar(PolarFactor):
    """Gradients, momenta or weights of a small transformer block in training.

    `orthobench_polar.problems.recording` recorded one layer. The seed chooses the training step.
    """

    name = "network-polar"
    source = (
        "a transformer block, recorded while it was trained (orthobench_polar.problems.recording)"
    )

    kind: str = parameter(
        "gradient", choices=("gradient", "momentum", "weight"), help="what was recorded"
    )
    layer: str = parameter(
        "attention", choices=("attention", "expand", "contract"), help="which matrix"
    )

    def build(self, rng: np.random.Generator) -> Instance[SpectralOracle]:
        with np.load(RECORDED) as recorded:
            steps = recorded[f"{self.kind}_{self.layer}"]
        return polar(steps[rng.integers(len(steps))].astype(np.float64))
