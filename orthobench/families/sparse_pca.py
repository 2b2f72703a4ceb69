"""Sparse PCA: a few components with few non-zero loadings that explain much of the variance.

maximize tr(Z'AU) - gamma |Z|_1 over U'U = I and unit columns of Z (Journée et al. 2010; Shalit
and Chechik 2014, equation 5), or the form that solvers work on, where Z is eliminated:
sum_ij [|AU|_ij - gamma]²_+ over U'U = I (equation 6). For more than one component the two are
different problems: eliminating Z from the first leaves sum_j |soft(A u_j, gamma)|, not squared.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from orthobench.arrays import Array, check_rows, matrix
from orthobench.errors import DataError, UsageError
from orthobench.families.loadings import adjusted_variance, explained_variance
from orthobench.geometry import polar
from orthobench.problem import Instance, Oracle, Problem
from orthobench.samples import SampleOracle
from orthobench.solution import Solution
from orthobench.sources import ArraySource


@dataclass(frozen=True)
class SparseSolution(Solution):
    """Sparse loadings: ``point`` is Z (d, m), with unit columns, or zero where one is empty.

    Attributes
    ----------
    gamma : float, optional
        The l1 penalty, absolute, of methods that have one.
    """

    gamma: float | None = field(default=None, kw_only=True)


class SparsePCAOracle(Oracle):
    """The data matrix, and its samples one after the other.

    ``n`` is the number of features d, ``k`` the number of components m.

    Parameters
    ----------
    A : ndarray, shape (d, N)
        Features by samples.
    m : int
        Components.
    passes : int
        How often the samples can be gone through.
    order : ndarray of int, shape (N,), optional
        In which order samples come; that of the columns by default.

    Raises
    ------
    DataError
        On an order of fewer or more samples than there are.

    Attributes
    ----------
    A : ndarray, shape (d, N)
        In Fortran order: each sample is contiguous. Do not write into it.
    norms : ndarray, shape (d,)
        Norms of the rows of A. Penalties are relative to the largest.
    """

    def __init__(
        self, A: Array, m: int, passes: int = 1, order: NDArray[np.intp] | None = None
    ) -> None:
        self.A = np.asfortranarray(A).view()  # a view: the caller's array stays writable
        self.A.flags.writeable = False
        self.n, self.k = len(A), m
        self.norms: Array = np.linalg.norm(self.A, axis=1)
        source = ArraySource(self.A.T, order, passes)
        if source.length != self.samples:
            raise DataError(
                f"the order must name all {self.samples} samples, and names {source.length}"
            )
        self._stream = SampleOracle(source, m)
        self.window = self._stream.window

    @property
    def samples(self) -> int:
        """The number N of samples in A."""
        return int(self.A.shape[1])

    def rewind(self, rng: np.random.Generator) -> None:
        """Go back to the first sample."""
        self._stream.rewind(rng)

    def prepare(self, samples: int) -> None:
        """Get the next samples ready."""
        self._stream.prepare(samples)

    def remaining(self) -> float:
        """Return how many samples are left."""
        return self._stream.remaining()

    def take(self, count: int) -> Array:
        """Return the next `count` samples, ``(count, d)``, C order; do not write into it."""
        return self._stream.take(count)


class SparsePCA(Problem[SparsePCAOracle]):
    """Base of the problems of this family: what its judge reports and what it ranks by.

    Attributes
    ----------
    m : int
        Components sought: a parameter of every problem of the family.
    """

    family: ClassVar[str] = "sparse PCA"
    offers: ClassVar[type[SparsePCAOracle]] = SparsePCAOracle
    primary: ClassVar[str] = "unexplained_variance"
    tuned_by: ClassVar[str] = "training_unexplained_variance"
    at: ClassVar[Mapping[str, tuple[float, ...]]] = {"density": (0.05, 0.1, 0.2)}

    m: int

    @property
    @abstractmethod
    def samples(self) -> int | None:
        """The number N of training samples; None where only reading the data would tell."""


OF_PENALIZED = ("penalized_objective", "squared_objective")
"""Metrics of a `SparseSolution` with a penalty only."""


class Judge:
    """Measures loadings on the training part, and on a test part where there is one.

    Parameters
    ----------
    train : ndarray, shape (d, N)
    test : ndarray, shape (d, M), optional

    Raises
    ------
    DataError
        Where the sum of squares of a part underflows or overflows.
    """

    def __init__(self, train: Array, test: Array | None = None) -> None:
        self.train, self.test = train, train if test is None else test
        self.total = _total(train, "the data")
        self.test_total = self.total if test is None else _total(test, "the test part")

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return the metrics; what is unexplained, the primary one, first.

        ``adjusted_explained_variance`` (`orthobench.families.loadings.adjusted_variance`) and
        ``explained_variance`` are shares of the total variance of the test part, or of the
        training part where there is none; ``unexplained_variance`` is one minus the first.
        ``training_unexplained_variance`` is that of the training part. ``nonzeros`` is the mean
        over the components, ``fewest_nonzeros`` and ``most_nonzeros`` its extremes, ``density``
        the share of non-zero loadings, ``empty`` the number of components without any. Of a
        method with an l1 penalty also ``penalized_objective`` and ``squared_objective``,
        equations 5 and 6 at the best U for these loadings.
        """
        Z = solution.point
        adjusted = adjusted_variance(self.test, Z) / self.test_total
        alike = self.test is self.train
        training = adjusted if alike else adjusted_variance(self.train, Z) / self.total
        nonzeros = np.count_nonzero(Z, axis=0)
        metrics = {
            "unexplained_variance": 1 - adjusted,
            "adjusted_explained_variance": adjusted,
            "explained_variance": explained_variance(self.test, Z) / self.test_total,
            "training_unexplained_variance": 1 - training,
            "nonzeros": float(nonzeros.mean()),
            "density": float(nonzeros.mean()) / len(Z),
            "fewest_nonzeros": float(nonzeros.min()),
            "most_nonzeros": float(nonzeros.max()),
            "empty": float(np.count_nonzero(nonzeros == 0)),
        }
        if isinstance(solution, SparseSolution) and solution.gamma is not None:
            metrics |= objectives(self.train, Z, solution.gamma)
        return metrics


def objectives(A: Array, Z: Array, gamma: float) -> dict[str, float]:
    """Return the values of both formulations at the best U for given loadings.

    Parameters
    ----------
    A : ndarray, shape (d, N)
    Z : ndarray, shape (d, m)
        Unit columns, m <= N.
    gamma : float
        Absolute.

    Returns
    -------
    dict
        ``penalized_objective``, |A'Z|_* - gamma |Z|_1: equation 5 of Shalit and Chechik (2014)
        maximized over U; ``squared_objective``, equation 6 at that U. A column of zeros counts
        for nothing in both: its column of U could be any, and equation 6 would depend on which.

    Notes
    -----
    4dNm flops and those of a polar decomposition (N, m).
    """
    Z = Z[:, Z.any(axis=0)]
    scores = A.T @ Z
    U = polar(scores)
    squared = np.maximum(np.abs(A @ U) - gamma, 0.0)
    return {
        "penalized_objective": float(np.vdot(U, scores) - gamma * np.abs(Z).sum()),
        "squared_objective": float(np.vdot(squared, squared)),
    }


def unit_columns(solution: Solution) -> float:
    """Return how far the columns of the loadings are from unit length, those of zeros excepted."""
    norms = np.linalg.norm(solution.point, axis=0)
    return float(np.abs(norms[norms > 0] - 1).max(initial=0.0))


def sparse_pca(
    A: NDArray[np.generic],
    m: int,
    test: NDArray[np.generic] | None = None,
    *,
    passes: int = 1,
    order: NDArray[np.intp] | None = None,
) -> Instance[SparsePCAOracle]:
    """Make a sparse PCA instance of your own data.

    Parameters
    ----------
    A : ndarray, shape (d, N)
        Features by samples, centred and scaled as you want it judged: columns are samples.
    m : int
        Components, 1 <= m <= min(d, N).
    test : ndarray, shape (d, M), optional
        Samples for the judge, which otherwise judges on `A`.
    passes : int
        How often streaming methods may go through the samples.
    order : ndarray of int, shape (N,), optional
        In which order streaming methods see them.

    Returns
    -------
    Instance
        Its metrics are those of `Judge`.

    Raises
    ------
    UsageError
        On m < 1, m > d or m > N.
    DataError
        On data that are not a finite real matrix, features that do not vary, or numbers so small
        or large that their sum of squares cannot be had; names them. On an order that is not one
        of the N samples.

    Examples
    --------
    >>> import numpy as np, orthobench as ob
    >>> A = np.random.default_rng(0).standard_normal((200, 40))
    >>> instance = ob.sparse_pca(A - A.mean(axis=1, keepdims=True), m=3)
    >>> instance.oracle.n, instance.oracle.samples
    (200, 40)
    """
    train = _checked(A, "the data")
    d, samples = train.shape
    if not hasattr(m, "__index__") or not 1 <= m <= min(d, samples):
        raise UsageError(
            f"m must be a whole number between 1 and {min(d, samples)}, not {m}: "
            f"there are {d} features and {samples} samples"
        )
    _refuse_constant(train)
    held_out = None if test is None else _checked(test, "the test part")
    if held_out is not None and len(held_out) != d:
        raise DataError(f"the test part has {len(held_out)} features, the data {d}")
    oracle, judge = SparsePCAOracle(train, m, passes, order), Judge(train, held_out)
    return Instance(oracle, judge, violation=unit_columns, conditional=OF_PENALIZED)


def _checked(A: NDArray[np.generic], what: str) -> Array:
    """Return a float64 copy in Fortran order; refuse what is not a finite real matrix."""
    A = np.asarray(A)
    if A.ndim != 2:
        raise DataError(f"{what} must be a matrix (features, samples), not of shape {A.shape}")
    converted: Array = matrix(A, what).astype(np.float64, order="F")
    check_rows(converted.T, what=f"{what}: sample")
    return converted


def _total(A: Array, what: str) -> float:
    """Return |A|², the variance that shares are of; refuse zero and infinity."""
    with np.errstate(under="ignore", over="ignore"):
        total = float(np.linalg.norm(A)) ** 2
    if total == 0:
        raise DataError(f"{what}: the sum of squares is zero: there is no variance to explain")
    if total == np.inf:
        raise DataError(f"{what}: the sum of squares overflows; rescale the data")
    return total


def _refuse_constant(A: Array) -> None:
    """Refuse features that do not vary: zero, or left uncentred and unscaled by mistake."""
    constant = np.flatnonzero(A.min(axis=1) == A.max(axis=1))
    if not len(constant):
        return
    value = float(A[constant[0], 0])
    more = f" and {len(constant) - 1} more" if len(constant) > 1 else ""
    raise DataError(
        f"feature {constant[0]} (counted from 0){more} has the same value {value:g} in all "
        "samples; drop what does not vary: A[A.min(axis=1) < A.max(axis=1)]"
    )
