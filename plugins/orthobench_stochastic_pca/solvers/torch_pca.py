"""PCA by torch."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from orthobench_kit.peer import ArrayPeer
from orthobench_kit.rerun import Batch, BatchState

from orthobench.contract import SampleOracle, flops, is_plain, parameter


def place_parameter() -> Any:
    """Declare the parameter ``on`` for torch."""
    return parameter(
        "torch:cpu", help="place of the computation: torch:cpu or torch:cuda, also with /float32"
    )


class TorchBatch(Batch, ArrayPeer[SampleOracle, BatchState]):
    """Base of torch's functions for all samples at once."""

    library: ClassVar[str] = "torch"
    extra: ClassVar[str] = "torch"

    def fit(self, X: Any, k: int, state: BatchState) -> tuple[Any, int]:
        import torch

        found = self.decomposed(torch.as_tensor(X), k, state.seed)
        n, d = X.shape
        return found.numpy() if is_plain(X) else found, self.fit_flops(n, d, k)

    @abstractmethod
    def decomposed(self, X: Any, k: int, seed: int) -> Any:
        """Return the k leading right singular vectors, (d, k)."""

    @abstractmethod
    def fit_flops(self, n: int, d: int, k: int) -> int:
        """Return the flops of `decomposed`."""


@dataclass(frozen=True, kw_only=True)
class TorchEigh(TorchBatch):
    """torch.linalg.eigh of the second moment of all samples so far, or of their Gram matrix.

    The Gram matrix is that of fewer samples than features. 2nd² + 9d³ flops; with n < d samples
    2n²d + 9n³ + 2ndk and a QR. Memory: the samples, and about three matrices (m, m), m = min(n, d).

    References
    ----------
    Paszke et al. 2019, "PyTorch: an imperative style, high-performance deep learning library".
    """

    on: str = place_parameter()

    name: ClassVar[str] = "torch-eigh"
    source: ClassVar[str] = "torch: torch.linalg.eigh"
    doi: ClassVar[str] = "10.1145/3620665.3640366"

    def decomposed(self, X: Any, k: int, seed: int) -> Any:
        import torch

        del seed
        fewer = X.shape[0] < X.shape[1]
        square = X @ X.mT if fewer else X.mT @ X
        leading = torch.linalg.eigh(square).eigenvectors[:, -k:].flip(1)
        return torch.linalg.qr(X.mT @ leading).Q if fewer else leading

    def fit_flops(self, n: int, d: int, k: int) -> int:
        if n < d:
            return flops.gemm(n, n, d) + flops.eigh(n) + flops.gemm(d, k, n) + flops.qr(d, k)
        return flops.gemm(d, d, n) + flops.eigh(d)


@dataclass(frozen=True, kw_only=True)
class TorchSVDLowrank(TorchBatch):
    """torch.svd_lowrank of all samples so far: randomized, with power iterations.

    4ndq(i + 1) flops with q = k + oversampling and i iterations, besides QR decompositions and an
    SVD of q vectors. Memory: the samples, and some matrices of q columns.

    References
    ----------
    Halko, Martinsson and Tropp 2011, "Finding structure with randomness", Algorithms 4.4 and 5.1.
    """

    oversampling: int = parameter(10, low=0, help="vectors iterated beyond those sought")
    iterations: int = parameter(2, low=0, help="power iterations")
    on: str = place_parameter()

    name: ClassVar[str] = "torch-svd-lowrank"
    source: ClassVar[str] = "torch: torch.svd_lowrank"
    doi: ClassVar[str] = "10.1145/3620665.3640366"

    def decomposed(self, X: Any, k: int, seed: int) -> Any:
        import torch

        rank = min(k + self.oversampling, *X.shape)
        with torch.random.fork_rng([X.device] if X.is_cuda else []):
            torch.manual_seed(seed)
            return self.right(X, rank)[:, :k]

    def right(self, X: Any, rank: int) -> Any:
        """Return `rank` right singular vectors."""
        import torch

        return torch.svd_lowrank(X, q=rank, niter=self.iterations)[2]

    def fit_flops(self, n: int, d: int, k: int) -> int:
        rank, ranges = min(k + self.oversampling, n, d), self.iterations + 1
        bases = ranges * flops.qr(max(n, d), rank) + self.iterations * flops.qr(min(n, d), rank)
        return 2 * ranges * flops.gemm(n, rank, d) + bases + flops.svd(min(n, d), rank)


@dataclass(frozen=True, kw_only=True)
class TorchPCALowrank(TorchSVDLowrank):
    """torch.pca_lowrank of all samples so far, not centred, like the second moment of the family.

    Without centring it finds the same as `torch-svd-lowrank`, at its cost.

    References
    ----------
    Halko, Martinsson and Tropp 2011, "Finding structure with randomness", Algorithms 4.4 and 5.1.
    """

    name: ClassVar[str] = "torch-pca-lowrank"
    source: ClassVar[str] = "torch: torch.pca_lowrank"
    doi: ClassVar[str] = "10.1145/3620665.3640366"

    def right(self, X: Any, rank: int) -> Any:
        import torch

        return torch.pca_lowrank(X, q=rank, center=False, niter=self.iterations)[2]
