"""The eigendecomposition of a diagonal matrix plus a rank-one matrix, in O(n²).

The eigenvalues of D + zz' are the roots of the secular equation 1 + sum z_i² / (d_i - x) = 0
(Golub 1973). Equal diagonal entries and zeros of z are deflated first, as in Cuppen's divide
and conquer (Dongarra and Sorensen 1987); each root is found relative to the pole next to it by
the cubically convergent iteration of Borges and Gragg (1993); and the vectors are
those of the nearby matrix whose exact eigenvalues the computed roots are, so that they are
orthogonal to working precision however close the roots (Gu and Eisenstat 1994).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthobench.arrays import Array
from orthobench_stochastic_pca.compiled import inner, kernel, summed
from orthobench_stochastic_pca.dense import dot

EPS = 2.0**-52

ITERATIONS = 100
"""Most steps for a root; two or three suffice, bisection alone would take sixty."""

CONVERGED = 1e-7
"""A step this small, relative to the distance from the pole, needs no other after it."""


class Secular(NamedTuple):
    """Arrays that a rank-one update works in; made by `secular`.

    Attributes
    ----------
    lam : ndarray, shape (n,)
        The eigenvalues, each in the slot of the diagonal entry that it grew from.
    active : ndarray of int, shape (n,)
        The slots that were not deflated, ascending.
    poles, squares : ndarray, shape (n,)
        Diagonal entry and squared entry of z in the active slots, both in units of the power of
        two that keeps their products from overflow.
    gaps : ndarray, shape (n²,)
        Flat: pole i minus root j in row j, in the same unit.
    weights : ndarray, shape (n,)
        The z of the nearby matrix.
    """

    lam: Array
    active: NDArray[np.int64]
    poles: Array
    squares: Array
    gaps: Array
    weights: Array


@kernel
def secular(n: int) -> Secular:
    """Return work arrays for updates of at most n by n matrices. Memory: n² + 5n doubles."""
    return Secular(
        np.empty(n), np.empty(n, np.int64), np.empty(n), np.empty(n), np.empty(n * n), np.empty(n)
    )


@kernel
def eigenvalues(d: Array, z: Array, W: Array, work: Secular) -> int:
    """Set ``work.lam`` to the eigenvalues of D + zz', and get ready for `eigenvectors`.

    Parameters
    ----------
    d : ndarray, shape (n,)
        Diagonal of D, ascending and nonnegative; changed by deflation.
    z : ndarray, shape (n,)
        Changed by deflation.
    W : ndarray, shape (>= n, p), C order
        Row i is the eigenvector of D in slot i; rows of equal entries are rotated among
        themselves so that all but one are orthogonal to z.
    work : Secular

    Returns
    -------
    int
        The number of active slots. A deflated slot has its eigenvector in W as it stands.

    Notes
    -----
    About 40 n² flops.
    """
    n = _deflate(d, z, W, work)
    for i in range(len(d)):
        work.lam[i] = d[i]
    unit = _power_of_two(max(d[-1], dot(z, z, len(z))))
    for i in range(n):
        slot = work.active[i]
        work.poles[i], work.squares[i] = d[slot] / unit, z[slot] * z[slot] / unit
    for j in range(n):
        work.lam[work.active[j]] = _root(j, n, work) * unit
    _gu_eisenstat(n, z, work)
    return n


@kernel
def eigenvectors(n: int, chosen: NDArray[np.int64], count: int, work: Secular, V: Array) -> None:
    """Set rows of V to eigenvectors, in coordinates of the active slots.

    Parameters
    ----------
    n : int
        The number of active slots.
    chosen : ndarray of int
        Which roots, numbered among the active ones; the first `count` count.
    V : ndarray, shape (count, n)
    """
    for row in range(count):
        gaps, vector = work.gaps[chosen[row] * n : (chosen[row] + 1) * n], V[row]
        for i in range(n):
            vector[i] = work.weights[i] / gaps[i]
        scale = 1.0 / np.sqrt(dot(vector, vector, n))
        for i in range(n):
            vector[i] *= scale


@inner
def _power_of_two(x: float) -> float:
    """Return the largest power of two that is at most x; one where x is zero or not finite."""
    if not 0.0 < x < np.inf:
        return 1.0
    _, exponent = math.frexp(x)
    return math.ldexp(1.0, exponent - 1)


@inner
def _deflate(d: Array, z: Array, W: Array, work: Secular) -> int:
    """Zero the entries of z that make no difference to rounding; list the other slots."""
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


@inner
def _merge(d: Array, z: Array, W: Array, i: int, j: int, tolerance: float) -> bool:
    """Rotate slots i and j so that z_i vanishes, where their entries are equal to rounding."""
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


@inner
def _root(j: int, n: int, work: Secular) -> float:
    """Return root j, between poles j and j + 1, and set its row of gaps."""
    poles, squares = work.poles[:n], work.squares[:n]
    gaps = work.gaps[j * n : (j + 1) * n]
    origin, low, high = poles[j], 0.0, 0.0
    if j < n - 1:
        high = 0.5 * (poles[j + 1] - poles[j])
        x = high
    else:
        x, high = _outermost(poles, squares)
    _differences(poles, origin, gaps)
    f, slope, curve, size = _sums(gaps, squares, x)
    if j < n - 1 and f < 0.0:
        origin, x, low, high = poles[j + 1], -x, -x, 0.0
        _differences(poles, origin, gaps)
    for _ in range(ITERATIONS):
        if abs(f) <= EPS * (8.0 * size + 2.0 + abs(x) * slope):
            break
        if f < 0.0:
            low = x
        else:
            high = x
        step = _step(gaps, x, j, n, f, slope, curve)
        if step * f >= 0.0:
            step = -f / slope
        bisected = not low < x + step < high
        if bisected:
            step = 0.5 * (low + high) - x
        x += step
        if abs(step) <= CONVERGED * abs(x) and not bisected:
            break
        f, slope, curve, size = _sums(gaps, squares, x)
    for i in range(n):
        gaps[i] -= x
    root: float = origin + x
    return root


@inner
def _outermost(poles: Array, squares: Array) -> tuple[float, float]:
    """Return a guess of the last root, relative to the last pole, and an upper bound."""
    x, total = 0.0, 0.0
    for square in squares:
        total += square
    most = total * (1.0 + 8.0 * EPS)
    for i in range(len(poles)):
        x += squares[i] * (most / (most + (poles[-1] - poles[i])))
    return min(x, most), most


@inner
def _differences(poles: Array, origin: float, gaps: Array) -> None:
    for i in range(len(poles)):
        gaps[i] = poles[i] - origin


@summed
def _sums(gaps: Array, squares: Array, x: float) -> tuple[float, float, float, float]:
    """Return the secular function, its first and half its second derivative, and its size.

    The gaps are read from memory, so that no reassociation can reach into them.
    """
    f, slope, curve, size = 0.0, 0.0, 0.0, 0.0
    for i in range(len(squares)):
        inverse = 1.0 / (gaps[i] - x)
        term = squares[i] * inverse
        f += term
        size += abs(term)
        slope += term * inverse
        curve += term * inverse * inverse
    return 1.0 + f, slope, curve, size


@inner
def _step(gaps: Array, x: float, j: int, n: int, f: float, slope: float, curve: float) -> float:
    """Return the step to the zero of the rational function with the poles next to root j.

    It agrees with the secular function up to the second derivative (Borges and Gragg 1993);
    for the last root, which has one pole next to it, up to the first.
    """
    left: float = gaps[j] - x
    if j == n - 1:
        return left * f / (f - left * slope)
    right: float = gaps[j + 1] - x
    a = f - (left + right) * slope + left * right * curve
    b = (left + right) * f - left * right * slope
    c = left * right * f
    root: float = np.sqrt(abs(b * b - 4.0 * a * c))
    if b > 0.0:
        return 2.0 * c / (b + root)
    return (b - root) / (2.0 * a) if a != 0.0 else 0.0


@inner
def _gu_eisenstat(n: int, z: Array, work: Secular) -> None:
    """Set the weights: the z for which the computed roots are exact (Löwner's formula)."""
    weights, poles = work.weights, work.poles
    for i in range(n):
        weights[i] = -1.0
    for j in range(n):
        gaps, own = work.gaps[j * n : (j + 1) * n], weights[j]
        for i in range(n):  # over i = j too, to vectorize; put right below
            weights[i] *= gaps[i] / (poles[i] - poles[j])
        weights[j] = own * gaps[j]
    for i in range(n):
        weights[i] = np.copysign(np.sqrt(abs(weights[i])), z[work.active[i]])
