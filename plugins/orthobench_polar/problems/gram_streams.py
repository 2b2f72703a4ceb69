"""Streams of eigenproblems with rotating singular vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import Instance, Problem, parameter
from orthobench_polar.gram_stream import GramStreamOracle, owned_stream


class GramStream(Problem[GramStreamOracle]):
    """Base of the problems of this family."""

    family = "eigenbasis stream"
    offers: ClassVar[type[GramStreamOracle]] = GramStreamOracle
    primary = tuned_by = "off_diagonal"


@dataclass(frozen=True)
class RotatingGradients(GramStream):
    """Gaussian gradients whose left singular vectors rotate by `drift` radians a step.

    G_t = R^t Q diag(ratio^(i/2)) Z_t / m^½ with standard normal Z_t (n, m), a random basis Q and a
    rotation R with largest angle `drift`.
    """

    name = "rotating-gradients"

    n: int = parameter(64, help="rows of gradients", low=2)
    m: int = parameter(64, help="columns of gradients", low=1)
    steps: int = parameter(200, help="gradients", low=1)
    drift: float = parameter(0.003, help="largest angle of rotation a step", low=0.0)
    ratio: float = parameter(0.9, help="of each eigenvalue to the one before", above=0.0, high=1.0)
    decay: float = parameter(0.95, help="decay of the Gram matrix", low=0.0, below=1.0)

    def build(self, rng: np.random.Generator) -> Instance[GramStreamOracle]:
        Q = np.linalg.qr(rng.standard_normal((self.n, self.n)))[0]
        K = rng.standard_normal((self.n, self.n))
        angles, vectors = np.linalg.eigh(1j * (K - K.T))
        angles = angles / np.abs(angles).max() * self.drift
        R = np.real((vectors * np.exp(-1j * angles)) @ vectors.conj().T)
        scales = self.ratio ** (np.arange(self.n) / 2)
        gradients = np.empty((self.steps, self.n, self.m))
        for t in range(self.steps):
            Z = rng.standard_normal((self.n, self.m)) / np.sqrt(self.m)
            gradients[t] = (Q * scales) @ Z
            Q = R @ Q
        return owned_stream(gradients, self.decay)
