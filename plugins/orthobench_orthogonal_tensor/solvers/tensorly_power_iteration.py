"""TensorLy's symmetric power iteration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from orthobench_kit.peer import finite, numpy_seeded
from orthobench_kit.rerun import Rerun, RerunState, Run

from orthobench.contract import Solution, parameter
from orthobench_orthogonal_tensor.components import nearest_factors
from orthobench_orthogonal_tensor.oracle import TensorOracle


@dataclass(frozen=True)
class TensorlyPowerIteration(Rerun[TensorOracle]):
    """TensorLy's symmetric power iteration: one factor after the other, with restarts, deflated.

    Algorithm 1 of Anandkumar et al. (2014), as `tensor-power`: for each factor s iterations from
    each of `restarts` starts, and s more from the best of them; s is the number of steps. An
    iteration of TensorLy is three multiplications T(I, u, u). Factors are made orthonormal, and
    given weights, as by `tensor-power`: they are the polar factor of U diag(w).

    It cannot be stepped: it is re-run with growing ``n_iteration``, and each point of the trace has
    the time of its own run.

    Parameters
    ----------
    restarts : int
        Starts for each factor, drawn from the positive orthant only; the default is TensorLy's.

    Notes
    -----
    For each of n factors, s (restarts + 1) iterations of 3 (2n³ + 2n² + 3n) flops, restarts + 1
    values T(u, u, u) of 2n³ + 2n² + 2n, and 3n³ + n² for the deflation.
    Memory: the tensor twice.

    References
    ----------
    Anandkumar, Ge, Hsu, Kakade and Telgarsky 2014, *Tensor decompositions for learning latent
    variable models*, Algorithm 1.
    """

    restarts: int = parameter(10, help="starts for each factor", low=1)

    converges: ClassVar[bool] = False  # more iterations are always done

    name: ClassVar[str] = "tensorly-power-iteration"
    source: ClassVar[str] = "TensorLy: tensorly.decomposition.symmetric_parafac_power_iteration"
    packages: ClassVar[tuple[str, ...]] = ("tensorly",)

    def prepare(self, oracle: TensorOracle) -> tuple[Any, Solution, int]:
        """Check the tensor; the solution before any run is the common start."""
        finite(oracle.T, "entries of the tensor")
        return None, Solution(oracle.start.copy()), 0

    def run(self, oracle: TensorOracle, state: RerunState, iterations: int) -> Run:
        """Find all factors, with so many iterations for each."""
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
