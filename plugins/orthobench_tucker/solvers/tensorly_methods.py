"""Tucker decompositions of TensorLy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from orthobench.contract import AnyProblem, Array, flops, parameter
from orthobench.tools.places import place_of
from orthobench_tucker.library_tucker import (
    Factors,
    FactorsState,
    WholeTensor,
    products_flops,
    tolerance_parameter,
)
from orthobench_tucker.oracle import SymmetricTensorOracle

PACKAGES = ("tensorly",)

BACKENDS = ("numpy", "torch:cpu", "torch:cuda")
"""Array libraries of TensorLy, with devices."""


def backend_parameter() -> Any:
    """Declare the parameter ``backend`` of TensorLy's Tucker decompositions."""
    return parameter("numpy", choices=BACKENDS, help="array library of TensorLy, and its device")


class OnBackend(WholeTensor):
    """Base of TensorLy's Tucker decompositions, with NumPy or torch.

    The tensor is moved to the device in `init`; factors come back after each step, on the clock.
    """

    backend: str

    @property
    def packages(self) -> tuple[str, ...]:  # type: ignore[override]
        return PACKAGES if self.backend == "numpy" else (*PACKAGES, "torch")

    def refuses(self, problem: AnyProblem) -> str | None:
        return super().refuses(problem) or place_of(self.backend).missing()

    def tensor(self, T: Array) -> Any:
        place = place_of(self.backend)
        return T if place.is_default else place.array(T)

    def fetched(self, values: Any) -> Array:
        """Return an array of the device on the host."""
        found: Array = values if self.backend == "numpy" else values.cpu().numpy()
        return found

    def tucker(self, oracle: SymmetricTensorOracle, tensor: object, **options: Any) -> Any:
        """Call TensorLy's tucker with the oracle's rank."""
        import tensorly
        from tensorly.decomposition import tucker

        name = "numpy" if self.backend == "numpy" else "pytorch"
        with tensorly.backend_context(name, local_threadsafe=True):
            return tucker(tensor, [oracle.k] * oracle.order, **options)

    def hosvd(self, oracle: SymmetricTensorOracle, tensor: object) -> Factors:
        """Return the HOSVD."""
        _, modes = self.tucker(oracle, tensor, n_iter_max=0, init="svd")
        return Factors([self.fetched(factor) for factor in modes])


@dataclass(frozen=True)
class TensorlyTucker(OnBackend):
    """TensorLy's tucker: HOOI with a factor for each mode, from the HOSVD.

    An iteration has a singular value decomposition for each mode; the objective never falls.
    `hosvd_flops` at the start, and `step_flops` a step. Memory: about three tensors.

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
        return self.hosvd(oracle, tensor)

    def first_flops(self, n: int, rank: int, order: int) -> int:
        return hosvd_flops(n, rank, order)

    def step_flops(self, n: int, rank: int, order: int) -> int:
        mode = products_flops(n, rank, order, order - 1) + flops.svd(n, rank ** (order - 1))
        core = products_flops(n, rank, order, order)
        return order * mode + core + int(2 * n**order + 2 * rank**order)

    def updated(self, oracle: SymmetricTensorOracle, state: FactorsState) -> Factors:
        start = (None, [self.tensor(factor) for factor in state.factors.modes])
        (_, modes), errors = self.tucker(
            oracle, state.tensor, n_iter_max=1, init=start, tol=None, return_errors=True
        )
        return Factors([self.fetched(factor) for factor in modes], float(errors[-1]))


@dataclass(frozen=True)
class TensorlyHOSVD(OnBackend):
    """TensorLy's HOSVD, the start of tucker: leading left singular vectors of all unfoldings.

    One step, no iteration, in d times the time of `hoevd`. `hosvd_flops`. Memory: about two
    tensors.

    References
    ----------
    De Lathauwer, De Moor and Vandewalle 2000, "A multilinear singular value decomposition".
    """

    name: ClassVar[str] = "tensorly-hosvd"
    source: ClassVar[str] = "TensorLy: tensorly.decomposition.tucker, no iteration"

    backend: str = backend_parameter()

    def updated(self, oracle: SymmetricTensorOracle, state: FactorsState) -> Factors:
        return self.hosvd(oracle, state.tensor)

    def step_flops(self, n: int, rank: int, order: int) -> int:
        return hosvd_flops(n, rank, order)


def hosvd_flops(n: int, rank: int, order: int) -> int:
    """Return the flops of the HOSVD, the core, and the norm."""
    unfoldings = order * flops.svd(n, n ** (order - 1))
    return unfoldings + products_flops(n, rank, order, order) + int(2 * n**order)
