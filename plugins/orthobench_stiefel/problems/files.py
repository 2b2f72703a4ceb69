"""Your own matrices in .npy files."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from orthobench_kit.data import npy
from orthobench_kit.reading import real
from orthobench_kit.symmetric_tensors import symmetric_matrices

from orthobench.contract import Array, DataError, Instance, UsageError, parameter
from orthobench_stiefel import Stiefel, StiefelOracle, instance
from orthobench_stiefel.problems.brockett import Gap as BrockettGap
from orthobench_stiefel.problems.brockett import WeightedTraceOracle
from orthobench_stiefel.problems.diagonalization import OffDiagonalOracle, least_off_diagonal
from orthobench_stiefel.problems.orthogonal_procrustes import Optima
from orthobench_stiefel.problems.procrustes import Gap as ProcrustesGap
from orthobench_stiefel.problems.procrustes import LeastSquaresOracle, multiplier
from orthobench_stiefel.problems.rotation import KurtosisOracle, Rounding

STARTS = 3
"""Number of starts of Jacobi rotations."""

LARGEST = 1e70
"""Maximum of the largest entry and of its inverse, for finite fourth powers."""


class NpyStiefel(Stiefel):
    """Base of the problems of this module."""

    path: str

    @property
    def square(self) -> bool:
        return True

    def checksum(self) -> str:
        return npy.checksum(self.path)


@dataclass(frozen=True)
class NpyBrockett(NpyStiefel):
    """Minimize tr(X'AXN) for your own symmetric A in a .npy file, N = diag(k, k-1, ..., 1)/k.

    The optimum is that of `stiefel-brockett`. For the largest eigenvalues save -A.
    """

    name = "npy-brockett"
    offers = WeightedTraceOracle

    path: str = parameter(help="the .npy file: a symmetric matrix (n, n) of real numbers")
    k: int = parameter(1, help="columns of X", low=1)

    @property
    def square(self) -> bool:
        """Whether k = n, by the file's header; False if it cannot be read."""
        try:
            return npy.array(self.path).shape == (self.k, self.k)
        except DataError:
            return False

    def build(self, rng: np.random.Generator) -> Instance[StiefelOracle]:
        A = symmetric_matrices(numbers(self.path, "A", ("n", "n")), self.path)
        if self.k > len(A):
            raise UsageError(f"k = {self.k} columns are more than the {len(A)} rows of {self.path}")
        values, Q = np.linalg.eigh(A)
        weights, least = np.arange(self.k, 0, -1) / self.k, values[: self.k]
        gap = BrockettGap(Q, np.subtract.outer(values, least) * weights)
        return instance(WeightedTraceOracle(A, weights), float(least @ weights), gap)


@dataclass(frozen=True)
class NpyProcrustes(NpyStiefel):
    """Minimize |AX - B|²/N over orthonormal columns for your own A and B, with N rows each.

    If B has as many columns as A, the optimum has a closed form. With fewer, a multiplier proves
    the only global minimum (`orthobench_stiefel.problems.procrustes.multiplier`), unless B is far
    from every AX: then ``objective_gap`` is the cost above a bound.
    """

    name = "npy-procrustes"
    offers = LeastSquaresOracle

    path: str = parameter(help="the .npy file of A: a matrix (N, n) of real numbers")
    target: str = parameter(help="the .npy file of B: a matrix (N, p) of real numbers, p <= n")

    @property
    def square(self) -> bool:
        try:
            return npy.array(self.path).shape == npy.array(self.target).shape
        except DataError:
            return False

    def build(self, rng: np.random.Generator) -> Instance[StiefelOracle]:
        A, B = numbers(self.path, "A", ("N", "n")), numbers(self.target, "B", ("N", "p"))
        if len(A) != len(B) or B.shape[1] > A.shape[1]:
            raise DataError(
                f"A in {self.path} is of shape {A.shape} and B in {self.target} of shape {B.shape}:"
                " both need the same rows, and B no more columns than A"
            )
        return (_balanced if A.shape == B.shape else _unbalanced)(LeastSquaresOracle(A, B))

    def checksum(self) -> str:
        return npy.checksum(self.path) + npy.checksum(self.target)


def _balanced(oracle: LeastSquaresOracle) -> Instance[StiefelOracle]:
    optima = Optima(oracle.A.T @ oracle.B)
    return instance(oracle, float(oracle.value(optima.best)), lambda X: optima.gap(X) / oracle.rows)


def _unbalanced(oracle: LeastSquaresOracle) -> Instance[StiefelOracle]:
    A, B = oracle.A, oracle.B
    found = multiplier(A, B)
    if found.solved:
        return instance(oracle, oracle.value(found.X), ProcrustesGap(A, found.X, found.L))
    nearest = oracle.value(np.linalg.lstsq(A, B, rcond=None)[0])
    return instance(oracle, max(nearest, found.bound / oracle.rows))


@dataclass(frozen=True)
class NpyJointDiagonalization(NpyStiefel):
    """Minimize the mean of |off(X'C_kX)|² over orthogonal X for your own symmetric C_1, ..., C_K.

    The reference is the minimum that Jacobi rotations reach from the eigenvectors of three random
    combinations of the matrices (He and Kressner 2024); a run may find a lower one, with negative
    ``objective_gap``.
    """

    name = "npy-joint-diagonalization"
    offers = OffDiagonalOracle

    path: str = parameter(help="the .npy file: symmetric matrices (K, n, n) of real numbers")

    def build(self, rng: np.random.Generator) -> Instance[StiefelOracle]:
        C = symmetric_matrices(numbers(self.path, "the matrices", ("K", "n", "n")), self.path)
        combined = np.tensordot(rng.standard_normal((STARTS, len(C))), C, axes=1)
        try:
            least = min(least_off_diagonal(C, Q) for Q in np.linalg.eigh(combined)[1])
        except DataError:
            raise DataError(
                f"{self.path}: the matrices are too far from having common eigenvectors for Jacobi "
                "rotations, which the reference comes from; use ob.stiefel with a cost of your own"
            ) from None
        return instance(OffDiagonalOracle(C), least)


@dataclass(frozen=True)
class NpyWeightRotation(NpyStiefel):
    """Rotate your own activations W so that the kurtosis of their entries is minimal.

    As in `weight-rotation`, it is a smooth proxy of ``rounding_error``. For rows of length d it is
    at least N sum d⁴/(sum d²)²; ``objective_gap`` is the kurtosis above this bound.
    """

    name = "npy-weight-rotation"
    offers = KurtosisOracle

    path: str = parameter(help="the .npy file: a matrix (rows, n) of real numbers")

    def build(self, rng: np.random.Generator) -> Instance[StiefelOracle]:
        oracle = KurtosisOracle(numbers(self.path, "W", ("rows", "n")))
        squares = np.einsum("ij,ij->i", oracle.W, oracle.W)
        least = oracle.terms * float(squares @ squares) / float(squares.sum()) ** 2
        return instance(oracle, least, further=Rounding(oracle.W))


def numbers(path: str, what: str, axes: tuple[str, ...]) -> Array:
    """Return the array in a file, read into memory.

    `what` and `axes` name it and its axes in messages.

    Raises
    ------
    DataError
        If the file is missing, or has no such array of finite real numbers; if all are zero, or
        too large or too small for fourth powers.
    """
    found = npy.array(path)
    if found.ndim != len(axes) or not found.size:
        shape = ", ".join(axes)
        raise DataError(f"{path}: {what} must be of shape ({shape}), not {found.shape}")
    A = np.array(real(found, f"{path}: the entries of {what}"), order="C")
    if not np.isfinite(A).all():
        at = _where(~np.isfinite(A))
        raise DataError(f"{path}: entry {at} of {what} is {A[at]}; clean the data")
    largest = float(np.abs(A).max())
    if not 1 / LARGEST <= largest <= LARGEST:
        raise DataError(
            f"{path}: the largest entry of {what} is {largest:.3g}: rescale it, so that powers "
            "neither overflow nor vanish"
        )
    return A


def _where(mask: Array) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(mask)[0])
