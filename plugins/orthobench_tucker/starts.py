"""Starts of the methods that use the whole tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthobench.contract import Array, UsageError, complete, copied, is_plain, parameter
from orthobench_tucker import MomentOracle, SymmetricTensorOracle
from orthobench_tucker._kernels.unfoldings import Unfolding, by_entries
from orthobench_tucker._kernels.whole_arrays import with_positive_largest
from orthobench_tucker.sketch import sketched_basis, sketched_basis_flops
from orthobench_tucker.streaming import hoevd_ascent, hoevd_flops

STARTS = ("auto", "hoevd", "hoevd-single", "sketch", "shoevd", "random")
"""Values of the parameter ``start``: `hoevd_basis`, or the sketch where that takes too long
(`chosen`); `hoevd_basis`, in double precision; the same from a Gram matrix of samples in single
precision, to about 1e-6, in half the time; `orthobench_tucker.sketch.sketched_basis`;
`shoevd_basis`; the random start of the oracle, common to all methods."""

FROM_SAMPLES = ("sketch", "shoevd")
"""Starts that need samples."""

MANY = 10_000
"""Samples from which on all pairs are not compared, unless that is asked for."""

BATCHES, BATCH = 20, 50
"""Batches of the start "shoevd", and samples in each: Phase I of Figure 3b of Jin et al. 2022."""


def start_parameter(default: str = "auto") -> Any:
    """Declare the parameter ``start`` of a solver of this family."""
    return parameter(
        default,
        help="first basis: leading eigenvectors of the unfolding (HOEVD), from samples also in "
        "single precision, in half the time, from a random sketch, or by stochastic gradients on "
        "the first 1,000 of them (SHOEVD); the common random start; or HOEVD, and the sketch where "
        "more than 10,000 samples make that slow",
        choices=STARTS,
    )


def chosen(oracle: SymmetricTensorOracle, start: str, form: str) -> str:
    """Return the start that ``"auto"`` stands for, or the start itself."""
    if start != "auto":
        return start
    samples = Unfolding(oracle, form).samples
    slow = samples is not None and samples.shape[0] > MANY and not by_entries(samples, oracle.order)
    return "sketch" if slow else "hoevd"


def first_basis(
    oracle: SymmetricTensorOracle, start: str, form: str, rng: np.random.Generator
) -> Any:
    """Return the basis (n, r) that a method starts from, a fresh array, in C order.

    Parameters
    ----------
    oracle : SymmetricTensorOracle
    start : str
        One of `STARTS`.
    form : str
        One of `orthobench_tucker._kernels.partial_cores.FORMS`.
    rng : numpy.random.Generator
        Draws the sketch.

    Raises
    ------
    UsageError
        Where there are no samples for the sketch, or for SHOEVD; where they are elsewhere than in
        NumPy, and so for HOEVD in single precision.

    Notes
    -----
    `first_basis_flops`.
    """
    start = chosen(oracle, start, form)
    if start == "random":
        return copied(oracle.start)
    if start != "hoevd" and oracle.place.moves:
        raise UsageError(f"the start {start} takes numpy: take hoevd or random on {oracle.place}")
    if start == "shoevd":
        return shoevd_basis(_samples(oracle, start), oracle.order, oracle.start)
    if start == "sketch":
        found = sketched_basis(_samples(oracle, start), oracle.order, oracle.k, rng)
        return complete(found, oracle.start, oracle.k)
    if start == "hoevd-single":
        return signed(Unfolding(oracle, form).single_basis, oracle.start)
    return hoevd_basis(oracle, form)


def first_basis_flops(oracle: SymmetricTensorOracle, start: str, form: str) -> int:
    """Return the flops of `first_basis`."""
    start = chosen(oracle, start, form)
    if start == "random":
        return 0
    if start in FROM_SAMPLES:
        count = sketched_basis_flops if start == "sketch" else shoevd_flops
        return count(_samples(oracle, start).shape[0], oracle.n, oracle.k, oracle.order)
    return Unfolding(oracle, form).flops


def hoevd_basis(oracle: SymmetricTensorOracle, form: str) -> Any:
    """Return the leading r eigenvectors of mat(X) mat(X)': equation 7, or 17 from samples.

    The largest entry of each is positive, in every form. Where fewer than r eigenvalues are above
    rounding, the other directions are those of the oracle's random start, since eigenvectors of
    zero are arbitrary.

    Notes
    -----
    The flops of a Gram matrix of `orthobench_tucker._kernels.unfoldings`, and 9n³.
    """
    return signed(Unfolding(oracle, form).basis, oracle.start)


def signed(found: Any, start: Any) -> Any:
    """Return eigenvectors with positive largest entries, completed from a start."""
    if not is_plain(found):
        return complete(with_positive_largest(found), start, start.shape[1])
    largest = found[np.abs(found).argmax(axis=0), np.arange(found.shape[1])]
    return complete(np.ascontiguousarray(np.copysign(1.0, largest) * found), start, start.shape[1])


def shoevd_basis(X: Array, order: int, start: Array) -> Array:
    """Return the basis after 20 steps of streaming HOEVD on the first 20 batches of 50 samples.

    Parameters
    ----------
    X : ndarray, shape (p, n)
        Where p < 1,000 there are fewer batches, and the last may have fewer samples.
    order : int
        d.
    start : ndarray, shape (n, r)
        Q_0.

    Returns
    -------
    ndarray, shape (n, r)

    Notes
    -----
    `shoevd_flops`.

    References
    ----------
    Jin, Kileel, Kolda and Ward 2022, Algorithm 3, with c_1 = 1
    (`orthobench_tucker.solvers.shoevd`).
    """
    rows, gamma = np.array(start.T, order="C"), np.zeros(start.shape[1])
    for begin, end in _parts(len(X)):
        hoevd_ascent(X[begin:end], min(BATCH, end - begin), rows, gamma, order, 1.0)
    return np.ascontiguousarray(rows.T)


def shoevd_flops(p: int, n: int, rank: int, order: int) -> int:
    """Return the flops of `shoevd_basis`."""
    return sum(
        hoevd_flops(n, rank, order, min(BATCH, end - begin)) * max(1, (end - begin) // BATCH)
        for begin, end in _parts(p)
    )


def _parts(p: int) -> list[tuple[int, int]]:
    """Return the range of the whole batches, and that of a last one of fewer samples."""
    last = min(p, BATCHES * BATCH)
    whole = last - last % BATCH
    return [(begin, end) for begin, end in ((0, whole), (whole, last)) if begin < end]


def _samples(oracle: SymmetricTensorOracle, start: str) -> Array:
    if isinstance(oracle, MomentOracle):
        return oracle.X
    raise UsageError(
        f"the start {start} needs samples, and there is a tensor: take hoevd or random"
    )
