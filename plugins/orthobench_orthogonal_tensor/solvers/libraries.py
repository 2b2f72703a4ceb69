"""Decompositions of pyttb and TensorLy, made orthonormal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from orthobench_kit.peer import finite, numpy_seeded
from orthobench_kit.pyttb_calls import PACKAGES, fixed_arpack_start, gram_flops, tensor_of
from orthobench_kit.rerun import Rerun, RerunState, Run
from orthobench_kit.symmetric_tensors import contracted

from orthobench.contract import Array, Solution, flops, parameter, polar
from orthobench_orthogonal_tensor.oracle import TensorOracle, decomposition


def nearest_factors(T: Array, U: Array, weights: Array) -> Solution:
    """Return the orthonormal factors nearest to components (n, n), with their weights.

    The polar factor of U diag(|w|) maximizes sum_i |w_i| <q_i, u_i>; the weights are T(q, q, q).
    """
    Q = polar(U * np.abs(weights))
    return decomposition(Q, contracted(T, Q))


@dataclass(frozen=True)
class PyttbCPALS(Rerun[TensorOracle]):
    """pyttb's cp_als with as many components as dimensions, from the HOSVD.

    Alternating least squares does not use orthonormal or equal factors. The factors of the last
    mode are replaced by the nearest orthonormal ones (`nearest_factors`). Without noise and with
    distinct weights the start, ``init="nvecs"``, has the factors already. The `tolerance` is
    for the change of the fit.

    Notes
    -----
    For each of three modes, an iteration takes 2n⁴ + n³ flops for the Khatri-Rao product, 8n³/3
    for least squares and 2n³ for a Gram matrix. The start takes 2n⁴ + 9n³ for each. Memory: two
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
        from pyttb import ktensor

        n, tensor = oracle.n, tensor_of(finite(oracle.T, "entries of the tensor"))
        with fixed_arpack_start():
            start = ktensor([tensor.nvecs(mode, n) for mode in range(3)])
        first = nearest_factors(oracle.T, start.factor_matrices[-1], np.ones(n))
        return (tensor, start), first, 3 * gram_flops(n, n**2)

    def run(self, oracle: TensorOracle, state: RerunState, iterations: int) -> Run:
        from pyttb import cp_als

        n, (tensor, start) = oracle.n, state.prepared
        found, _, info = cp_als(
            tensor, n, stoptol=self.tolerance, maxiters=iterations, init=start, printitn=0
        )
        done = info["iters"] + 1
        each = 3 * (flops.gemm(n, n, n**2) + 3 * n**3 + 8 * n**3 // 3)
        components = nearest_factors(oracle.T, found.factor_matrices[-1], found.weights)
        return Run(components, done, done * each)


@dataclass(frozen=True)
class TensorlyPowerIteration(Rerun[TensorOracle]):
    """TensorLy's symmetric power iteration: one factor after the other, with restarts, deflated.

    As `tensor-power`, with s iterations for each factor from each of `restarts` starts in the
    positive orthant, and s more from the best; s is the number of steps. Factors become
    orthonormal as there.

    Notes
    -----
    For each of n factors, s (restarts + 1) iterations of 3 (2n³ + 2n² + 3n) flops, restarts + 1
    values T(u, u, u) of 2n³ + 2n² + 2n, and 3n³ + n² for the deflation. Memory: the tensor twice.

    References
    ----------
    Anandkumar, Ge, Hsu, Kakade and Telgarsky 2014, "Tensor decompositions for learning latent
    variable models", Algorithm 1.
    """

    restarts: int = parameter(10, help="starts for each factor", low=1)

    converges: ClassVar[bool] = False  # more iterations are always done

    name: ClassVar[str] = "tensorly-power-iteration"
    source: ClassVar[str] = "TensorLy: tensorly.decomposition.symmetric_parafac_power_iteration"
    packages: ClassVar[tuple[str, ...]] = ("tensorly",)

    def prepare(self, oracle: TensorOracle) -> tuple[Any, Solution, int]:
        finite(oracle.T, "entries of the tensor")
        return None, Solution(oracle.start.copy()), 0

    def run(self, oracle: TensorOracle, state: RerunState, iterations: int) -> Run:
        from tensorly.decomposition import symmetric_parafac_power_iteration

        n = oracle.n
        with numpy_seeded(state.seed):
            weights, U = symmetric_parafac_power_iteration(
                oracle.T, n, n_repeat=self.restarts, n_iteration=iterations
            )
        return Run(nearest_factors(oracle.T, U, weights), iterations, self._flops(n, iterations))

    def _flops(self, n: int, iterations: int) -> int:
        product = 2 * n**3 + 2 * n**2
        each = 3 * iterations * (product + 3 * n) + product + 2 * n
        return n * ((self.restarts + 1) * each + 3 * n**3 + n**2)
