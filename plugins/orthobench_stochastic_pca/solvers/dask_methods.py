"""PCA by Dask and dask-ml."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from orthobench_kit.rerun import Batch, BatchState

from orthobench.contract import Array, flops, parameter
from orthobench_stochastic_pca.solvers.sklearn_pca import SklearnIncrementalPCA, with_mean

OVERSAMPLED = 10
"""Dask's default number of additional vectors of `svd_compressed`."""

LEAST = 20
"""Minimum number of its vectors."""

CHUNK_HELP = "samples in a chunk"


@contextmanager
def in_this_thread() -> Iterator[None]:
    """Have Dask compute in this thread, since the harness counts threads.

    Dask is loaded with the garbage collector on, as its slices later restore that state.
    """
    collecting = gc.isenabled()
    gc.enable()
    try:
        import dask.array
    finally:
        if not collecting:
            gc.disable()
    with dask.config.set(scheduler="synchronous"):
        yield


def chunked(X: Array, rows: int) -> Any:
    """Return rows as a Dask array in chunks."""
    import dask.array

    return dask.array.from_array(X, chunks=(min(rows, len(X)), X.shape[1]))


@dataclass(frozen=True)
class DaskTSQR(Batch):
    """Dask's tall-skinny QR of all samples so far, and the SVD of its factor R.

    Each chunk is factored, then the factors R of all chunks together. With fewer samples than
    features it decomposes the transpose. A chunk should have at least as many samples as features.

    Notes
    -----
    With c chunks of b samples: c QR factorizations of b rows, one of c min(b, d) rows, and an SVD.
    Memory: the samples twice, with the factors Q.

    References
    ----------
    Benson, Gleich and Demmel 2013, "Direct QR factorizations for tall-and-skinny matrices in
    MapReduce architectures".
    """

    chunk: int = parameter(1000, help=CHUNK_HELP, unit="samples", low=1)

    name: ClassVar[str] = "dask-tsqr"
    source: ClassVar[str] = "dask: dask.array.linalg.tsqr"
    packages: ClassVar[tuple[str, ...]] = ("dask",)
    extra: ClassVar[str] = "dask"

    def fit(self, X: Array, k: int, state: BatchState) -> tuple[Array, int]:
        del state
        n, d = sorted(X.shape, reverse=True)
        wide = len(X) < n
        with in_this_thread():
            from dask.array.linalg import tsqr

            left, _, right = tsqr(chunked(X.T if wide else X, self.chunk), compute_svd=True)
            found: Array = (left[:, :k] if wide else right[:k].T).compute()
        spent = _tsqr_flops(n, d, self.chunk)
        return found, spent + (2 * flops.gemm(n, d, d) if wide else 0)


@dataclass(frozen=True)
class DaskSVDCompressed(Batch):
    """Dask's randomized SVD of all samples so far.

    Iterates are not orthonormalized in between, so that many power iterations lose the smaller
    singular values.

    Notes
    -----
    With l = min(max(20, k + 10), n, d) vectors and q power iterations 4ndl(q + 1) flops, and
    tall-skinny QR of n rows and of d rows. Memory: the samples, and l numbers for each.

    References
    ----------
    Halko, Martinsson and Tropp 2011, "Finding structure with randomness", Algorithms 4.3 and 5.1.
    """

    power: int = parameter(2, help="power iterations", low=0, high=10, grid=(0, 1, 2, 4))
    chunk: int = parameter(1000, help=CHUNK_HELP, unit="samples", low=1)

    name: ClassVar[str] = "dask-svd-compressed"
    source: ClassVar[str] = "dask: dask.array.linalg.svd_compressed"
    packages: ClassVar[tuple[str, ...]] = ("dask",)
    extra: ClassVar[str] = "dask"

    def fit(self, X: Array, k: int, state: BatchState) -> tuple[Array, int]:
        X = np.ldexp(X, -int(np.frexp(np.abs(X).max(initial=0.0))[1]))  # products stay in range
        with in_this_thread():
            from dask.array.linalg import svd_compressed

            _, _, right = svd_compressed(
                chunked(X, self.chunk),
                k,
                n_power_iter=self.power,
                seed=state.seed,
                coerce_signs=False,  # for which it would compute the left vectors
            )
            found: Array = right.compute()
        return found.T, _compressed_flops(len(X), X.shape[1], k, self.power, self.chunk)


def _tsqr_flops(n: int, d: int, chunk: int) -> int:
    return _qr_flops(n, d, chunk) + flops.svd(min(n, d), d)


def _qr_flops(n: int, d: int, chunk: int) -> int:
    """Return the flops of the QR of each chunk of an (n, d) matrix, and of the factors R."""
    chunks, rows = -(-n // chunk), min(chunk, n)
    small = min(rows, d)
    own = chunks * flops.qr(max(rows, d), small)
    return own + flops.qr(max(chunks * small, d), min(chunks * small, d))


def _compressed_flops(n: int, d: int, k: int, power: int, chunk: int) -> int:
    drawn = min(max(LEAST, k + OVERSAMPLED), n, d)
    products = (2 * power + 2) * flops.gemm(n, drawn, d)
    basis = _qr_flops(n, drawn, chunk) + flops.gemm(n, drawn, drawn)
    small = _tsqr_flops(d, drawn, d) + 2 * flops.gemm(d, drawn, drawn)
    return products + basis + small


@dataclass(frozen=True)
class DaskMLPCA(Batch):
    """dask-ml's PCA of all samples so far.

    dask-ml centres samples, but this family's second moment is not centred: the mean is put back,
    as in `sklearn-pca`. The flops of `dask-tsqr` or `dask-svd-compressed`, 2nd, and those of
    `with_mean`.
    """

    svd_solver: str = parameter(
        "tsqr", help="tall-skinny QR, or randomized", choices=("tsqr", "randomized")
    )
    power: int = parameter(2, help="power iterations", low=0, high=10)
    chunk: int = parameter(1000, help=CHUNK_HELP, unit="samples", low=1)

    name: ClassVar[str] = "dask-ml-pca"
    source: ClassVar[str] = "dask-ml: dask_ml.decomposition.PCA"
    packages: ClassVar[tuple[str, ...]] = ("dask-ml",)
    extra: ClassVar[str] = "peers-dask"

    def fit(self, X: Array, k: int, state: BatchState) -> tuple[Array, int]:
        with in_this_thread():
            from dask_ml.decomposition import PCA

        n, d = X.shape
        if n == 1:  # without variance
            return X.T / np.linalg.norm(X), flops.qr(d, 1)
        wanted = k if self.svd_solver == "randomized" else min(n, d)
        pca = PCA(
            wanted, svd_solver=self.svd_solver, iterated_power=self.power, random_state=state.seed
        )
        with in_this_thread():
            pca.fit(chunked(X, self.chunk))
        if self.svd_solver == "randomized":
            own = _compressed_flops(n, d, k, self.power, self.chunk)
        else:  # of one chunk LAPACK's SVD
            own = flops.svd(n, d) if n <= self.chunk else _tsqr_flops(n, d, self.chunk)
        side, other = sorted((wanted + 1, d))
        return with_mean(pca, n, k), 2 * n * d + own + side**2 * other + flops.eigh(side)


@dataclass(frozen=True)
class DaskMLIncrementalPCA(SklearnIncrementalPCA):
    """dask-ml's IncrementalPCA, a batch a step.

    As `sklearn-incremental-pca`, with Dask's decomposition of each batch.
    """

    name: ClassVar[str] = "dask-ml-incremental-pca"
    source: ClassVar[str] = "dask-ml: dask_ml.decomposition.IncrementalPCA"
    packages: ClassVar[tuple[str, ...]] = ("dask-ml",)
    extra: ClassVar[str] = "peers-dask"

    def flops(self, d: int, k: int) -> int:
        rows = self.batch
        kept = min(rows, d)
        own = sum(flops.qr(max(size, d), min(size, d)) for size in (rows, k, 1))
        stacked = kept + k + 1
        together = flops.qr(max(stacked, d), min(stacked, d)) + flops.svd(min(stacked, d), d)
        return own + together + 8 * rows * d

    def estimator(self, k: int) -> Any:
        with in_this_thread():
            from dask_ml.decomposition import IncrementalPCA

        return IncrementalPCA(k)

    def fit(self, estimator: Any, X: Array) -> None:
        with in_this_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it divides by the number of samples before the first
            estimator.partial_fit(chunked(X, len(X)))
