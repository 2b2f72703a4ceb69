"""Methods of TensorLy: symmetric power iteration, Tucker by HOOI, and HOSVD."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from orthobench.arrays import Array
from orthobench.families.orthogonal_tensor import TensorOracle
from orthobench.families.tucker_oracles import SymmetricTensorOracle
from orthobench.parameters import parameter
from orthobench.solution import Solution
from orthobench_peers.components import nearest
from orthobench_peers.rerun import Rerun, RerunState, Run
from orthobench_peers.tucker import AlternatingTucker, Factors, FactorsState, OneStepTucker

PACKAGES = ("tensorly",)


@dataclass(frozen=True)
class TensorlyPowerIteration(Rerun[TensorOracle]):
    """TensorLy's symmetric power iteration: one factor after the other, with restarts, deflated.

    Algorithm 1 of Anandkumar et al. (2014), as `tensor-power`: for each factor s iterations from
    each of `restarts` starts, and s more from the best of them; s is what grows from step to step.
    An iteration of TensorLy is three multiplications T(I, u, u). Factors are made orthonormal, and
    have weights, as those of `tensor-power`: they are the polar factor of U diag(w).

    Cannot be stepped: re-run with growing ``n_iteration``, each point with the time of its own run.

    Parameters
    ----------
    restarts : int
        Starts for each factor: TensorLy's default. It draws them from the positive orthant only.

    Notes
    -----
    6n³ flops for each of s (restarts + 1) iterations of each of n factors, and 2n³ a deflation.
    Memory: the tensor twice.

    References
    ----------
    Anandkumar, Ge, Hsu, Kakade and Telgarsky 2014, *Tensor decompositions for learning latent
    variable models*, Algorithm 1.
    """

    restarts: int = parameter(10, help="starts for each factor", low=1)

    name: ClassVar[str] = "tensorly-power-iteration"
    needs: ClassVar[type[TensorOracle]] = TensorOracle
    source: ClassVar[str] = "TensorLy: tensorly.decomposition.symmetric_parafac_power_iteration"
    packages: ClassVar[tuple[str, ...]] = PACKAGES

    def ready(self, oracle: TensorOracle) -> tuple[Any, Solution, int]:
        """Prepare nothing; begin with the common start."""
        return None, Solution(oracle.start.copy()), 0

    def run(self, oracle: TensorOracle, state: RerunState, iterations: int) -> Run:
        """Find all factors with so many iterations each."""
        from tensorly.decomposition import symmetric_parafac_power_iteration

        n = oracle.n
        with _drawn_from(state.seed):
            weights, U = symmetric_parafac_power_iteration(
                oracle.T, n, n_repeat=self.restarts, n_iteration=iterations
            )
        count = n * (iterations * (self.restarts + 1) * 6 * n**3 + 2 * n**3)
        return Run(nearest(oracle.T, U, weights), iterations, count)


@dataclass(frozen=True)
class TensorlyTucker(AlternatingTucker):
    """TensorLy's tucker: HOOI with a factor for each mode, from the HOSVD.

    `hooi` with three singular value decompositions an iteration where the symmetric one has one,
    and without the symmetry; unlike that the objective never falls. Q is the factor of the last
    mode.

    Parameters
    ----------
    tolerance : float

    Notes
    -----
    `orthobench_peers.tucker.hooi_flops` a step, and `hosvd_flops` at the start. Memory: some three
    tensors.

    References
    ----------
    De Lathauwer, De Moor and Vandewalle 2000, "On the best rank-1 and rank-(R1, ..., RN)
    approximation of higher-order tensors", Algorithm 4.2.
    """

    name: ClassVar[str] = "tensorly-tucker"
    source: ClassVar[str] = "TensorLy: tensorly.decomposition.tucker"
    packages: ClassVar[tuple[str, ...]] = PACKAGES

    tolerance: float = parameter(1e-14, help="change of the relative error to end at", low=0.0)

    def tensor(self, T: Array) -> object:
        """Return the tensor itself."""
        return T

    def first(self, oracle: SymmetricTensorOracle, tensor: object) -> Factors:
        """Return the HOSVD."""
        return _hosvd(oracle, tensor)

    def iterate(self, oracle: SymmetricTensorOracle, state: FactorsState) -> Factors:
        """Call tucker for one iteration, from the factors."""
        from tensorly.decomposition import tucker

        ranks, begun = [oracle.k] * oracle.order, (None, list(state.factors.modes))
        found, errors = tucker(
            state.tensor, ranks, n_iter_max=1, init=begun, tol=None, return_errors=True
        )
        return Factors(list(found[1]), float(errors[-1]))


@dataclass(frozen=True)
class TensorlyHOSVD(OneStepTucker):
    """TensorLy's HOSVD, what tucker begins with: leading left singular vectors of unfoldings.

    One step, and no iteration. All modes of a symmetric tensor have the same, so that it takes d
    times as long as `hoevd`, whose subspace it is.

    Notes
    -----
    `orthobench_peers.tucker.hosvd_flops`. Memory: some two tensors.

    References
    ----------
    De Lathauwer, De Moor and Vandewalle 2000, "A multilinear singular value decomposition".
    """

    name: ClassVar[str] = "tensorly-hosvd"
    source: ClassVar[str] = "TensorLy: tensorly.decomposition.tucker, no iteration"
    packages: ClassVar[tuple[str, ...]] = PACKAGES

    def tensor(self, T: Array) -> object:
        """Return the tensor itself."""
        return T

    def decomposed(self, oracle: SymmetricTensorOracle, state: FactorsState) -> Factors:
        """Return the HOSVD."""
        return _hosvd(oracle, state.tensor)


def _hosvd(oracle: SymmetricTensorOracle, tensor: object) -> Factors:
    from tensorly.decomposition import tucker

    _, factors = tucker(tensor, [oracle.k] * oracle.order, n_iter_max=0, init="svd")
    return Factors(list(factors))


@contextmanager
def _drawn_from(seed: int) -> Iterator[None]:
    """Seed numpy's global generator, which TensorLy draws from, and put it back afterwards."""
    before = np.random.get_state()  # noqa: NPY002 - it is what TensorLy uses
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002
