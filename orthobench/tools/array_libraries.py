"""Array libraries that solvers compute with, behind one interface; imported on first use."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from orthobench.tools.environment import version

DRIVER = Path("/sys/module/nvidia/version")
"""The version of the NVIDIA driver in Linux."""


def driver() -> dict[str, str]:
    """Return the driver and the override of TF32, if they are known."""
    facts = {}
    with suppress(OSError):
        facts["driver"] = DRIVER.read_text(encoding="ascii").strip()
    if override := os.environ.get("NVIDIA_TF32_OVERRIDE"):
        facts["tf32 override"] = override
    return facts


class ArrayLibrary:
    """An array library: copies to and from its devices, and waiting for its computations.

    `package` and `distribution` are its names for Python and for pip, `recorded` the distributions
    whose versions are recorded, by default that one; the first of the `devices` is the default;
    `compiles` says whether it compiles for each shape of arrays.
    """

    package: ClassVar[str]
    distribution: ClassVar[str]
    recorded: ClassVar[tuple[str, ...]] = ()
    devices: ClassVar[tuple[str, ...]] = ("cpu",)
    dtypes: ClassVar[tuple[str, ...]] = ("float64", "float32")
    compiles: ClassVar[bool] = False

    def missing(self, device: str) -> str | None:
        """Return why it cannot compute on a device here, with a remedy, or None."""
        if find_spec(self.package) is None:
            return f"{self.package} is not installed: pip install {self.distribution}"
        return self.missing_device(device)

    def missing_device(self, _device: str) -> str | None:
        """Return why an installed library cannot use a device, or None."""
        return None

    def array(self, values: NDArray[np.generic], device: str, dtype: str) -> Any:
        """Return a copy on a device; floats are converted to `dtype`."""
        return self.copied(values, device, dtype if values.dtype.kind == "f" else None)

    def copied(self, values: NDArray[np.generic], _device: str, dtype: str | None) -> Any:
        """Return a copy on a device, in a precision unless that is None."""
        xp = self.module
        return xp.asarray(values, dtype=dtype and getattr(xp, dtype), copy=True)

    def to_numpy(self, values: Any) -> NDArray[np.generic]:
        """Return a copy on the host, in the same precision."""
        return np.array(values)

    def wait(self, values: Sequence[object], device: str) -> None:
        """Wait until `values` are computed; by default libraries compute at once."""

    def limit(self, threads: int) -> None:
        """Limit the threads of later computations on the host."""

    def facts(self, device: str) -> Mapping[str, str]:
        """Return the versions, device, driver and flags that results depend on."""
        facts = {name: version(name) or "none" for name in self.recorded or (self.distribution,)}
        return {**facts, **self.cuda(), **driver()} if device == "cuda" else facts

    def cuda(self) -> Mapping[str, str]:
        """Return the name of the CUDA device, and the settings of its precision."""
        return {}

    @property
    def module(self) -> Any:
        """The library."""
        # importlib.import_module would add all of orthobench to the keys of cells
        return __import__(self.package)


class NumPy(ArrayLibrary):
    """NumPy."""

    package, distribution = "numpy", "numpy"


class Strict(ArrayLibrary):
    """The reference implementation of the array API standard, for authors of solvers."""

    package, distribution = "array_api_strict", "array-api-strict"


class Torch(ArrayLibrary):
    """PyTorch."""

    package, distribution = "torch", "torch"
    devices = ("cpu", "cuda")
    dtypes = ("float64", "float32", "bfloat16", "float16")

    def missing_device(self, device: str) -> str | None:
        """Return whether it has no CUDA device."""
        if device == "cuda" and not self.module.cuda.is_available():
            return "torch finds no CUDA device: take torch:cpu, or install a build with CUDA"
        return None

    def copied(self, values: NDArray[np.generic], device: str, dtype: str | None) -> Any:
        """Return a tensor."""
        kind = dtype and getattr(self.module, dtype)
        return self.module.tensor(values, dtype=kind, device=device)

    def to_numpy(self, values: Any) -> NDArray[np.generic]:
        """Return a copy on the host."""
        here = values.detach().cpu()
        # NumPy has no bfloat16
        return np.array((here.float() if here.dtype == self.module.bfloat16 else here).numpy())

    def wait(self, _values: Sequence[object], device: str) -> None:
        """Synchronize with the device."""
        if device == "cuda":
            self.module.cuda.synchronize()

    def limit(self, threads: int) -> None:
        """Limit the threads of an operation."""
        self.module.set_num_threads(threads)

    def cuda(self) -> Mapping[str, str]:
        """Return device, version of CUDA and TF32."""
        name, version_of_cuda = self.module.cuda.get_device_name(), self.module.version.cuda
        return {"device": name, "cuda": str(version_of_cuda), "tf32": str(self._tf32())}

    def _tf32(self) -> bool:
        matmul = self.module.backends.cuda.matmul
        # torch 2.9: `allow_tf32` raises an error if `fp32_precision` is set
        precision = getattr(matmul, "fp32_precision", None)
        return bool(matmul.allow_tf32 if precision is None else precision == "tf32")


class Jax(ArrayLibrary):
    """JAX, with 64-bit numbers."""

    package, distribution = "jax", "jax"
    recorded = ("jax", "jaxlib")
    devices = ("cpu", "cuda")
    dtypes = ("float64", "float32", "bfloat16", "float16")
    compiles = True

    @property
    def module(self) -> Any:
        """The library."""
        jax = super().module
        jax.config.update("jax_enable_x64", True)
        return jax

    def missing_device(self, device: str) -> str | None:
        """Return whether it has no CUDA device."""
        try:
            self.module.devices(device)
        except RuntimeError:
            return f"jax finds no {device} device: take jax:cpu, or pip install 'jax[cuda12]'"
        return None

    def copied(self, values: NDArray[np.generic], device: str, dtype: str | None) -> Any:
        """Return an array."""
        jax = self.module
        return jax.device_put(np.array(values, dtype=dtype), jax.devices(device)[0])

    def to_numpy(self, values: Any) -> NDArray[np.generic]:
        """Return a copy on the host, bfloat16 as float32."""
        copy = np.array(values)
        return copy.astype(np.float32) if str(copy.dtype) == "bfloat16" else copy

    def wait(self, values: Sequence[object], _device: str) -> None:
        """Wait for the arrays."""
        self.module.block_until_ready(list(values))

    def limit(self, threads: int) -> None:
        """Limit the threads of the host; jax reads their number when it starts."""
        if "jax" not in sys.modules:
            os.environ["NPROC"] = str(threads)

    def cuda(self) -> Mapping[str, str]:
        """Return device and precision of products."""
        precision = str(self.module.config.jax_default_matmul_precision or "default")
        return {"device": self.module.devices("cuda")[0].device_kind, "matmul precision": precision}


class CuPy(ArrayLibrary):
    """CuPy."""

    package, distribution = "cupy", "cupy-cuda12x"
    devices = ("cuda",)

    def missing_device(self, _device: str) -> str | None:
        """Return whether there is no CUDA device."""
        try:
            count = self.module.cuda.runtime.getDeviceCount()
        except Exception as error:  # of its own classes
            return f"cupy finds no CUDA device ({error})"
        return None if count else "cupy finds no CUDA device"

    def copied(self, values: NDArray[np.generic], _device: str, dtype: str | None) -> Any:
        """Return an array."""
        return self.module.array(values, dtype=dtype)

    def to_numpy(self, values: Any) -> NDArray[np.generic]:
        """Return a copy on the host."""
        return np.array(self.module.asnumpy(values))

    def wait(self, _values: Sequence[object], _device: str) -> None:
        """Synchronize with the device."""
        self.module.cuda.Device().synchronize()

    def cuda(self) -> Mapping[str, str]:
        """Return device, version of CUDA and TF32."""
        runtime = self.module.cuda.runtime
        return {
            "device": runtime.getDeviceProperties(0)["name"].decode(),
            "cuda": str(runtime.runtimeGetVersion()),
            "tf32": os.environ.get("CUPY_TF32", "0"),
        }


LIBRARIES: Mapping[str, ArrayLibrary] = {
    "numpy": NumPy(),
    "torch": Torch(),
    "jax": Jax(),
    "cupy": CuPy(),
    "array-api-strict": Strict(),
}
"""The libraries, by their names in a place."""
