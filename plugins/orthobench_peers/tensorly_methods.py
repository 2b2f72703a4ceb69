"""Methods of TensorLy: symmetric power iteration, Tucker by HOOI, and HOSVD."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from orthobench.contract import Solution, flops, parameter
from orthobench.families.orthogonal_tensor import TensorOracle
from orthobench.families.symmetric_tucker import SymmetricTensorOracle
from orthobench_peers.components import nearest_factors
from orthobench_peers.peer import finite, numpy_seeded
from orthobench_peers.rerun import Rerun, RerunState, Run
from orthobench_peers.tensorly_backend import PACKAGES, OnBackend, backend_parameter
from orthobench_peers.tucker import (
    AlternatingTucker,
    Factors,
    FactorsState,
    OneStepTucker,
    products_flops,
    tolerance_parameter,
)


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
    packages: ClassVar[tuple[str, ...]] = PACKAGES

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


@dataclass(frozen=True)
class TensorlyTucker(OnBackend, AlternatingTucker):
    """TensorLy's tucker: HOOI with a factor for each mode, from the HOSVD.

    It does not use symmetry: an iteration has a singular value decomposition for each mode, where
    that of `hooi` has one; but unlike there the objective never falls. Q is the factor of the last
    mode.

    Parameters
    ----------
    tolerance : float
    backend : str

    Notes
    -----
    `hosvd_flops` at the start. A step: for each of d modes the product with all others,
    `orthobench_peers.tucker.products_flops`, and the singular value decomposition of the result,
    (n, r^(d-1)); the core, again from the tensor; and 2n^d + 2r^d for norms. Memory: about three
    tensors.

    References
    ----------
    De Lathauwer, De Moor and Vandewalle 2000, "On the best rank-1 and rank-(R1, ..., RN)
    approximation of higher-order tensors", Algorithm 4.2.
    """

    name: ClassVar[str] = "tensorly-tucker"
    source: ClassVar[str] = "TensorLy: tensorly.decomposition.tucker"

    tolerance: float = tolerance_parameter()
    backend: str = backend_parameter()

    def first(self, oracle: SymmetricTensorOracle, tensor: object) -> Factors:
        """Return the HOSVD."""
        return self.hosvd(oracle, tensor)

    def first_flops(self, n: int, rank: int, order: int) -> int:
        """Return those of the HOSVD."""
        return hosvd_flops(n, rank, order)

    def step_flops(self, n: int, rank: int, order: int) -> int:
        """Return the flops of an iteration."""
        mode = products_flops(n, rank, order, order - 1) + flops.svd(n, rank ** (order - 1))
        core = products_flops(n, rank, order, order)
        return order * mode + core + int(2 * n**order + 2 * rank**order)

    def iterate(self, oracle: SymmetricTensorOracle, state: FactorsState) -> Factors:
        """Call tucker for one iteration, from the factors."""
        start = (None, [self.moved(factor) for factor in state.factors.modes])
        (_, modes), errors = self.tucker(
            oracle, state.tensor, n_iter_max=1, init=start, tol=None, return_errors=True
        )
        return Factors([self.fetched(factor) for factor in modes], float(errors[-1]))


@dataclass(frozen=True)
class TensorlyHOSVD(OnBackend, OneStepTucker):
    """TensorLy's HOSVD, the start of tucker: leading left singular vectors of all unfoldings.

    One step, and no iteration. All unfoldings of a symmetric tensor are equal: it finds the
    subspace of `hoevd`, in d times the time.

    Parameters
    ----------
    backend : str

    Notes
    -----
    `hosvd_flops`. Memory: about two tensors.

    References
    ----------
    De Lathauwer, De Moor and Vandewalle 2000, "A multilinear singular value decomposition".
    """

    name: ClassVar[str] = "tensorly-hosvd"
    source: ClassVar[str] = "TensorLy: tensorly.decomposition.tucker, no iteration"

    backend: str = backend_parameter()

    def decomposed(self, oracle: SymmetricTensorOracle, state: FactorsState) -> Factors:
        """Return the HOSVD."""
        return self.hosvd(oracle, state.tensor)

    def step_flops(self, n: int, rank: int, order: int) -> int:
        """Return those of the HOSVD."""
        return hosvd_flops(n, rank, order)


def hosvd_flops(n: int, rank: int, order: int) -> int:
    """Return the flops of d decompositions of (n, n^(d-1)) matrices, the core, and the norm."""
    unfoldings = order * flops.svd(n, n ** (order - 1))
    return unfoldings + products_flops(n, rank, order, order) + int(2 * n**order)
