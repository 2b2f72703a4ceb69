"""Principal components by PRIMME."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from orthobench.contract import UsageError, parameter
from orthobench_pca.base import DirectSolver, Found
from orthobench_pca.oracle import PCAOracle
from orthobench_pca.scatter import from_smaller

METHOD = "PRIMME_DEFAULT_MIN_TIME"
"""Fixed, since by default PRIMME chooses by times it measures, so that bits differ."""

ROUNDING = 4
"""Minimum tolerance, in units of the rounding error of the precision."""


class PrimmeSolver(DirectSolver):
    """Base of the methods of PRIMME."""

    packages: ClassVar[tuple[str, ...]] = ("primme",)

    tolerance: float

    def check(self, oracle: PCAOracle) -> None:
        if why := self.missing_packages():
            raise UsageError(f"{self.name}: {why}")

    def within_reach(self, dtype: np.dtype[np.floating[Any]]) -> float:
        """Return the tolerance, or rounding: PRIMME returns nothing below it."""
        return max(self.tolerance, ROUNDING * float(np.finfo(dtype).eps))


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
        tolerance = self.within_reach(oracle.matrix.dtype)
        options = {"tol": tolerance, "which": "LM", "u0": U, "v0": V}
        stages = dict.fromkeys(("methodStage1", "methodStage2"), METHOD)
        _, values, Vt = primme.svds(oracle.operator(), oracle.k, **options, **stages)
        found = np.linalg.qr(Vt[np.argsort(values)[::-1]].T)[0]
        return Found(found, oracle.product_flops, tolerance)


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
        tolerance = self.within_reach(oracle.matrix.dtype)
        options = {"tol": tolerance, "which": "LA", "v0": np.linalg.qr(start)[0], "method": METHOD}
        values, vectors = primme.eigsh(oracle.normal_operator(), oracle.k, **options)
        found = from_smaller(oracle, vectors[:, np.argsort(values)[::-1]])
        return Found(found, oracle.product_flops, tolerance)
