"""Mirror descent with the von Neumann entropy, on M and on I - M."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, SampleOracle
from orthobench_stochastic_pca._kernels.iterates import Iterate, Onto, Projection
from orthobench_stochastic_pca.rank_updates import on_subspace, scaled_identity
from orthobench_stochastic_pca.relaxed import MANY, Relaxed, average_parameter, start_parameter

SOFTENING = 0.1
"""One less the eigenvalues of a random start, as mirror descent would never leave 1."""


@dataclass(frozen=True)
class WarmuthKuzmin(Relaxed):
    """Warmuth and Kuzmin's algorithm: mirror descent on I - M with the von Neumann entropy.

    With N = -log(I - M) a step is N <- max(0, N + eta_t x x' - gamma), gamma such that tr M = k. It
    is the update of MSG on a logarithm, at its cost. From zero the trace grows to k first, with
    gamma = 0. A random start is 0.9 times a projection, so that N is finite.

    References
    ----------
    Warmuth and Kuzmin 2008; Arora, Cotter and Srebro 2013, section 3.3.
    """

    start: str = start_parameter()
    average: bool = average_parameter()

    block: ClassVar[int] = MANY
    name: ClassVar[str] = "warmuth-kuzmin"
    source: ClassVar[str] = "Arora, Cotter and Srebro 2013, section 3.3; Warmuth and Kuzmin 2008"

    def projection(self, oracle: SampleOracle) -> Projection:
        return Projection(Onto.COMPLEMENT, oracle.k, oracle.n)

    def initial(self, oracle: SampleOracle) -> Iterate:
        if self.start == "zero":
            return scaled_identity(oracle.n, 0.0)
        return on_subspace(oracle.start, -np.log(SOFTENING), full=False)

    def eigenvalues(self, matrix: Iterate) -> tuple[Array, float]:
        return -np.expm1(-matrix.values), 0.0


@dataclass(frozen=True)
class MEG(Relaxed):
    """Matrix exponentiated gradient: mirror descent on M with the von Neumann entropy.

    A step is log M <- log M + eta_t x x', then the eigenvalues s of M become min(1, c s) with c
    such that they sum to k. It starts at (k/d) I. It stores the directions of the samples, and one
    eigenvalue for all others: after d samples O(d³) flops a sample and O(d²) memory.

    References
    ----------
    Arora, Cotter and Srebro 2013, section 3.3.
    """

    name: ClassVar[str] = "meg"
    source: ClassVar[str] = "Arora, Cotter and Srebro 2013, section 3.3"

    def projection(self, oracle: SampleOracle) -> Projection:
        return Projection(Onto.DENSITY, oracle.k, oracle.n)

    def initial(self, oracle: SampleOracle) -> Iterate:
        return scaled_identity(oracle.n, np.log(oracle.k / oracle.n))

    def eigenvalues(self, matrix: Iterate) -> tuple[Array, float]:
        values = np.exp(np.minimum(matrix.values + matrix.floor, 0.0))
        return values, float(np.exp(matrix.floor))
