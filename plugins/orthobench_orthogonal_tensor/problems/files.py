"""Your own data: a symmetric third-order tensor in a .npy file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from orthobench_kit.data import npy

from orthobench.contract import DataError, Instance, parameter
from orthobench_orthogonal_tensor import AnyOrderOracle, OrthogonalTensor, orthogonal_tensor


@dataclass(frozen=True)
class NpyTensor(OrthogonalTensor):
    """Your own symmetric third-order tensor (n, n, n) in a .npy file, read into memory."""

    name = "npy-tensor"

    path: str = parameter(help="the .npy file: a symmetric tensor (n, n, n) of real numbers")

    def build(self, rng: np.random.Generator) -> Instance[AnyOrderOracle]:
        """Return the instance; DataError without a real, finite, cubic and symmetric tensor."""
        tensor = npy.array(self.path)
        if tensor.ndim == 4:
            raise DataError(f"{self.path}: the tensor is of order 4: use ob.orthogonal_tensor")
        try:
            return orthogonal_tensor(tensor)
        except DataError as error:
            raise DataError(f"{self.path}: {error}") from None

    def checksum(self) -> str:
        return npy.checksum(self.path)
