"""Makes stochastic PCA instances of your own data."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.reading import array_of, real, rows_of
from orthobench_kit.rows import Rows
from orthobench_kit.second_moments import DenseMoment, SecondMoment, second_moment
from orthobench_kit.sources import ArraySource
from orthobench_kit.streams import Sampler, source_of

from orthobench.contract.problem import Instance
from orthobench.contract.samples import SampleOracle, SampleSource
from orthobench.errors import DataError, UsageError
from orthobench.tools.arrays import Array, matrix, whole
from orthobench_stochastic_pca.judge import RELAXED_METRICS, Judge, Optimum
from orthobench_stochastic_pca.result import components

Data: TypeAlias = "NDArray[np.generic] | Rows | ArraySource"
"""Samples in rows."""

JUDGE_BYTES = 256 * 2**20
"""Maximum size of training rows for the judge, in bytes."""


NOISE, MUCH = 9, 0.5
"""Squared standard error of a mean that is noise; share of a component's variance for a warning."""


def stochastic_pca(
    train: Data | Sampler | Iterable[Array],
    k: int,
    validation: Data | None = None,
    test: Data | None = None,
    *,
    covariance: Array | SecondMoment | None = None,
    passes: int = 1,
    center: bool = False,
) -> Instance[SampleOracle]:
    """Make a stochastic PCA instance of your own data.

    Parameters
    ----------
    train : ndarray (n, d), memory map, table, iterable of rows or blocks, or sampler
        The samples that solvers see, in this order. A table is a DataFrame of numbers. A sampler is
        a function ``sampler(rng, count) -> (count, d)``. A Dask array, an HDF5 data set, a Zarr
        array and a scipy.sparse matrix are read by blocks. An array or a sparse matrix is copied
        unless it is read-only; do not change other data before all runs are over.
    k : int
        Dimension of the subspace, 1 <= k <= d.
    validation, test : ndarray, shape (n, d), optional
        Data for tuning and for the judge. Without a test part the judge uses `covariance`; without
        that, rows spaced evenly over the training part, at most 256 MiB of them.
    covariance : ndarray, shape (d, d), or SecondMoment, optional
        The true second moment E[xx']; needed for samplers and iterators without a test part.
    passes : int
        Number of passes through an array. An `ArraySource` has its own.
    center : bool
        Whether the mean of an array is subtracted from all parts, in one more pass beforehand;
        `covariance` is then about the mean.

    Returns
    -------
    Instance
        Its metrics are those of `orthobench_stochastic_pca.judge.Judge`.

    Raises
    ------
    UsageError
        If k is not a whole number from 1 to d, if data that can be read only once need several
        passes or centring, or if there is nothing to judge by.
    DataError
        If data are not a finite real matrix; names the row. Training rows are checked when they are
        read.

    Warns
    -----
    UserWarning
        If the mean, in the judge's rows, has more than half of the variance of the smallest
        component. No solver of the family estimates the mean; `incremental-pca` of `ob.pca` does.

    Notes
    -----
    If the largest entry of the first block of an array is above 1e50 or below 1e-50, solvers and
    judge see the samples divided by a power of two; variances are in the unit of the data. The
    judge's second moment of n rows costs nd² + 4d³/3 flops, or n²d + 4n³/3 if n < d.

    Examples
    --------
    >>> import numpy as np, orthobench as ob
    >>> X = np.random.default_rng(0).standard_normal((500, 20)) * np.linspace(2, 1, 20)
    >>> outcome = ob.solve("oja", ob.stochastic_pca(X, k=3), step=0.1)
    >>> outcome.solution.shape
    (20, 3)
    """
    source = source_of(train, passes, _width(test, covariance))
    unit = 1.0
    if source is not train and not isinstance(covariance, SecondMoment):
        unit = _unit(source)
        source = _moved(source, unit)
    centre = _centre(source, train) if center else 0.0
    source = _moved(source, 1.0, centre)
    population = _population(covariance, unit)
    k = whole(k, "k", 1, source.d)
    held_out = None
    if validation is not None:
        held_out = _moment(validation, source.d, "validation part", unit, centre)
    judge = Judge(_test_moment(source, test, population, unit, centre), k, held_out, unit)
    if source is not train:
        _warn_of_mean(judge.optimum)
    best = {"suboptimality": 0.0, "subspace_error": 0.0}
    if judge.optimum.tied:
        del best["subspace_error"]
    result = partial(components, judge.test, unit)
    conditional = (*RELAXED_METRICS, "subspace_error")
    return Instance(SampleOracle(source, k), judge, best, result=result, conditional=conditional)


def _population(covariance: Array | SecondMoment | None, unit: float) -> SecondMoment | None:
    if covariance is None or isinstance(covariance, SecondMoment):
        return covariance
    return DenseMoment(real(covariance, "the covariance") / unit / unit)


MODERATE = 1e50
"""Entry of samples above which, or below its inverse, they are divided by a power of two.

Beyond the cube, variances overflow or vanish.
"""


def _unit(source: SampleSource) -> float:
    """Return the power of two by which the rows of an array are divided; 1 for most."""
    if not isinstance(source, ArraySource) or not isinstance(source.rows, np.ndarray):
        return 1.0
    first = next(source.one_pass())
    largest = float(max(first.max(), -first.min()))
    squarable = MODERATE**-3 <= largest < MODERATE**3
    if not squarable or 1 / MODERATE < largest < MODERATE:
        return 1.0
    return math.ldexp(1.0, math.frexp(largest)[1])


def _moved(source: Any, unit: float, centre: float | Array = 0.0) -> Any:
    """Return a source over a power of two, less a centre."""
    if not isinstance(source, ArraySource) or (unit == 1 and np.ndim(centre) == 0):
        return source
    scale = source.scale / unit
    moved = source.centre + centre / scale
    return ArraySource(source.rows, source.order, source.passes, scale, moved)


def _centre(source: SampleSource, train: object) -> Array:
    if not isinstance(source, ArraySource) or source is train:
        raise UsageError(
            "center=True needs an array, which is read twice: subtract the mean of the samples, or "
            "take incremental-pca of ob.pca, which estimates it"
        )
    total: Array = sum(block.sum(axis=0) for block in source.checked_pass())
    return total / source.length


def _warn_of_mean(optimum: Optimum) -> None:
    mean, rows = optimum.moment.mean, optimum.moment.rows
    if mean is None:
        return
    along = (mean @ optimum.subspace) ** 2
    beyond = np.maximum(along - NOISE * optimum.values / rows, 0.0)
    if beyond.sum() > MUCH * (optimum.values - along).min():
        share = float(along.sum()) / optimum.value
        warnings.warn(
            f"the mean carries {100 * share:.0f} % of the second moment of the components, more "
            "than half of the smallest: pass center=True, or use ob.pca(X, k), which centres",
            stacklevel=3,
        )


def _width(test: Data | None, covariance: Array | SecondMoment | None) -> int | None:
    if isinstance(covariance, SecondMoment):
        return covariance.d
    if covariance is not None:
        return len(matrix(array_of(covariance, "the covariance"), "the covariance"))
    if test is None:
        return None
    return _held_out(test, "the test part").d


def _test_moment(
    source: SampleSource,
    test: Data | None,
    population: SecondMoment | None,
    unit: float,
    centre: float | Array,
) -> SecondMoment:
    if test is not None:
        return _moment(test, source.d, "test part", unit, centre)
    if population is not None:
        _refuse_width(population.d, source.d, "covariance")
        return population
    if not isinstance(source, ArraySource):
        raise UsageError("an iterator of samples needs a test part or a covariance to be judged by")
    return second_moment(_evenly_spaced(source))


def _evenly_spaced(source: ArraySource) -> ArraySource:
    rows = min(source.length, max(1, JUDGE_BYTES // (8 * source.d)))
    if isinstance(source.rows, Rows):
        order = range(source.length) if source.order is None else source.order
        step = -(-source.length // rows)
        return ArraySource(source.rows, order[::step], scale=source.scale, centre=source.centre)
    if rows == source.length:
        return ArraySource(source.rows, source.order, scale=source.scale, centre=source.centre)
    at = np.linspace(0, source.length - 1, rows).astype(np.intp)
    if isinstance(source.order, range):
        at = source.order.start + source.order.step * at
    elif source.order is not None:
        at = source.order[at]
    return ArraySource(source.rows, at, scale=source.scale, centre=source.centre)


def _moment(data: Data, d: int, part: str, unit: float, centre: float | Array) -> SecondMoment:
    source = _held_out(data, f"the rows of the {part}")
    try:
        _refuse_width(source.d, d, part)
        return second_moment(_moved(_moved(source, unit), 1.0, centre))
    except DataError as error:
        raise DataError(f"{part}: {error}") from None


def _held_out(data: Data, what: str) -> ArraySource:
    if isinstance(data, ArraySource):
        return data
    return ArraySource(rows_of(data, what))


def _refuse_width(found: int, d: int, what: str) -> None:
    if found != d:
        raise DataError(f"the {what} has {found} features, the training part {d}")
