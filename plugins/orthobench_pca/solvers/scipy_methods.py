"""Principal components by scipy's Lanczos and LOBPCG iterations, each called once."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from orthobench_kit.arpack import leading_eigenpairs, restarting_with

from orthobench.contract import Array, UsageError, flops, parameter
from orthobench_pca.base import DirectSolver
from orthobench_pca.judge import right_vectors
from orthobench_pca.oracle import PCAOracle


@dataclass(frozen=True)
class Arpack(DirectSolver):
    """Base of the methods of ARPACK, which finds fewer vectors than the smaller side has.

    Subclasses write `vectors`.
    """

    tolerance: float = parameter(0.0, help="tol of ARPACK; 0: full accuracy", low=0.0)

    packages: ClassVar[tuple[str, ...]] = ("scipy",)
    exact: ClassVar[bool] = True

    def check(self, oracle: PCAOracle) -> None:
        """Refuse as many components as the smaller side has."""
        side = min(oracle.rows, oracle.n)
        if oracle.k >= side:
            raise UsageError(f"{self.name} takes k below min(rows, columns) = {side}")

    def components(self, oracle: PCAOracle, rng: np.random.Generator) -> tuple[Any, int]:
        """Call it from a random vector."""
        first = rng.standard_normal(min(oracle.rows, oracle.n)).astype(oracle.matrix.dtype)
        return self.vectors(oracle, first, rng), _product_flops(oracle)

    @abstractmethod
    def vectors(self, oracle: PCAOracle, first: Array, rng: np.random.Generator) -> Array:
        """Return orthonormal right singular vectors, the leading one first."""


@dataclass(frozen=True)
class ScipySVDS(Arpack):
    """`scipy.sparse.linalg.svds` of the centred matrix as an operator: ARPACK on its Gram matrix.

    Parameters
    ----------
    tolerance : float
        ``tol``: of singular values; 0 is full accuracy.

    Notes
    -----
    Flops, of the products alone: 2rd for each vector. Memory: 2k + 1 vectors of the smaller side.
    """

    name: ClassVar[str] = "scipy-svds"
    source: ClassVar[str] = "scipy.sparse.linalg.svds"

    def vectors(self, oracle: PCAOracle, first: Array, rng: np.random.Generator) -> Array:
        """Call svds."""
        from scipy.sparse.linalg import svds

        A, options = oracle.operator(), {"tol": self.tolerance, "v0": first}
        with restarting_with(rng):
            _, _, Vt = svds(A, oracle.k, return_singular_vectors="vh", **options)
        return np.asarray(np.linalg.qr(Vt[::-1].T)[0])


@dataclass(frozen=True)
class ScipyEigsh(Arpack):
    """`scipy.sparse.linalg.eigsh` of the smaller Gram matrix as an operator: ARPACK.

    Parameters
    ----------
    tolerance : float
        ``tol``: of eigenvalues; 0 is full accuracy.

    Notes
    -----
    Flops, of the products alone: 2rd for each vector. Memory: 2k + 1 vectors of the smaller side.
    """

    name: ClassVar[str] = "scipy-eigsh"
    source: ClassVar[str] = "scipy.sparse.linalg.eigsh"

    def vectors(self, oracle: PCAOracle, first: Array, rng: np.random.Generator) -> Array:
        """Call eigsh."""
        A = oracle.normal_operator()
        return _right(oracle, leading_eigenpairs(A, oracle.k, rng, tol=self.tolerance, v0=first)[1])


@dataclass(frozen=True)
class ScipyLOBPCG(DirectSolver):
    """`scipy.sparse.linalg.lobpcg` of the smaller Gram matrix as an operator.

    Parameters
    ----------
    tolerance : float
        Of the residual, over the largest eigenvalue, which a product with the start estimates.
    iterations : int
        ``maxiter``.

    Notes
    -----
    Flops, of the products alone: 2rd for each vector. Memory: 9k vectors of the smaller side.

    References
    ----------
    Knyazev 2001, "Toward the optimal preconditioned eigensolver".
    """

    name: ClassVar[str] = "scipy-lobpcg"
    source: ClassVar[str] = "scipy.sparse.linalg.lobpcg"
    packages: ClassVar[tuple[str, ...]] = ("scipy",)

    tolerance: float = parameter(1e-5, help="residual, over the largest eigenvalue", above=0.0)
    iterations: int = parameter(200, help="most iterations", low=1)

    def components(self, oracle: PCAOracle, rng: np.random.Generator) -> tuple[Any, int]:
        """Call it."""
        from scipy.sparse.linalg import lobpcg

        side = min(oracle.rows, oracle.n)
        start = np.linalg.qr(rng.standard_normal((side, oracle.k)).astype(oracle.matrix.dtype))[0]
        A = oracle.normal_operator()
        largest = float(np.linalg.norm(A.matmat(start), 2))
        with warnings.catch_warnings():
            # that it did not converge, that k is large, or that its small matrices are singular
            warnings.simplefilter("ignore")
            values, found = lobpcg(
                A, start, tol=self.tolerance * largest, maxiter=self.iterations, largest=True
            )
        return _right(oracle, found[:, np.argsort(values)[::-1]]), _product_flops(oracle)


def _right(oracle: PCAOracle, found: Array) -> Array:
    """Return right singular vectors for eigenvectors of the smaller Gram matrix."""
    left = oracle.rows < oracle.n
    return right_vectors(oracle, found) if left else np.linalg.qr(found)[0]


def _product_flops(oracle: PCAOracle) -> int:
    return flops.gemm(oracle.rows, oracle.products, oracle.n)
