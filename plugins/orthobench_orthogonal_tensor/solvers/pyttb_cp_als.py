"""pyttb's alternating least squares for CP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from orthobench_kit.peer import finite
from orthobench_kit.pyttb_calls import PACKAGES, fixed_arpack_start, gram_flops, tensor_of
from orthobench_kit.rerun import Rerun, RerunState, Run

from orthobench.contract import Solution, flops, parameter
from orthobench_orthogonal_tensor.components import nearest_factors
from orthobench_orthogonal_tensor.oracle import TensorOracle


@dataclass(frozen=True)
class PyttbCPALS(Rerun[TensorOracle]):
    """pyttb's cp_als with as many components as dimensions, from the HOSVD.

    Alternating least squares does not know that factors are orthonormal, nor that those of all
    modes are equal. The factors of the last mode are replaced by the orthonormal ones nearest to
    them, the polar factor of U diag(w), with T(q, q, q) as weights. For a tensor without noise and
    with distinct weights, its start, ``init="nvecs"``, has the factors already.

    It cannot be stepped, since it rescales and sorts its components at the end: it is re-run with
    growing ``maxiters``, and each point of the trace has the time of its own run.

    Parameters
    ----------
    tolerance : float
        Change of the fit to end at. With pyttb's 1e-4 it would end long before convergence.

    Notes
    -----
    An iteration takes, for each of three modes, 2n⁴ + n³ flops for the Khatri-Rao product, 8n³/3
    for the least squares and 2n³ for a Gram matrix; the start 2n⁴ + 9n³ for each. Memory: two
    tensors.

    References
    ----------
    Kolda and Bader 2009, "Tensor decompositions and applications", Figure 3.3.
    """

    tolerance: float = parameter(1e-12, help="change of the fit to end at", low=0.0)

    name: ClassVar[str] = "pyttb-cp-als"
    source: ClassVar[str] = "pyttb: pyttb.cp_als"
    packages: ClassVar[tuple[str, ...]] = PACKAGES

    def prepare(self, oracle: TensorOracle) -> tuple[Any, Solution, int]:
        """Copy the tensor, and compute its HOSVD."""
        from pyttb import ktensor

        n, tensor = oracle.n, tensor_of(finite(oracle.T, "entries of the tensor"))
        with fixed_arpack_start():
            start = ktensor([tensor.nvecs(mode, n) for mode in range(3)])
        first = nearest_factors(oracle.T, start.factor_matrices[-1], np.ones(n))
        return (tensor, start), first, 3 * gram_flops(n, n**2)

    def run(self, oracle: TensorOracle, state: RerunState, iterations: int) -> Run:
        """Alternate from the HOSVD."""
        from pyttb import cp_als

        n, (tensor, start) = oracle.n, state.prepared
        found, _, info = cp_als(
            tensor, n, stoptol=self.tolerance, maxiters=iterations, init=start, printitn=0
        )
        done = info["iters"] + 1
        each = 3 * (flops.gemm(n, n, n**2) + 3 * n**3 + 8 * n**3 // 3)
        components = nearest_factors(oracle.T, found.factor_matrices[-1], found.weights)
        return Run(components, done, done * each)
