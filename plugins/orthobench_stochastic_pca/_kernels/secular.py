"""The eigendecomposition of a diagonal matrix plus a rank-one matrix, in O(n²).

The eigenvalues of D + zz' are the roots of 1 + sum z_i² / (d_i - x) = 0 (Golub 1973), after
deflation of equal diagonal entries and zeros of z (Dongarra and Sorensen 1987). Each root is found
relative to the next pole by the iteration of Borges and Gragg (1993). The eigenvectors are those of
the nearby matrix whose exact eigenvalues are the computed roots, so they are orthogonal to working
precision (Gu and Eisenstat 1994).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.compiled import kernel
from orthobench_kit.simd import (
    COUNT,
    Lanes,
    every,
    fill,
    load,
    magnitude,
    root,
    store,
    total,
    where,
)

from orthobench.contract import Array
from orthobench_stochastic_pca._kernels.span import dot

EPS = 2.0**-52
"""The spacing of doubles at 1."""

ITERATIONS = 100
"""Maximum number of steps for a root; usually two or three."""

CONVERGED = 1e-7
"""Size of the last step, relative to the distance from the pole."""


class SecularWorkspace(NamedTuple):
    """The arrays of a rank-one update; made by `secular_workspace`.

    Attributes
    ----------
    lam : ndarray, shape (n,)
        The eigenvalues: slot i has the update of diagonal entry i.
    active : ndarray of int, shape (n,)
        The slots that were not deflated, ascending.
    poles, squares : ndarray, shape (n + 32,)
        Diagonal entry and squared entry of z in the active slots, over a power of two; padded with
        -1 and 0.
    origins, offsets : ndarray, shape (n + 32,)
        Root j is their sum, divided likewise. Its distance to pole i is (poles[i] - origins[j]) -
        offsets[j], to full relative precision.
    weights : ndarray, shape (n + 32,)
        The z of the nearby matrix.
    """

    lam: Array
    active: NDArray[np.int64]
    poles: Array
    squares: Array
    origins: Array
    offsets: Array
    weights: Array
    vector: Array


@kernel
def secular_workspace(n: int) -> SecularWorkspace:
    padded = n + 2 * COUNT
    return SecularWorkspace(
        np.empty(n), np.empty(n, np.int64), np.empty(padded), np.empty(padded),
        np.empty(padded), np.empty(padded), np.empty(padded), np.empty(padded),
    )  # fmt: skip


@kernel
def eigenvalues(d: Array, z: Array, W: Array, work: SecularWorkspace) -> int:
    """Set ``work.lam`` to the eigenvalues of D + zz', and prepare for `eigenvectors`.

    D has ascending nonnegative entries `d` (n,); row i of W (>= n, p) is the eigenvector of D in
    slot i. Deflation changes `d`, `z` and W: rows of equal diagonal entries are rotated so that all
    but one are orthogonal to z. Returns the number of active slots; the eigenvector of any other
    slot is its row of W. About 40 n² flops.
    """
    n = _deflate(d, z, W, work)
    unit = _power_of_two(max(d[-1], dot(z, z, len(z))))
    for i in range(n):
        slot = work.active[i]
        work.poles[i], work.squares[i] = d[slot] / unit, z[slot] * z[slot] / unit
    for i in range(n, n + COUNT + 1):
        work.poles[i], work.squares[i] = -1.0, 0.0
    for first in range(0, n, COUNT):
        _roots(first, n, work)
    for i in range(len(d)):
        work.lam[i] = d[i]
    for j in range(n):
        work.lam[work.active[j]] = (work.origins[j] + work.offsets[j]) * unit
    _gu_eisenstat(n, z, work)
    return n


@kernel
def eigenvectors(
    n: int, chosen: NDArray[np.int64], count: int, work: SecularWorkspace, V: Array
) -> None:
    """Set rows of V (count, n) to eigenvectors, in coordinates of the n active slots.

    `chosen` numbers them among the active slots. 6n flops a vector.
    """
    for row in range(count):
        origin, offset = work.origins[chosen[row]], work.offsets[chosen[row]]
        vector, square = V[row], fill(0.0)
        for i in range(0, n, COUNT):
            entries = load(work.weights, i) / ((load(work.poles, i) - origin) - offset)
            store(work.vector, i, entries)
            square = square + entries * entries
        scale = 1.0 / np.sqrt(total(square))
        for i in range(n):
            vector[i] = work.vector[i] * scale


@kernel
def _power_of_two(x: float) -> float:
    """Return the largest power of two up to x, or one."""
    if not 0.0 < x < np.inf:
        return 1.0
    _, exponent = math.frexp(x)
    return math.ldexp(1.0, exponent - 1)


@kernel
def _deflate(d: Array, z: Array, W: Array, work: SecularWorkspace) -> int:
    """List the slots whose entry of z is above rounding, after merging equal diagonal entries."""
    norm = np.sqrt(dot(z, z, len(z)))
    tolerance = 8.0 * EPS * max(d[-1], norm * norm)
    n = 0
    for i in range(len(d)):
        if norm * abs(z[i]) <= tolerance:
            continue
        if n > 0 and _merge(d, z, W, work.active[n - 1], i, tolerance):
            n -= 1
        work.active[n] = i
        n += 1
    return n


@kernel
def _merge(d: Array, z: Array, W: Array, i: int, j: int, tolerance: float) -> bool:
    """Rotate slots i and j so that z_i vanishes if their entries are equal; return whether."""
    length = np.sqrt(z[i] * z[i] + z[j] * z[j])
    c, s = z[j] / length, -z[i] / length
    if abs((d[j] - d[i]) * c * s) > tolerance:
        return False
    z[i], z[j] = 0.0, length
    low, high = d[i] * c * c + d[j] * s * s, d[i] * s * s + d[j] * c * c
    d[i], d[j] = low, high
    for column in range(W.shape[1]):
        a, b = W[i, column], W[j, column]
        W[i, column], W[j, column] = c * a + s * b, c * b - s * a
    return True


@kernel
def _roots(first: int, n: int, work: SecularWorkspace) -> None:
    """Find roots first, first + 1, ..., one in each lane; root j lies beyond pole j."""
    left, right = load(work.poles, first), load(work.poles, first + 1)
    done, bounded = left < 0.0, right >= 0.0
    x, high = _last_root(n, work)
    middle = 0.5 * (right - left)
    x, high = where(bounded, middle, x), where(bounded, middle, high)
    f, slope, curve, size = _sums(n, work, left, x)
    nearer = bounded & (f < 0.0)  # to the right pole
    origin, low = where(nearer, right, left), where(nearer, 0.0 - x, 0.0)
    x, high = where(nearer, 0.0 - x, x), where(nearer, 0.0, high)
    for _ in range(ITERATIONS):
        done = done | (magnitude(f) <= EPS * (8.0 * size + 2.0 + magnitude(x) * slope))
        low, high = where(f < 0.0, x, low), where(f < 0.0, high, x)
        step = _step((left - origin) - x, (right - origin) - x, bounded, f, slope, curve)
        inside = (low < x + step) & (x + step < high)
        step = where(inside, step, 0.5 * (low + high) - x)
        x = where(done, x, x + step)
        done = done | (inside & (magnitude(step) <= CONVERGED * magnitude(x)))
        if every(done):
            break
        f, slope, curve, size = _sums(n, work, origin, x)
    store(work.origins, first, origin)
    store(work.offsets, first, x)


@kernel
def _last_root(n: int, work: SecularWorkspace) -> tuple[float, float]:
    """Return an estimate and an upper bound of the last root, relative to the last pole."""
    x, most, last = 0.0, 0.0, work.poles[n - 1]
    for i in range(n):
        most += work.squares[i]
    most *= 1.0 + 8.0 * EPS
    for i in range(n):
        x += work.squares[i] * (most / (most + (last - work.poles[i])))
    return min(x, most), most


@kernel
def _sums(
    n: int, work: SecularWorkspace, origin: Lanes, x: Lanes
) -> tuple[Lanes, Lanes, Lanes, Lanes]:
    """Return the secular function at origin + x, slope, half the curvature, and sum of |terms|."""
    f, slope, curve, size = fill(0.0), fill(0.0), fill(0.0), fill(0.0)
    for i in range(n):
        inverse = 1.0 / ((work.poles[i] - origin) - x)
        term = work.squares[i] * inverse
        f = f + term
        size = size + magnitude(term)
        slope = slope + term * inverse
        curve = curve + (term * inverse) * inverse
    return 1.0 + f, slope, curve, size


@kernel
def _step(left: Lanes, right: Lanes, bounded: Lanes, f: Lanes, slope: Lanes, curve: Lanes) -> Lanes:
    """Return the step to the zero of a rational function with the poles next to the root.

    It agrees with the secular function up to the second derivative (Borges and Gragg 1993), for the
    last root up to the first. If its zero lies in the wrong direction, it is Newton's step.
    """
    both = left * right
    a = f - (left + right) * slope + both * curve
    b = (left + right) * f - both * slope
    c = both * f
    length = root(magnitude(b * b - 4.0 * (a * c)))
    top, bottom = where(b > 0.0, 2.0 * c, b - length), where(b > 0.0, b + length, 2.0 * a)
    step = where(bounded, top, left * f) / where(bounded, bottom, f - left * slope)
    return where(step * f < 0.0, step, (0.0 - f) / slope)


@kernel
def _gu_eisenstat(n: int, z: Array, work: SecularWorkspace) -> None:
    """Set the weights to the z of which the computed roots are exact, by Löwner's formula."""
    for first in range(0, n, COUNT):
        poles, product = load(work.poles, first), fill(-1.0)
        for j in range(n):
            gaps, apart = (poles - work.origins[j]) - work.offsets[j], poles - work.poles[j]
            product = product * (gaps / where(apart == 0.0, 1.0, apart))
        store(work.weights, first, root(magnitude(product)))
    for i in range(n):
        work.weights[i] = np.copysign(work.weights[i], z[work.active[i]])
    for i in range(n, n + COUNT):
        work.weights[i] = 0.0
