"""Principal components by scikit-learn and PyTorch."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from orthobench.contract import AnyProblem, UsageError, flops, parameter
from orthobench_pca.base import DirectSolver, Found
from orthobench_pca.matrices import Dense, Sparse
from orthobench_pca.oracle import PCAOracle

SEEDS = 2**31
"""Bound of the seeds that libraries take."""


class LibrarySolver(DirectSolver):
    """Base of methods that call a library with X.

    `centers` is whether the library subtracts means; None if it does either.
    """

    centers: ClassVar[bool | None] = None

    def refuses(self, problem: AnyProblem) -> str | None:
        return super().refuses(problem) or self._uncentred(getattr(problem, "center", self.centers))

    def check(self, oracle: PCAOracle) -> None:
        if why := self.missing_packages() or self._uncentred(oracle.center):
            raise UsageError(f"{self.name}: {why}")
        if oracle.scale is not None:
            raise UsageError(f"{self.name} does not scale: divide the columns beforehand")
        if not isinstance(oracle.matrix, (Dense, Sparse)):
            kind, size = type(oracle.X).__name__, oracle.dense_bytes
            raise UsageError(
                f"{self.name} needs an array, and a {kind} would take {size:,} bytes as one: take "
                "block-krylov"
            )

    def _uncentred(self, center: bool | None) -> str | None:
        if self.centers is None or center is None or center == self.centers:
            return None
        does = "always" if self.centers else "never"
        return f"it {does} centres: make the problem with center={str(self.centers).lower()}"


def refuse_sparse(oracle: PCAOracle, how: str) -> None:
    """Refuse a sparse matrix that would be made dense; say the bytes."""
    if oracle.sparse:
        raise UsageError(
            f"{how} would make the sparse matrix dense, which takes {oracle.dense_bytes:,} bytes: "
            "take another setting, or block-krylov"
        )


def randomized_flops(oracle: PCAOracle, iterations: int, oversampling: int) -> int:
    """Return the flops of power iterations and a final product, 4rdb each."""
    b = min(oracle.k + oversampling, oracle.rows, oracle.n)
    return 2 * (iterations + 1) * flops.gemm(oracle.rows, b, oracle.n)


def fitted(method: Any, oracle: PCAOracle) -> None:
    """Fit an estimator of scikit-learn to X, with its refusals."""
    try:
        with np.errstate(invalid="ignore"):  # shares of no variance, which nobody reads
            method.fit(oracle.X)
    except ValueError as error:
        raise UsageError(f"scikit-learn: {' '.join(str(error).split())}") from error


@dataclass(frozen=True)
class SklearnPCA(LibrarySolver):
    """`sklearn.decomposition.PCA` on X.

    Notes
    -----
    Flops, nominal: 2rd² and 9d³ for the covariance, an SVD with ``"full"``, else 4rdb for each
    iteration of b columns.

    References
    ----------
    Pedregosa et al. 2011, "Scikit-learn: machine learning in Python".
    """

    name: ClassVar[str] = "sklearn-pca"
    source: ClassVar[str] = "sklearn.decomposition.PCA"
    packages: ClassVar[tuple[str, ...]] = ("scikit-learn",)
    centers: ClassVar[bool | None] = True
    known_passes: ClassVar[bool] = False

    svd_solver: str = parameter(
        "auto",
        help="what scikit-learn decomposes",
        choices=("auto", "full", "covariance_eigh", "arpack", "randomized"),
    )
    n_iter: int = parameter(-1, help="power iterations if randomized; -1: auto", low=-1)
    oversampling: int = parameter(10, help="columns beyond those sought if randomized", low=0)
    tolerance: float = parameter(0.0, help="of ARPACK; 0: full accuracy", low=0.0)

    def check(self, oracle: PCAOracle) -> None:
        super().check(oracle)
        if self.svd_solver in ("full", "randomized"):
            refuse_sparse(oracle, f'svd_solver="{self.svd_solver}"')

    def components(self, oracle: PCAOracle, rng: np.random.Generator) -> Found:
        from sklearn.decomposition import PCA

        method = PCA(
            oracle.k, svd_solver=self.svd_solver, random_state=int(rng.integers(SEEDS)),
            iterated_power="auto" if self.n_iter < 0 else self.n_iter, tol=self.tolerance,
            n_oversamples=self.oversampling,
        )  # fmt: skip
        fitted(method, oracle)
        claims = {"randomized": None, "arpack": self.tolerance}
        tolerance = claims.get(self._method(oracle), 0.0)
        return Found(method.components_.T, self._flops(oracle), tolerance)

    def _flops(self, oracle: PCAOracle) -> int:
        rows, d, k = oracle.rows, oracle.n, oracle.k
        method = self._method(oracle)
        if method == "covariance_eigh":
            return flops.gemm(d, d, rows) + flops.eigh(d)
        if method == "full":
            return flops.svd(rows, d)
        if method == "arpack":
            return 2 * flops.gemm(rows, max(2 * k + 1, 20), d)
        return randomized_flops(oracle, 4 if self.n_iter < 0 else self.n_iter, self.oversampling)

    def _method(self, oracle: PCAOracle) -> str:
        rows, d = oracle.rows, oracle.n
        if self.svd_solver != "auto":
            return self.svd_solver
        if oracle.sparse:
            return "arpack"
        if d <= 1000 and rows >= 10 * d:
            return "covariance_eigh"
        small = max(rows, d) <= 500 or oracle.k >= 0.8 * min(rows, d)
        return "full" if small else "randomized"


@dataclass(frozen=True)
class SklearnTruncatedSVD(LibrarySolver):
    """`sklearn.decomposition.TruncatedSVD` on X, which does not centre.

    Flops, nominal: 4rdb for each iteration of b columns.

    References
    ----------
    Halko, Martinsson and Tropp 2011, "Finding structure with randomness".
    """

    name: ClassVar[str] = "sklearn-truncated-svd"
    source: ClassVar[str] = "sklearn.decomposition.TruncatedSVD"
    packages: ClassVar[tuple[str, ...]] = ("scikit-learn",)
    centers: ClassVar[bool | None] = False
    known_passes: ClassVar[bool] = False

    algorithm: str = parameter(
        "randomized", help="randomized, or ARPACK", choices=("randomized", "arpack")
    )
    n_iter: int = parameter(5, help="power iterations if randomized", low=0)
    oversampling: int = parameter(10, help="columns beyond those sought if randomized", low=0)

    def check(self, oracle: PCAOracle) -> None:
        super().check(oracle)
        side = min(oracle.rows, oracle.n)
        if oracle.k >= side and self.algorithm == "arpack":
            raise UsageError(f"{self.name} with ARPACK takes k below min(rows, columns) = {side}")

    def components(self, oracle: PCAOracle, rng: np.random.Generator) -> Found:
        from sklearn.decomposition import TruncatedSVD

        method = TruncatedSVD(
            oracle.k, algorithm=self.algorithm, n_iter=self.n_iter, n_oversamples=self.oversampling,
            random_state=int(rng.integers(SEEDS)),
        )  # fmt: skip
        fitted(method, oracle)
        spent = randomized_flops(oracle, self.n_iter, self.oversampling)
        return Found(method.components_.T, spent, 0.0 if self.algorithm == "arpack" else None)


@dataclass(frozen=True)
class TorchPCALowrank(LibrarySolver):
    """`torch.pca_lowrank` on X, on the CPU.

    Flops, nominal: 4rdb for each iteration of b columns.

    References
    ----------
    Halko, Martinsson and Tropp 2011, "Finding structure with randomness".
    """

    name: ClassVar[str] = "torch-pca-lowrank"
    source: ClassVar[str] = "torch.pca_lowrank"
    doi: ClassVar[str] = "10.1145/3620665.3640366"
    packages: ClassVar[tuple[str, ...]] = ("torch",)
    known_passes: ClassVar[bool] = False

    n_iter: int = parameter(2, help="power iterations", low=0)
    oversampling: int = parameter(6, help="columns beyond those sought", low=0)

    def check(self, oracle: PCAOracle) -> None:
        super().check(oracle)
        refuse_sparse(oracle, "a tensor of it")

    def components(self, oracle: PCAOracle, rng: np.random.Generator) -> Found:
        import torch

        X = oracle.X
        b = min(oracle.k + self.oversampling, *X.shape)
        with torch.random.fork_rng(devices=()), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that X cannot be written into
            torch.manual_seed(int(rng.integers(SEEDS)))
            A = torch.from_numpy(np.asarray(X, oracle.matrix.dtype))
            try:
                _, _, V = torch.pca_lowrank(A, q=b, center=oracle.center, niter=self.n_iter)
            except torch.linalg.LinAlgError as error:  # data that are not finite
                raise UsageError(f"torch: {error}") from error
        found = np.linalg.qr(V[:, : oracle.k].numpy())[0]
        return Found(found, randomized_flops(oracle, self.n_iter, self.oversampling))
