"""Tucker decompositions of pyttb."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from orthobench_kit.pyttb_calls import PACKAGES, fixed_arpack_start, gram_flops, tensor_of

from orthobench.contract import Array
from orthobench_tucker.library_tucker import (
    Factors,
    FactorsState,
    WholeTensor,
    products_flops,
    tolerance_parameter,
)
from orthobench_tucker.oracle import SymmetricTensorOracle


class Pyttb(WholeTensor):
    """Base of pyttb's Tucker decompositions."""

    packages: ClassVar[tuple[str, ...]] = PACKAGES

    def tensor(self, T: Array) -> object:
        return tensor_of(T)


@dataclass(frozen=True)
class PyttbTuckerALS(Pyttb):
    """pyttb's tucker_als: HOOI with a factor for each mode, from the HOSVD.

    As `tensorly-tucker`, but with singular vectors from the Gram matrix, by ARPACK, with half of
    the digits of all but the largest. ARPACK starts from a fixed vector here.

    Notes
    -----
    2n^(d+1) + 9n³ flops for each of d modes at the start, and a step of `step_flops`. Memory: about
    three tensors.

    References
    ----------
    De Lathauwer, De Moor and Vandewalle 2000, "On the best rank-1 and rank-(R1, ..., RN)
    approximation of higher-order tensors", Algorithm 4.2.
    """

    name: ClassVar[str] = "pyttb-tucker-als"
    source: ClassVar[str] = "pyttb: pyttb.tucker_als"

    tolerance: float = tolerance_parameter()

    def first(self, oracle: SymmetricTensorOracle, tensor: object) -> Factors:
        found: Any = tensor
        with fixed_arpack_start():
            return Factors([found.nvecs(mode, oracle.k) for mode in range(oracle.order)])

    def updated(self, oracle: SymmetricTensorOracle, state: FactorsState) -> Factors:
        from pyttb import tucker_als

        ranks, start = [oracle.k] * oracle.order, list(state.factors.modes)
        with fixed_arpack_start():
            found, _, info = tucker_als(
                state.tensor, ranks, stoptol=0.0, maxiters=1, init=start, printitn=0
            )
        return Factors(found.factor_matrices, 1 - float(info["fit"]))

    def first_flops(self, n: int, rank: int, order: int) -> int:
        del rank
        return order * gram_flops(n, n ** (order - 1))

    def step_flops(self, n: int, rank: int, order: int) -> int:
        mode = products_flops(n, rank, order, order - 1) + gram_flops(n, rank ** (order - 1))
        return order * mode + int(2 * n * rank**order + 2 * n**order + 2 * rank**order)


@dataclass(frozen=True)
class PyttbHOSVD(Pyttb):
    """pyttb's hosvd, truncated mode after mode: each Gram matrix is that of the truncated tensor.

    One step, no iteration, of `step_flops`. The factors of a symmetric tensor differ. Memory: about
    two tensors.

    References
    ----------
    Vannieuwenhoven, Vandebril and Meerbergen 2012, "A new truncation strategy for the higher-order
    singular value decomposition".
    """

    name: ClassVar[str] = "pyttb-hosvd"
    source: ClassVar[str] = "pyttb: pyttb.hosvd"

    def updated(self, oracle: SymmetricTensorOracle, state: FactorsState) -> Factors:
        from pyttb import hosvd

        tensor: Any = state.tensor
        found = hosvd(tensor, 0.0, verbosity=-1, ranks=[oracle.k] * oracle.order)
        return Factors(found.factor_matrices)

    def step_flops(self, n: int, rank: int, order: int) -> int:
        grams = sum(gram_flops(n, rank**j * n ** (order - 1 - j)) for j in range(order))
        return grams + products_flops(n, rank, order, order) + int(2 * n**order)
