"""Principal components by PRIMME."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import UsageError, parameter
from orthobench_pca.base import DirectSolver, Found
from orthobench_pca.oracle import PCAOracle
from orthobench_pca.scatter import from_smaller


class PrimmeSolver(DirectSolver):
    """Base of the methods of PRIMME."""

    packages: ClassVar[tuple[str, ...]] = ("primme",)

    def check(self, oracle: PCAOracle) -> None:
        if why := self.missing_packages():
            raise UsageError(f"{self.name}: {why}")


@dataclass(frozen=True)
class PrimmeSVDS(PrimmeSolver):
    """`primme.svds` of the centred matrix as an operator, from a Gaussian block.

    It solves the eigenproblem of Z'Z or ZZ', and then refines in the augmented matrix. Flops, of
    the products alone: 2rd for each vector.

    References
    ----------
    Wu, Romero and Stathopoulos 2017, "PRIMME_SVDS: a high-performance preconditioned SVD solver
    for accurate large-scale computations".
    """

    name: ClassVar[str] = "primme-svds"
    source: ClassVar[str] = "primme.svds"

    tolerance: float = parameter(1e-10, help="residual, over the first singular value", above=0.0)

    def components(self, oracle: PCAOracle, rng: np.random.Generator) -> Found:
        import primme

        start = rng.standard_normal((oracle.n, oracle.k)).astype(oracle.matrix.dtype)
        V = np.linalg.qr(start)[0]
        U = np.linalg.qr(oracle.times(V))[0]
        options = {"tol": self.tolerance, "which": "LM", "u0": U, "v0": V}
        _, values, Vt = primme.svds(oracle.operator(), oracle.k, **options)
        found = np.linalg.qr(Vt[np.argsort(values)[::-1]].T)[0]
        return Found(found, oracle.product_flops, self.tolerance)


@dataclass(frozen=True)
class PrimmeEigsh(PrimmeSolver):
    """`primme.eigsh` of the smaller Gram matrix as an operator, from a Gaussian block.

    Flops, of the products alone: 2rd for each vector.

    References
    ----------
    Stathopoulos and McCombs 2010, "PRIMME: preconditioned iterative multimethod eigensolver".
    """

    name: ClassVar[str] = "primme-eigsh"
    source: ClassVar[str] = "primme.eigsh"

    tolerance: float = parameter(1e-10, help="residual, over the first eigenvalue", above=0.0)

    def components(self, oracle: PCAOracle, rng: np.random.Generator) -> Found:
        import primme

        side = min(oracle.rows, oracle.n)
        start = rng.standard_normal((side, oracle.k)).astype(oracle.matrix.dtype)
        options = {"tol": self.tolerance, "which": "LA", "v0": np.linalg.qr(start)[0]}
        values, vectors = primme.eigsh(oracle.normal_operator(), oracle.k, **options)
        found = from_smaller(oracle, vectors[:, np.argsort(values)[::-1]])
        return Found(found, oracle.product_flops, self.tolerance)
