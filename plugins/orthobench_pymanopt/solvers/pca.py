"""PCA by Pymanopt, as optimization over subspaces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from orthobench_kit.rerun import Batch, BatchState

from orthobench.contract import Array, flops, orthonormalize, parameter
from orthobench_pymanopt.objectives import MomentObjective
from orthobench_pymanopt.solvers.optimizers import EXACT, PACKAGES, run_optimizer


@dataclass(frozen=True)
class PymanoptPCA(Batch):
    """Pymanopt's TrustRegions on Grassmann(d, k), for the second moment of all samples so far.

    It minimizes -tr(U'CU) from the common start, with the exact Hessian -2CV. With fewer samples
    than features it works in the span of the samples.

    Notes
    -----
    2nd² flops for the moment, 2d²k + dk for each gradient and Hessian-vector product, 2d²k + 3dk
    for each value, and those of the manifold (`orthobench_pymanopt.manifolds`). With fewer samples
    than features d becomes n, and a QR of (d, n) and 4ndk are added.

    References
    ----------
    Townsend, Koep and Weichwald 2016, "Pymanopt: a Python toolbox for optimization on manifolds
    using automatic differentiation".
    """

    tolerance: float = parameter(
        1e-12, help="norm of the gradient to end at, relative to the trace of the moment", low=0.0
    )
    iterations: int = parameter(200, help="maximum number of iterations", low=1)

    name: ClassVar[str] = "pymanopt-pca"
    source: ClassVar[str] = "Pymanopt: pymanopt.optimizers.TrustRegions on Grassmann"
    packages: ClassVar[tuple[str, ...]] = PACKAGES

    def fit(self, X: Array, k: int, state: BatchState) -> tuple[Array, int]:
        from pymanopt.optimizers import TrustRegions

        n, d = X.shape
        if n >= d:
            return self._minimum(X, state.start, TrustRegions)
        span, R = np.linalg.qr(X.T)
        found, spent = self._minimum(R.T, orthonormalize(span.T @ state.start[:, :k]), TrustRegions)
        return span @ found, spent + flops.qr(d, n) + 2 * flops.gemm(d, k, n)

    def _minimum(self, X: Array, start: Array, optimizer: Any) -> tuple[Array, int]:
        target = MomentObjective(X, start.shape[1])
        found = run_optimizer(
            optimizer, target, start, self.tolerance, EXACT, max_iterations=self.iterations
        )
        return orthonormalize(found.point), target.counted
