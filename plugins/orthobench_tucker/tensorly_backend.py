"""TensorLy's Tucker decomposition with NumPy or torch: the base of the peers that call it."""

from __future__ import annotations

from typing import Any

from orthobench.contract import AnyProblem, Array, parameter
from orthobench.tools.places import place_of
from orthobench_tucker import SymmetricTensorOracle
from orthobench_tucker.library_tucker import Factors, WholeTensor

PACKAGES = ("tensorly",)

BACKENDS = ("numpy", "torch:cpu", "torch:cuda")
"""Array libraries that TensorLy computes with, and their devices."""


def backend_parameter() -> Any:
    """Declare the parameter ``backend`` of TensorLy's Tucker decompositions."""
    return parameter("numpy", choices=BACKENDS, help="array library of TensorLy, and its device")


class OnBackend(WholeTensor):
    """Base of TensorLy's Tucker decompositions, with NumPy or torch.

    The tensor is moved to the device in `init`, on the clock. Factors come back after each step,
    so that all of a step is on the clock.
    """

    backend: str

    @property
    def packages(self) -> tuple[str, ...]:  # type: ignore[override]
        """TensorLy, and torch where it computes."""
        return PACKAGES if self.backend == "numpy" else (*PACKAGES, "torch")

    def refuses(self, problem: AnyProblem) -> str | None:
        """Return why not: another oracle, too large a tensor, or a device that is missing."""
        return super().refuses(problem) or place_of(self.backend).missing()

    def tensor(self, T: Array) -> object:
        """Return the tensor on the device."""
        return self.moved(T)

    def moved(self, values: Array) -> Any:
        """Return an array on the device; of NumPy itself."""
        place = place_of(self.backend)
        return values if place.is_default else place.array(values)

    def fetched(self, values: Any) -> Array:
        """Return an array of the device on the host."""
        found: Array = values if self.backend == "numpy" else values.cpu().numpy()
        return found

    def tucker(self, oracle: SymmetricTensorOracle, tensor: object, **options: Any) -> Any:
        """Call TensorLy's tucker on a tensor of the device, with the oracle's rank."""
        import tensorly
        from tensorly.decomposition import tucker

        name = "numpy" if self.backend == "numpy" else "pytorch"
        with tensorly.backend_context(name, local_threadsafe=True):
            return tucker(tensor, [oracle.k] * oracle.order, **options)

    def hosvd(self, oracle: SymmetricTensorOracle, tensor: object) -> Factors:
        """Return the HOSVD."""
        _, modes = self.tucker(oracle, tensor, n_iter_max=0, init="svd")
        return Factors([self.fetched(factor) for factor in modes])
