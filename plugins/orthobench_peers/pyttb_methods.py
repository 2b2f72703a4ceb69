"""Methods of pyttb, the Tensor Toolbox for Python: alternating Tucker and CP, and HOSVD."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any, ClassVar

import numpy as np

from orthobench.contract import Array, Solution, flops, parameter
from orthobench.families.orthogonal_tensor import TensorOracle
from orthobench.families.symmetric_tucker import SymmetricTensorOracle
from orthobench_peers.components import nearest_factors
from orthobench_peers.peer import finite
from orthobench_peers.rerun import Rerun, RerunState, Run
from orthobench_peers.tucker import (
    AlternatingTucker,
    Factors,
    FactorsState,
    OneStepTucker,
    products_flops,
    tolerance_parameter,
)

PACKAGES = ("pyttb",)


@dataclass(frozen=True)
class PyttbTuckerALS(AlternatingTucker):
    """pyttb's tucker_als: HOOI with a factor for each mode, from the HOSVD.

    As `tensorly-tucker`, but with singular vectors from the Gram matrix, by ARPACK: faster, and
    with half of the digits of all but the largest. ARPACK starts from a fixed vector here; pyttb
    draws a new one in each call, so that its last digits differ from run to run. Q is the factor of
    the last mode.

    Parameters
    ----------
    tolerance : float

    Notes
    -----
    2n^(d+1) + 9n³ flops for each of d modes at the start, a Gram matrix and its eigenvectors. A
    step: for each mode the product with all others, `orthobench_peers.tucker.products_flops`, and
    2n² r^(d-1) + 9n³; 2nr^d for the core, and 2n^d + 2r^d for norms. ARPACK is counted as an
    eigendecomposition by LAPACK. Memory: about three tensors.

    References
    ----------
    De Lathauwer, De Moor and Vandewalle 2000, "On the best rank-1 and rank-(R1, ..., RN)
    approximation of higher-order tensors", Algorithm 4.2.
    """

    name: ClassVar[str] = "pyttb-tucker-als"
    source: ClassVar[str] = "pyttb: pyttb.tucker_als"
    packages: ClassVar[tuple[str, ...]] = PACKAGES

    tolerance: float = tolerance_parameter()

    def tensor(self, T: Array) -> object:
        """Return a copy of the tensor, in Fortran order."""
        return _tensor(T)

    def first(self, oracle: SymmetricTensorOracle, tensor: object) -> Factors:
        """Return the HOSVD: leading eigenvectors of the Gram matrices of unfoldings."""
        found: Any = tensor
        with _fixed_arpack_start():
            return Factors([found.nvecs(mode, oracle.k) for mode in range(oracle.order)])

    def iterate(self, oracle: SymmetricTensorOracle, state: FactorsState) -> Factors:
        """Call tucker_als for one iteration, from the factors."""
        from pyttb import tucker_als

        ranks, start = [oracle.k] * oracle.order, list(state.factors.modes)
        with _fixed_arpack_start():
            found, _, info = tucker_als(
                state.tensor, ranks, stoptol=0.0, maxiters=1, init=start, printitn=0
            )
        return Factors(found.factor_matrices, 1 - float(info["fit"]))

    def first_flops(self, n: int, rank: int, order: int) -> int:
        """Return the flops of the HOSVD."""
        del rank
        return order * _gram_flops(n, n ** (order - 1))

    def step_flops(self, n: int, rank: int, order: int) -> int:
        """Return the flops of an iteration."""
        mode = products_flops(n, rank, order, order - 1) + _gram_flops(n, rank ** (order - 1))
        return order * mode + int(2 * n * rank**order + 2 * n**order + 2 * rank**order)


@dataclass(frozen=True)
class PyttbHOSVD(OneStepTucker):
    """pyttb's hosvd, truncated mode after mode: each Gram matrix is that of the truncated tensor.

    One step, and no iteration. pyttb truncates in sequence by default, which is faster; then the
    factors of a symmetric tensor differ. Q is the factor of the last mode, from the tensor that is
    truncated in all others.

    Notes
    -----
    For mode j = 1, ..., d, when j - 1 are truncated, 2n² r^(j-1) n^(d-j) + 9n³ flops for the Gram
    matrix and its eigenvectors, by LAPACK, and 2n^(d-j+1) r^j to truncate; 2n^d for the norm.
    Memory: about two tensors.

    References
    ----------
    Vannieuwenhoven, Vandebril and Meerbergen 2012, "A new truncation strategy for the higher-order
    singular value decomposition".
    """

    name: ClassVar[str] = "pyttb-hosvd"
    source: ClassVar[str] = "pyttb: pyttb.hosvd"
    packages: ClassVar[tuple[str, ...]] = PACKAGES

    def tensor(self, T: Array) -> object:
        """Return a copy of the tensor, in Fortran order."""
        return _tensor(T)

    def decomposed(self, oracle: SymmetricTensorOracle, state: FactorsState) -> Factors:
        """Return the decomposition."""
        from pyttb import hosvd

        tensor: Any = state.tensor
        found = hosvd(tensor, 0.0, verbosity=-1, ranks=[oracle.k] * oracle.order)
        return Factors(found.factor_matrices)

    def step_flops(self, n: int, rank: int, order: int) -> int:
        """Return the flops of the decomposition."""
        grams = sum(_gram_flops(n, rank**j * n ** (order - 1 - j)) for j in range(order))
        return grams + products_flops(n, rank, order, order) + int(2 * n**order)


@dataclass(frozen=True)
class PyttbCPALS(Rerun[TensorOracle]):
    """pyttb's cp_als with as many components as dimensions, from the HOSVD.

    Alternating least squares does not know that factors are orthonormal, nor that those of all
    modes are equal. The factors of the last mode are replaced by the orthonormal ones nearest to
    them, the polar factor of U diag(w), with T(q, q, q) as weights. For a tensor without noise and
    with distinct weights, its start, ``init="nvecs"``, has the factors already.

    It cannot be stepped, since it rescales and sorts its components at the end: it is re-run with
    growing ``maxiters``, and each point of the trace has the time of its own run.

    Parameters
    ----------
    tolerance : float
        Change of the fit to end at. With pyttb's 1e-4 it would end long before convergence.

    Notes
    -----
    An iteration takes, for each of three modes, 2n⁴ + n³ flops for the Khatri-Rao product, 8n³/3
    for the least squares and 2n³ for a Gram matrix; the start 2n⁴ + 9n³ for each. Memory: two
    tensors.

    References
    ----------
    Kolda and Bader 2009, "Tensor decompositions and applications", Figure 3.3.
    """

    tolerance: float = parameter(1e-12, help="change of the fit to end at", low=0.0)

    name: ClassVar[str] = "pyttb-cp-als"
    source: ClassVar[str] = "pyttb: pyttb.cp_als"
    packages: ClassVar[tuple[str, ...]] = PACKAGES

    def prepare(self, oracle: TensorOracle) -> tuple[Any, Solution, int]:
        """Copy the tensor, and compute its HOSVD."""
        from pyttb import ktensor

        n, tensor = oracle.n, _tensor(finite(oracle.T, "entries of the tensor"))
        with _fixed_arpack_start():
            start = ktensor([tensor.nvecs(mode, n) for mode in range(3)])
        first = nearest_factors(oracle.T, start.factor_matrices[-1], np.ones(n))
        return (tensor, start), first, 3 * _gram_flops(n, n**2)

    def run(self, oracle: TensorOracle, state: RerunState, iterations: int) -> Run:
        """Alternate from the HOSVD."""
        from pyttb import cp_als

        n, (tensor, start) = oracle.n, state.prepared
        found, _, info = cp_als(
            tensor, n, stoptol=self.tolerance, maxiters=iterations, init=start, printitn=0
        )
        done = info["iters"] + 1
        each = 3 * (flops.gemm(n, n, n**2) + 3 * n**3 + 8 * n**3 // 3)
        components = nearest_factors(oracle.T, found.factor_matrices[-1], found.weights)
        return Run(components, done, done * each)


def _gram_flops(n: int, columns: int) -> int:
    """Return the flops of the left singular vectors of an (n, columns) matrix by Gram matrix."""
    return flops.gemm(n, n, columns) + flops.eigh(n)


def _tensor(T: Array) -> Any:
    from pyttb import tensor

    return tensor(T)


@contextmanager
def _fixed_arpack_start() -> Iterator[None]:
    """Let ARPACK start from the same vector in every call, for which pyttb has no argument."""
    from unittest.mock import patch

    from scipy.sparse import linalg

    original = linalg.eigsh
    seeded = "rng" in signature(original).parameters

    def eigsh(A: Array, k: int) -> Any:
        v0 = np.random.default_rng(0).uniform(-1, 1, len(A))
        fixed = partial(original, v0=v0, rng=0) if seeded else partial(original, v0=v0)
        return fixed(A, k)

    with patch.object(linalg, "eigsh", eigsh):
        yield
