"""Symmetric Tucker decomposition: X ≈ C ·(Q', ..., Q') with an orthonormal basis Q (n, r).

maximize F(Q) = |X ·(Q, ..., Q)|² over Q'Q = I, for a symmetric tensor X of order d. The best core
is C = X ·(Q, ..., Q), and |X|² - F(Q) the squared error (Jin, Kileel, Kolda and Ward 2022,
equations 2 and 3, Remark 1). X may be a sample moment (1/p) sum_i x_i ⊗ ... ⊗ x_i, which then
need not be formed.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from orthobench.arrays import Array, check_rows, matrix
from orthobench.errors import DataError, UsageError
from orthobench.families.full_tensors import symmetrized
from orthobench.families.tucker_judges import (
    Judge,
    Measured,
    MeasuredMoment,
    MeasuredTensor,
    violation,
)
from orthobench.families.tucker_oracles import (
    GivenTensorOracle,
    MomentOracle,
    MomentStream,
    TuckerOracle,
)
from orthobench.geometry import drift
from orthobench.problem import Instance, Problem
from orthobench.solution import Solution
from orthobench.sources import Sampler, SamplerSource

LARGEST_CORE = 2**24
"""Most entries of a core that is asked for."""

LARGEST = 1e300
"""|x|^(4d) of the longest sample lies between one over this and this: |∇F|² is a number."""

ORTHONORMAL = 1e-8
"""Largest orthogonality defect |Q'Q - I|_F of a true basis."""


class SymmetricTucker(Problem[TuckerOracle]):
    """Base of the problems of this family: what its judge reports and what it ranks by."""

    family: ClassVar[str] = "symmetric Tucker"
    offers: ClassVar[type[TuckerOracle]] = MomentOracle
    primary: ClassVar[str] = "relative_error"
    tuned_by: ClassVar[str] = "relative_error"

    @property
    @abstractmethod
    def tensor_shape(self) -> tuple[int, ...] | None:
        """The shape of the tensor, (n,) * d; None where only reading the data would tell."""

    @property
    def endless(self) -> bool:
        """Whether samples never end: the oracle is a `MomentStream` and no more."""
        return False


@dataclass(frozen=True)
class TuckerInstance(Instance[TuckerOracle]):
    """An instance whose bases have cores.

    Attributes
    ----------
    core : callable
        Maps a basis (n, r) to its core (r,) * d, of the judge's samples (Remark 5).
    """

    core: Callable[[Array], Array] = field(kw_only=True)


def symmetric_tucker(
    *,
    rank: int,
    tensor: NDArray[np.generic] | None = None,
    samples: NDArray[np.generic] | Sampler | None = None,
    order: int | None = None,
    test: NDArray[np.generic] | None = None,
    validation: NDArray[np.generic] | None = None,
    basis: Array | None = None,
    core: bool = False,
    passes: int = 1,
) -> TuckerInstance:
    """Make a symmetric Tucker instance of a tensor, or of samples, of your own.

    Parameters
    ----------
    rank : int
        Columns of the basis sought, 1 <= r <= n.
    tensor : ndarray, shape (n,) * d, d >= 2
        Symmetric up to rounding; it is copied.
    samples : ndarray, shape (n, p), or sampler
        Samples in *columns*, in place of a tensor: their moment of order `order` is decomposed.
        An array in Fortran order is not copied. A sampler ``sampler(rng, count) -> (count, n)``
        has no end and can only be streamed.
    order : int
        Order d >= 2 of the moment; with samples only.
    test : ndarray, shape (n, p_test), optional
        Fresh samples that the judge measures on; by default those of `samples`. A sampler
        needs them.
    validation : ndarray, shape (n, p_validation), optional
        Fresh samples that parameters are tuned on.
    basis : ndarray, shape (n, r*), optional
        The true basis, where it is known; orthonormal.
    core : bool
        Whether the solution of a run gets its core, r^d numbers, of the judge's samples.
    passes : int
        How often a stream goes through the samples.

    Returns
    -------
    TuckerInstance
        Its metrics are those of `orthobench.families.tucker_judges.Judge`.

    Raises
    ------
    UsageError
        On a rank or an order that cannot be; on a tensor and samples together, or neither.
    DataError
        On data that are not finite real numbers, not symmetric, all zero, or so large or small
        that their moments overflow or vanish; says where.

    Examples
    --------
    >>> import numpy as np, orthobench as ob
    >>> X = np.random.default_rng(0).exponential(size=(8, 500)) * np.arange(1, 9)[:, None]
    >>> instance = ob.symmetric_tucker(samples=X, order=3, rank=2)
    >>> list(instance.measure(ob.Solution(np.eye(8)[:, -2:])))
    ['relative_error', 'objective', 'relative_gradient']
    """
    if (tensor is None) == (samples is None):
        raise UsageError("pass a tensor, or samples with an order: one of the two")
    if samples is None:
        if order is not None or test is not None or validation is not None or passes != 1:
            raise UsageError("order, test, validation and passes go with samples, not a tensor")
        T = _checked_tensor(np.asarray(tensor))
        oracle, judge = _of_tensor(T, rank, basis)
    else:
        if order is None or order < 2:
            raise UsageError(f"samples need the order of their moment, at least 2, not {order}")
        held = {"test": test, "validation": validation}
        rows = {
            part: None if data is None else _rows(data, order, f"the {part} samples")
            for part, data in held.items()
        }
        oracle, judge = _of_samples(
            samples, order, rank, rows["test"], rows["validation"], basis, passes
        )
    return _instance(oracle, judge, core)


def _of_tensor(T: Array, rank: int, basis: Array | None) -> tuple[TuckerOracle, Judge]:
    _check_rank(rank, len(T))
    measured = MeasuredTensor(T)
    return GivenTensorOracle(T, rank), Judge(measured, measured, None, _checked(basis, len(T)))


def _of_samples(
    samples: NDArray[np.generic] | Sampler,
    order: int,
    rank: int,
    test: Array | None,
    validation: Array | None,
    basis: Array | None,
    passes: int,
) -> tuple[TuckerOracle, Judge]:
    if callable(samples):
        if test is None or passes != 1:
            raise UsageError("a sampler needs a test part to be judged by, and has one pass")
        n, seen = test.shape[1], None
        _check_rank(rank, n)
        oracle: MomentStream = MomentStream(SamplerSource(samples, n), order, rank)
        judged: Measured = MeasuredMoment(test, order)
    else:
        X = _rows(samples, order, "the samples")
        n, seen = X.shape[1], MeasuredMoment(X, order)
        _check_rank(rank, n)
        oracle = MomentOracle(X, order, rank, passes)
        judged = seen if test is None else MeasuredMoment(_of_width(test, n, "test"), order)
    held_out = None
    if validation is not None:
        held_out = MeasuredMoment(_of_width(validation, n, "validation"), order)
    return oracle, Judge(judged, seen, held_out, _checked(basis, n))


def _instance(oracle: TuckerOracle, judge: Judge, core: bool) -> TuckerInstance:
    if not core:
        return TuckerInstance(oracle, judge, violation=violation, core=judge.test.core)
    if oracle.k**oracle.order > LARGEST_CORE:
        raise UsageError(
            f"a core of {oracle.k}^{oracle.order} entries is more than {LARGEST_CORE}: leave it out"
        )

    def finish(solution: Solution) -> Solution:
        return replace(solution, core=judge.test.core(solution.point))

    return TuckerInstance(oracle, judge, violation=violation, finish=finish, core=judge.test.core)


def _check_rank(rank: int, n: int) -> None:
    if not 1 <= rank <= n:
        raise UsageError(f"rank must be between 1 and n = {n}, not {rank}")


def _rows(samples: NDArray[np.generic], order: int, what: str) -> Array:
    """Return samples (n, p) as rows (p, n), C order, finite, and of a size to be raised to 4d."""
    X = np.ascontiguousarray(matrix(np.asarray(samples), what).T, dtype=np.float64)
    check_rows(X)
    longest = float(np.linalg.norm(X, axis=1).max())
    if longest == 0:
        raise DataError(f"{what} are all zero: there is nothing to decompose")
    _check_scale(longest, order, f"the longest of {what}")
    return X


def _check_scale(length: float, order: int, what: str) -> None:
    most = LARGEST ** (1 / (4 * order))
    if not 1 / most <= length <= most:
        raise DataError(
            f"{what} has norm {length:.3g}: its moments of order {order} overflow or vanish; "
            f"rescale the data to lie between {1 / most:.0e} and {most:.0e}"
        )


def _of_width(part: Array, n: int, what: str) -> Array:
    if part.shape[1] != n:
        raise DataError(f"the {what} part has {part.shape[1]} variables, the samples have {n}")
    return part


def _checked_tensor(tensor: NDArray[np.generic]) -> Array:
    T = np.asarray(tensor)
    if T.ndim < 2 or len(set(T.shape)) != 1 or not T.size:
        raise DataError(f"the tensor must be of shape (n,) * d with d >= 2, not {T.shape}")
    if T.dtype.kind not in "fiub":
        raise DataError(f"the tensor must hold real numbers, not {T.dtype}")
    T = T.astype(np.float64)
    if not np.isfinite(T).all():
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(T))[0])
        raise DataError(f"entry {at} of the tensor is {T[at]}; clean the data")
    largest = float(np.abs(T).max())
    if largest == 0:
        raise DataError("the tensor is zero: there is nothing to decompose")
    _check_scale(largest, 1, "the largest entry of the tensor")
    return symmetrized(T)


def _checked(basis: Array | None, n: int) -> Array | None:
    if basis is None:
        return None
    known = np.asarray(basis, dtype=np.float64)
    if known.ndim != 2 or len(known) != n or not 1 <= known.shape[1] <= n:
        raise DataError(f"the true basis must be of shape ({n}, r), not {known.shape}")
    defect = drift(known)
    if not defect <= ORTHONORMAL:
        raise DataError(f"the true basis is not orthonormal: |Q'Q - I| = {defect:.3g}")
    return known
