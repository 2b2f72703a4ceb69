"""Mirror descent with the von Neumann entropy: on M, and on its complement I - M."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, SampleOracle
from orthobench_stochastic_pca.rank_updates import on_start, zero
from orthobench_stochastic_pca.relaxed import Relaxed, average_parameter, start_parameter
from orthobench_stochastic_pca.spectrum import COMPLEMENT, DENSITY, Iterate, Rule

SOFTENING = 0.1
"""What a random start lacks to a projection: mirror descent never leaves the eigenvalue 1."""


@dataclass(frozen=True)
class WarmuthKuzmin(Relaxed):
    """Warmuth and Kuzmin's algorithm: mirror descent on I - M with the von Neumann entropy.

    With N = -log(I - M) a step is N <- N + eta_t x x', then max(0, N - gamma) with gamma such
    that tr M = k: the same rank-one update as MSG's, kept in logarithms. Started at zero the
    trace grows to k first (gamma = 0).

    Parameters
    ----------
    start : str
        Zero, or 0.9 times the projection onto the oracle's random start: N must be finite.
    average : bool
        Read the solution off the mean of M(1), ..., M(t).

    References
    ----------
    Warmuth and Kuzmin 2008; Arora, Cotter and Srebro 2013, section 3.3.
    """

    start: str = start_parameter()
    average: bool = average_parameter()

    block: ClassVar[int] = 24
    name: ClassVar[str] = "warmuth-kuzmin"
    source: ClassVar[str] = "Arora, Cotter and Srebro 2013, section 3.3; Warmuth and Kuzmin 2008"

    @property
    def averages(self) -> bool:
        """Whether the iterates are summed up."""
        return self.average

    def rule(self, oracle: SampleOracle) -> Rule:
        """Project in the divergence of I - M."""
        return Rule(COMPLEMENT, oracle.k, oracle.n)

    def first(self, oracle: SampleOracle) -> Iterate:
        """Return N = 0, or that of the softened projection onto the oracle's start."""
        if self.start == "zero":
            return zero(oracle.n)
        return on_start(oracle.start, -np.log(SOFTENING), full=False)

    def eigenvalues(self, matrix: Iterate) -> tuple[Array, float]:
        """Return 1 - exp(-N)."""
        return -np.expm1(-matrix.values), 0.0


@dataclass(frozen=True)
class MEG(Relaxed):
    """Matrix exponentiated gradient: mirror descent on M with the von Neumann entropy.

    A step is log M <- log M + eta_t x x', then the eigenvalues s of M become min(1, c s) with c
    such that they sum to k. It starts at (k/d) I, and keeps the directions that samples have
    touched beside one eigenvalue for all others: after d samples in general position it costs
    O(d³) flops a sample and O(d²) memory.

    References
    ----------
    Arora, Cotter and Srebro 2013, section 3.3.
    """

    name: ClassVar[str] = "meg"
    source: ClassVar[str] = "Arora, Cotter and Srebro 2013, section 3.3"

    def rule(self, oracle: SampleOracle) -> Rule:
        """Project in the divergence of M."""
        return Rule(DENSITY, oracle.k, oracle.n)

    def first(self, oracle: SampleOracle) -> Iterate:
        """Return the logarithm of (k/d) I."""
        return zero(oracle.n, np.log(oracle.k / oracle.n))

    def eigenvalues(self, matrix: Iterate) -> tuple[Array, float]:
        """Return exp(log M), at most 1."""
        values = np.exp(np.minimum(matrix.values + matrix.floor, 0.0))
        return values, float(np.exp(matrix.floor))
