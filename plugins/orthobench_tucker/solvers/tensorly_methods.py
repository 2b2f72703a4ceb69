"""Tucker decompositions of TensorLy: HOOI with a factor for each mode, and HOSVD."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from orthobench.contract import flops
from orthobench_tucker.library_tucker import (
    AlternatingTucker,
    Factors,
    FactorsState,
    OneStepTucker,
    products_flops,
    tolerance_parameter,
)
from orthobench_tucker.oracle import SymmetricTensorOracle
from orthobench_tucker.tensorly_backend import OnBackend, backend_parameter


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
    `orthobench_tucker.library_tucker.products_flops`, and the singular value decomposition of the
    result, (n, r^(d-1)); the core, again from the tensor; and 2n^d + 2r^d for norms. Memory: about
    three tensors.

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
