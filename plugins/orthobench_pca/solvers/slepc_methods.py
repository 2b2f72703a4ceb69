"""Principal components by SLEPc."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from orthobench.contract import UsageError, parameter
from orthobench_pca.base import DirectSolver, Found
from orthobench_pca.oracle import PCAOracle

METHODS = ("trlanczos", "lanczos", "cross")
"""Solvers of singular values of SLEPc, by their names there."""

ROUNDING = 4
"""Minimum tolerance, in units of the rounding error of the precision."""


@dataclass(frozen=True)
class SlepcSVDS(DirectSolver):
    """SLEPc's singular value solvers on the centred matrix as an operator, from a Gaussian vector.

    Parameters
    ----------
    method : str
        ``"trlanczos"``: Lanczos bidiagonalization with thick restart. ``"lanczos"``: with explicit
        restart. ``"cross"``: Krylov-Schur on Z'Z.

    Notes
    -----
    Flops, of the products alone: 2rd for each vector. Memory: max(2k, 10) vectors of both sides.
    SLEPc computes in double precision, also on data in single precision.

    References
    ----------
    Hernandez, Roman and Tomas 2008, "A robust and efficient parallel SVD solver based on restarted
    Lanczos bidiagonalization".
    """

    name: ClassVar[str] = "slepc-svds"
    source: ClassVar[str] = "slepc4py.SLEPc.SVD"
    packages: ClassVar[tuple[str, ...]] = ("slepc4py", "petsc4py")

    method: str = parameter("trlanczos", help="SLEPc's solver", choices=METHODS)
    tolerance: float = parameter(1e-10, help="residual, over the singular value", above=0.0)

    def check(self, oracle: PCAOracle) -> None:
        if why := self.missing_packages():
            raise UsageError(f"{self.name}: {why}")

    def components(self, oracle: PCAOracle, rng: np.random.Generator) -> Found:
        # Open MPI would start a daemon, which outlives the run
        os.environ.setdefault("OMPI_MCA_ess_singleton_isolated", "1")
        from petsc4py import PETSc
        from slepc4py import SLEPc

        dtype = oracle.matrix.dtype
        tolerance = max(self.tolerance, ROUNDING * float(np.finfo(dtype).eps))
        matrix = PETSc.Mat().createPython(
            [oracle.rows, oracle.n], _Product(oracle), comm=PETSc.COMM_SELF
        )
        matrix.setUp()
        right, left = matrix.createVecs()
        right.setArray(rng.standard_normal(oracle.n))

        svd = SLEPc.SVD().create(comm=PETSc.COMM_SELF)
        svd.setOperators(matrix)
        svd.setType(self.method)
        svd.setDimensions(oracle.k)
        svd.setTolerances(tol=tolerance)
        svd.setInitialSpaces([right], [])
        svd.solve()
        if svd.getConverged() < oracle.k:
            said = f"SLEPc converged {svd.getConverged()} of {oracle.k} components"
            return Found(None, oracle.product_flops, reason=said)

        basis = np.empty((oracle.n, oracle.k))
        for i in range(oracle.k):
            svd.getSingularTriplet(i, left, right)
            basis[:, i] = right.getArray()
        found = np.linalg.qr(basis)[0].astype(dtype)
        return Found(found, oracle.product_flops, tolerance)


class _Product:
    """The products with Z and Z' that PETSc calls for a matrix of Python."""

    def __init__(self, oracle: PCAOracle) -> None:
        self._operator = oracle.operator()

    def mult(self, matrix: Any, x: Any, y: Any) -> None:
        """Write Zx into y."""
        del matrix
        y.setArray(self._operator.matvec(x.getArray(readonly=True)))

    def multTranspose(self, matrix: Any, x: Any, y: Any) -> None:
        """Write Z'x into y."""
        del matrix
        y.setArray(self._operator.rmatvec(x.getArray(readonly=True)))
