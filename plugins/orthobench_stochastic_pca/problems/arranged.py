"""Synthetic samples whose rows have an order, or heavy tails."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from orthobench_kit.second_moments import DenseMoment, SecondMoment

from orthobench.contract import (
    Array,
    Instance,
    SampleOracle,
    UsageError,
    parameter,
    random_point,
)
from orthobench_stochastic_pca import stochastic_pca
from orthobench_stochastic_pca.problems.parts import independent
from orthobench_stochastic_pca.problems.synthetic import (
    VALIDATION,
    SpikedCovariance,
    SpikedMoment,
)

ARRANGEMENTS = ("shuffled", "sorted", "grouped", "drifting")
"""The orders of rows."""


@dataclass(frozen=True)
class ArrangedRows(SpikedCovariance):
    """Samples of `spiked-covariance` in an order, with normal or heavy tails.

    - ``shuffled``: independent rows.

    - ``sorted``: by the first factor, as by time of a trend.

    - ``grouped``: by the factor that is largest, as one class after another.

    - ``drifting``: from beginning to end the subspace turns by `angle`; the second moment is that
      of all rows.

    With a `tail` each row is that of a multivariate t distribution of the same covariance. Tuned on
    2,000 independent draws, which are shuffled.
    """

    name = "arranged-rows"

    samples: int = parameter(20_000, help="samples", low=1)
    order: str = parameter("sorted", help="order of the rows", choices=ARRANGEMENTS)
    tail: float = parameter(
        0.0, help="degrees of freedom of heavy tails, above 2; 0: normal samples", low=0.0, high=1e6
    )
    angle: float = parameter(
        1.0, help="rotation of the subspace if drifting", unit="radians", low=0.0, high=1.5
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if 0 < self.tail <= 2:
            raise UsageError(f"tail = {self.tail}: a covariance needs more than 2")
        if self.order == "drifting" and 2 * self.k > self.n:
            raise UsageError(f"a drifting subspace needs n >= 2k = {2 * self.k}, not {self.n}")

    def build(self, rng: np.random.Generator) -> Instance[SampleOracle]:
        rng = independent(rng)
        V = self._directions(rng)
        X = self._rows(V, self.samples, rng, arranged=True)
        validation = self._rows(V, VALIDATION, rng, arranged=False)
        return stochastic_pca(X, self.k, validation=validation, covariance=self._moment(V))

    def _directions(self, rng: np.random.Generator) -> Array:
        """Return the subspace, and behind it, if drifting, the one towards which it turns."""
        width = 2 * self.k if self.order == "drifting" else self.k
        return random_point(self.n, width, rng)

    def _turned(self, count: int) -> Array:
        """Return the angles of `count` rows, from 0 to `angle`."""
        return self.angle * (np.arange(count) + 0.5) / count

    def _rows(self, V: Array, count: int, rng: np.random.Generator, *, arranged: bool) -> Array:
        """Return samples (count, n)."""
        factors = rng.standard_normal((count, self.k))
        if arranged and self.order == "sorted":
            factors = factors[np.argsort(factors[:, 0])]
        if arranged and self.order == "grouped":
            factors = factors[np.argsort(np.abs(factors).argmax(axis=1), kind="stable")]
        if self.order == "drifting":
            angles = self._turned(count)[:, None]
            factors = np.hstack([np.cos(angles) * factors, np.sin(angles) * factors])
        X = np.sqrt(self.gap) * factors @ V.T
        X += np.sqrt(self.noise) * rng.standard_normal((count, self.n))
        if self.tail:
            X *= np.sqrt((self.tail - 2) / rng.chisquare(self.tail, (count, 1)))
        return np.asarray(X)

    def _moment(self, V: Array) -> SecondMoment:
        """Return the second moment of all rows."""
        if self.order != "drifting":
            return SpikedMoment(V, self.gap, self.noise)
        angles = self._turned(self.samples)
        both = [np.mean(np.cos(angles) ** 2), np.mean(np.cos(angles) * np.sin(angles))]
        turn = np.array([both, [both[1], 1 - both[0]]])
        C = self.gap * V @ np.kron(turn, np.eye(self.k)) @ V.T + self.noise * np.eye(self.n)
        return DenseMoment((C + C.T) / 2)
