"""Independent component analysis by other libraries."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from orthobench_kit.peer import finite, numpy_seeded
from orthobench_kit.rerun import Rerun, RerunState, Run

from orthobench.contract import Array, DataError, Solution, flops, parameter, polar
from orthobench_stiefel.orthogonal_group import ComponentsOracle


class Unmixing(NamedTuple):
    """The result of a library: `rows` (n, n), W, to be applied to samples."""

    rows: Array
    iterations: int


def tolerance_parameter(default: float, of: str) -> Any:
    """Declare the parameter ``tolerance``."""
    return parameter(default, low=0.0, help=f"{of} to end at: the library's default")


class Components(Rerun[ComponentsOracle]):
    """Base of methods for fourth moments, re-run with growing ``max_iter``."""

    tolerance: float

    def prepare(self, oracle: ComponentsOracle) -> tuple[Any, Solution, int]:
        finite(oracle.Z, "samples")
        if len(oracle.Z) < 2:
            raise DataError("one sample has no components: pass at least two")
        return oracle.start.T.copy(), Solution(oracle.start.copy()), 0

    def run(self, oracle: ComponentsOracle, state: RerunState, iterations: int) -> Run:
        with warnings.catch_warnings(), numpy_seeded(state.seed):
            warnings.simplefilter("ignore")  # that iterations were too few
            found = self.unmixed(oracle.Z, state.prepared, iterations)
        done = min(found.iterations, iterations)
        n, samples = oracle.n, len(oracle.Z)
        count = done * (2 * flops.gemm(samples, n, n) + 4 * samples * n + flops.eigh(n))
        return Run(Solution(polar(found.rows.T)), done, count, samples=done)

    @abstractmethod
    def unmixed(self, Z: Array, start: Array, iterations: int) -> Unmixing:
        """Run the library on whitened samples."""


@dataclass(frozen=True)
class SklearnFastICA(Components):
    """scikit-learn's FastICA: all components at once, by the fixed point of fourth moments.

    It ends if no row turns by more than the tolerance, quadratic in the error.

    Notes
    -----
    4Nn² + 4Nn flops an iteration for N samples, and an eigendecomposition of size n. Memory: 3Nn.

    References
    ----------
    Hyvärinen 1999, "Fast and robust fixed-point algorithms for independent component analysis".
    """

    tolerance: float = tolerance_parameter(1e-4, "change of the rows")

    name: ClassVar[str] = "sklearn-fastica"
    source: ClassVar[str] = "scikit-learn: sklearn.decomposition.FastICA"
    packages: ClassVar[tuple[str, ...]] = ("scikit-learn",)

    def unmixed(self, Z: Array, start: Array, iterations: int) -> Unmixing:
        from sklearn.decomposition import FastICA

        estimator = FastICA(
            whiten=False, fun="cube", max_iter=iterations, tol=self.tolerance, w_init=start
        )
        estimator.fit(Z)
        return Unmixing(np.asarray(estimator.components_), int(estimator.n_iter_))


@dataclass(frozen=True)
class PicardO(Components):
    """Picard-O: L-BFGS on the orthogonal group, preconditioned by the Hessian for unmixed sources.

    Its density has fourth moments, with signs for light and heavy tails. It ends if the largest
    entry of the relative gradient is below the tolerance. It is counted like `sklearn-fastica`,
    without the trials of its line search. Memory: 4Nn.

    References
    ----------
    Ablin, Cardoso and Gramfort 2018, "Faster ICA under orthogonal constraint".
    """

    tolerance: float = tolerance_parameter(1e-7, "largest entry of the relative gradient")

    name: ClassVar[str] = "picard-o"
    source: ClassVar[str] = "python-picard: picard.picard, ortho=True"
    doi: ClassVar[str] = "10.1109/ICASSP.2018.8461662"
    packages: ClassVar[tuple[str, ...]] = ("python-picard",)

    def unmixed(self, Z: Array, start: Array, iterations: int) -> Unmixing:
        from picard import picard

        _, rows, _, count = picard(
            Z.T, fun="cube", ortho=True, extended=True, whiten=False, centering=False,
            max_iter=iterations, tol=self.tolerance, w_init=start, check_fun=False,
            return_n_iter=True,
        )  # fmt: skip
        # the index of the last iteration
        return Unmixing(np.asarray(rows), int(count) + 1)
