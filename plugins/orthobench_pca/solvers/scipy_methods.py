"""Principal components by scipy."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from inspect import signature
from typing import Any, ClassVar

import numpy as np
from orthobench_kit.arpack import leading_eigenpairs, restarting_with

from orthobench.contract import Array, UsageError, parameter
from orthobench.errors import OrthobenchError
from orthobench_pca.base import DirectSolver, Found
from orthobench_pca.oracle import PCAOracle
from orthobench_pca.scatter import from_smaller

UNREACHED = "LOBPCG warns that it did not reach its tolerance"
"""Message of a run that ends with such a warning."""


class ScipySolver(DirectSolver):
    """Base of scipy's iterations; a call that raises is a failed run."""

    tolerance: float

    packages: ClassVar[tuple[str, ...]] = ("scipy",)
    all_but: ClassVar[int] = 1
    """Number of components of the smaller side that cannot be sought."""

    def check(self, oracle: PCAOracle) -> None:
        side = min(oracle.rows, oracle.n)
        if oracle.k > side - self.all_but:
            raise UsageError(f"{self.name} takes k below min(rows, columns) = {side}")

    def components(self, oracle: PCAOracle, rng: np.random.Generator) -> Found:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                found = self.vectors(oracle, rng)
            except OrthobenchError:
                raise
            except (RuntimeError, ValueError) as error:  # of ARPACK, or of linear algebra
                said = " ".join(str(error).split())
                return Found(None, oracle.product_flops, reason=f"{self.source}: {said}")
        if any("not reaching the requested" in str(one.message) for one in caught):
            return Found(found, oracle.product_flops, reason=UNREACHED)
        return Found(found, oracle.product_flops, self.tolerance)

    @abstractmethod
    def vectors(self, oracle: PCAOracle, rng: np.random.Generator) -> Array:
        """Return orthonormal right singular vectors, the leading one first."""


def start_of(oracle: PCAOracle, rng: np.random.Generator) -> Array:
    """Return a Gaussian vector of the length of the smaller side."""
    return rng.standard_normal(min(oracle.rows, oracle.n)).astype(oracle.matrix.dtype)


@dataclass(frozen=True)
class ScipySVDS(ScipySolver):
    """`scipy.sparse.linalg.svds` of the centred matrix as an operator.

    Parameters
    ----------
    tolerance : float
        ``tol`` of singular values; 0 is full accuracy for ARPACK and PROPACK. LOBPCG takes the
        norm of a residual of Z'Z, which depends on the unit of X, and 0 as 1.5e-8 times the
        smaller side.
    solver : str
        ``"arpack"``: implicitly restarted Lanczos iterations on the smaller Gram matrix.
        ``"propack"``: Lanczos bidiagonalization without restart. ``"lobpcg"``: on the smaller Gram
        matrix, from a Gaussian block.

    Notes
    -----
    Flops, of the products alone: 2rd for each vector. Memory: with ARPACK 2k + 1 vectors of the
    smaller side, with PROPACK 10k of both sides, with LOBPCG 9k of the smaller side.

    References
    ----------
    Lehoucq, Sorensen and Yang 1998, "ARPACK users' guide"; Larsen 1998, "Lanczos bidiagonalization
    with partial reorthogonalization"; Knyazev 2001, "Toward the optimal preconditioned
    eigensolver".
    """

    name: ClassVar[str] = "scipy-svds"
    source: ClassVar[str] = "scipy.sparse.linalg.svds"
    doi: ClassVar[str] = "10.1038/s41592-019-0686-2"

    tolerance: float = parameter(0.0, help="tol: of singular values", low=0.0)
    solver: str = parameter(
        "arpack", help="scipy's solver", choices=("arpack", "propack", "lobpcg")
    )
    iterations: int = parameter(0, help="maxiter; 0: scipy's own", low=0)

    def vectors(self, oracle: PCAOracle, rng: np.random.Generator) -> Array:
        from scipy.sparse.linalg import svds

        arpack = self.solver == "arpack"
        options: dict[str, Any] = {"v0": start_of(oracle, rng)} if arpack else {}
        options["rng" if "rng" in signature(svds).parameters else "random_state"] = rng
        with restarting_with(rng):
            _, _, Vt = svds(
                oracle.operator(), oracle.k, tol=self.tolerance, solver=self.solver,
                maxiter=self.iterations or None, return_singular_vectors="vh", **options,
            )  # fmt: skip
        return np.asarray(np.linalg.qr(Vt[::-1].T)[0])


@dataclass(frozen=True)
class ScipyEigsh(ScipySolver):
    """`scipy.sparse.linalg.eigsh` of the smaller Gram matrix as an operator: ARPACK.

    Flops, of the products alone: 2rd for each vector. Memory: 2k + 1 vectors of the smaller side.
    """

    name: ClassVar[str] = "scipy-eigsh"
    source: ClassVar[str] = "scipy.sparse.linalg.eigsh"
    doi: ClassVar[str] = "10.1038/s41592-019-0686-2"

    tolerance: float = parameter(0.0, help="tol of ARPACK; 0: full accuracy", low=0.0)

    def vectors(self, oracle: PCAOracle, rng: np.random.Generator) -> Array:
        A, options = oracle.normal_operator(), {"tol": self.tolerance, "v0": start_of(oracle, rng)}
        return from_smaller(oracle, leading_eigenpairs(A, oracle.k, rng, **options)[1])


@dataclass(frozen=True)
class ScipyLOBPCG(ScipySolver):
    """`scipy.sparse.linalg.lobpcg` of the smaller Gram matrix as an operator.

    The tolerance is over the largest eigenvalue, which a product with the start estimates. Flops,
    of the products alone: 2rd for each vector. Memory: 9k vectors of the smaller side.

    References
    ----------
    Knyazev 2001, "Toward the optimal preconditioned eigensolver".
    """

    name: ClassVar[str] = "scipy-lobpcg"
    source: ClassVar[str] = "scipy.sparse.linalg.lobpcg"
    doi: ClassVar[str] = "10.1038/s41592-019-0686-2"
    all_but: ClassVar[int] = 0

    tolerance: float = parameter(1e-5, help="residual, over the largest eigenvalue", above=0.0)
    iterations: int = parameter(200, help="maximum number of iterations", low=1)

    def vectors(self, oracle: PCAOracle, rng: np.random.Generator) -> Array:
        from scipy.sparse.linalg import lobpcg

        side = min(oracle.rows, oracle.n)
        start = np.linalg.qr(rng.standard_normal((side, oracle.k)).astype(oracle.matrix.dtype))[0]
        A = oracle.normal_operator()
        largest = float(np.linalg.norm(A.matmat(start), 2))
        values, found = lobpcg(
            A, start, tol=self.tolerance * largest, maxiter=self.iterations, largest=True
        )
        return from_smaller(oracle, found[:, np.argsort(values)[::-1]])
