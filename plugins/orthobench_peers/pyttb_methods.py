"""Methods of pyttb, the Tensor Toolbox for Python: Tucker and CP by alternation, and HOSVD."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np

from orthobench.contract import Array, Solution, flops, parameter
from orthobench.families.orthogonal_tensor import TensorOracle
from orthobench.families.symmetric_tucker import SymmetricTensorOracle
from orthobench_peers.components import nearest
from orthobench_peers.peer import finite
from orthobench_peers.rerun import Rerun, RerunState, Run
from orthobench_peers.tucker import (
    AlternatingTucker,
    Factors,
    FactorsState,
    OneStepTucker,
    products_flops,
)

PACKAGES = ("pyttb",)


@dataclass(frozen=True)
class PyttbTuckerALS(AlternatingTucker):
    """pyttb's tucker_als: HOOI with a factor for each mode, from the HOSVD.

    As `tensorly-tucker`, but for singular vectors from the Gram matrix, by ARPACK: faster, and
    with half of the digits of all but the largest. ARPACK begins at a fixed vector here; pyttb
    draws one anew, so that its last digits differ from run to run. Q is the factor of the last
    mode.

    Parameters
    ----------
    tolerance : float

    Notes
    -----
    2n^(d+1) + 9n³ flops for each of d modes at the start, a Gram matrix and its eigenvectors. A
    step: for each mode the product with all others, `orthobench_peers.tucker.products_flops`, and
    2n² r^(d-1) + 9n³; 2nr^d for the core, and 2n^d + 2r^d for norms. What ARPACK takes is counted
    as an eigendecomposition by LAPACK. Memory: some three tensors.

    References
    ----------
    De Lathauwer, De Moor and Vandewalle 2000, "On the best rank-1 and rank-(R1, ..., RN)
    approximation of higher-order tensors", Algorithm 4.2.
    """

    name: ClassVar[str] = "pyttb-tucker-als"
    source: ClassVar[str] = "pyttb: pyttb.tucker_als"
    packages: ClassVar[tuple[str, ...]] = PACKAGES

    tolerance: float = parameter(1e-14, help="change of the relative error to end at", low=0.0)

    def tensor(self, T: Array) -> object:
        """Return a copy of the tensor, in Fortran order."""
        return _tensor(T)

    def first(self, oracle: SymmetricTensorOracle, tensor: object) -> Factors:
        """Return the HOSVD: leading eigenvectors of the Gram matrices of unfoldings."""
        found: Any = tensor
        with _repeatable():
            return Factors([found.nvecs(mode, oracle.k) for mode in range(oracle.order)])

    def iterate(self, oracle: SymmetricTensorOracle, state: FactorsState) -> Factors:
        """Call tucker_als for one iteration, from the factors."""
        from pyttb import tucker_als

        ranks, begun = [oracle.k] * oracle.order, list(state.factors.modes)
        with _repeatable():
            found, _, told = tucker_als(
                state.tensor, ranks, stoptol=0.0, maxiters=1, init=begun, printitn=0
            )
        return Factors(found.factor_matrices, 1 - float(told["fit"]))

    def first_flops(self, n: int, rank: int, order: int) -> int:
        """Return those of the HOSVD."""
        del rank
        return order * _gram_flops(n, n ** (order - 1))

    def step_flops(self, n: int, rank: int, order: int) -> int:
        """Return those of an iteration."""
        mode = products_flops(n, rank, order, order - 1) + _gram_flops(n, rank ** (order - 1))
        return order * mode + int(2 * n * rank**order + 2 * n**order + 2 * rank**order)


@dataclass(frozen=True)
class PyttbHOSVD(OneStepTucker):
    """pyttb's hosvd, truncated mode after mode: each Gram matrix is that of what is left.

    One step, and no iteration. The modes of a symmetric tensor differ where it is truncated in
    sequence, which pyttb does by default and is faster; Q is the factor of the last one, made of
    the tensor that all other modes have truncated.

    Notes
    -----
    For mode j = 1, ..., d, when j - 1 are truncated, 2n² r^(j-1) n^(d-j) + 9n³ flops for the Gram
    matrix and its eigenvectors, by LAPACK, and 2n^(d-j+1) r^j to truncate; 2n^d for the norm.
    Memory: some two tensors.

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
        """Return those of the decomposition."""
        grams = sum(_gram_flops(n, rank**j * n ** (order - 1 - j)) for j in range(order))
        return grams + products_flops(n, rank, order, order) + int(2 * n**order)


@dataclass(frozen=True)
class PyttbCPALS(Rerun[TensorOracle]):
    """pyttb's cp_als with as many components as dimensions, from the HOSVD.

    Alternating least squares does not know that factors are orthonormal, nor that those of all
    modes are equal. Those of the last mode are replaced by the orthonormal ones nearest to them,
    the polar factor of U diag(w), with T(q, q, q) as weights. Of a tensor without noise, of
    distinct weights, its start, ``init="nvecs"``, has the factors already.

    Cannot be stepped, since it rescales and sorts its components at the end: re-run with growing
    ``maxiters``, each point with the time of its own run.

    Parameters
    ----------
    tolerance : float
        Change of the fit to end at; pyttb's default of 1e-4 ends long before convergence.

    Notes
    -----
    For each of three modes 2n⁴ + n³ flops for the Khatri-Rao product, 8n³/3 for the least squares
    and 2n³ for a Gram matrix, an iteration; 2n⁴ + 9n³ for each at the start. Memory: two tensors.

    References
    ----------
    Kolda and Bader 2009, "Tensor decompositions and applications", Figure 3.3.
    """

    tolerance: float = parameter(1e-12, help="change of the fit to end at", low=0.0)

    name: ClassVar[str] = "pyttb-cp-als"
    needs: ClassVar[type[TensorOracle]] = TensorOracle
    source: ClassVar[str] = "pyttb: pyttb.cp_als"
    packages: ClassVar[tuple[str, ...]] = PACKAGES

    def ready(self, oracle: TensorOracle) -> tuple[Any, Solution, int]:
        """Copy the tensor, and compute its HOSVD."""
        from pyttb import ktensor

        n, tensor = oracle.n, _tensor(finite(oracle.T, "entries of the tensor"))
        with _repeatable():
            start = ktensor([tensor.nvecs(mode, n) for mode in range(3)])
        begun = nearest(oracle.T, start.factor_matrices[-1], np.ones(n))
        return (tensor, start), begun, 3 * _gram_flops(n, n**2)

    def run(self, oracle: TensorOracle, state: RerunState, iterations: int) -> Run:
        """Alternate from the HOSVD."""
        from pyttb import cp_als

        n, (tensor, start) = oracle.n, state.given
        found, _, told = cp_als(
            tensor, n, stoptol=self.tolerance, maxiters=iterations, init=start, printitn=0
        )
        done = told["iters"] + 1
        each = 3 * (flops.gemm(n, n, n**2) + 3 * n**3 + 8 * n**3 // 3)
        components = nearest(oracle.T, found.factor_matrices[-1], found.weights)
        return Run(components, done, done * each)


def _gram_flops(n: int, columns: int) -> int:
    """Return the flops of the left singular vectors of (n, columns), from the Gram matrix."""
    return flops.gemm(n, n, columns) + flops.eigh(n)


def _tensor(T: Array) -> Any:
    from pyttb import tensor

    return tensor(T)


@contextmanager
def _repeatable() -> Iterator[None]:
    """Let ARPACK begin at the same vector in every call; pyttb has no way to say so."""
    from scipy.sparse import linalg

    whole = linalg.eigsh
    seeded = "rng" in signature(whole).parameters

    def eigsh(A: Array, k: int) -> Any:
        v0 = np.random.default_rng(0).uniform(-1, 1, len(A))
        begun = partial(whole, v0=v0, rng=0) if seeded else partial(whole, v0=v0)
        return begun(A, k)

    with patch.object(linalg, "eigsh", eigsh):
        yield
