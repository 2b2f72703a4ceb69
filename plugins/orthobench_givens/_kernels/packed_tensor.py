"""Kernels for a packed symmetric third-order tensor: each distinct entry is stored once.

Entry a <= b <= c lies at ``first[a] + second[b] + c`` (`offsets`).
"""

from __future__ import annotations

from orthobench_kit.compiled import kernel

from orthobench.contract import Array
from orthobench_givens._kernels.pairs import Indices
from orthobench_givens._kernels.tensor_angles import best_rotation, corner_rotated, rotate_rows


@kernel
def try_pairs(
    tensors: Array, rotations: Array, pairs: Indices, first: Indices, second: Indices,
    limits: tuple[float, float, int], idle: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Rotate pairs of indices by their best angles, until many in a row need no rotation.

    `tensors` (n, m(m + 1)(m + 2)/6) and `rotations` (n, m, m), with new basis vectors as rows,
    change in place. Each of `pairs` (count, 3) is a tensor and two indices i < j. `limits` are the
    tolerances of `best_rotation`, and the number of idle pairs in a row after which to stop.
    Returns the numbers of pairs tried, rotated, and idle in a row. About 225 flops a pair and 3m²
    a rotation.
    """
    slope_tolerance, gain_tolerance, enough = limits
    rotated = 0
    for k in range(len(pairs)):
        if idle == enough:
            return k, rotated, idle
        T, i, j = tensors[pairs[k, 0]], pairs[k, 1], pairs[k, 2]
        iix, ijx, jjx = first[i] + second[i], first[i] + second[j], first[j] + second[j]
        iii, iij, ijj, jjj = T[iix + i], T[iix + j], T[ijx + j], T[jjx + j]
        c, s = best_rotation(iii, iij, ijj, jjj, slope_tolerance, gain_tolerance)
        if s == 0.0 and c == 1.0:
            idle += 1
        else:
            rotate(T, first, second, i, j, c, s)
            V = rotations[pairs[k, 0]]
            rotate_rows(V[i], V[j], c, s)
            rotated, idle = rotated + 1, 0
    return len(pairs), rotated, idle


@kernel
def rotate(T: Array, first: Indices, second: Indices, i: int, j: int, c: float, s: float) -> None:
    """Rotate two indices of a packed tensor in place: c e_i + s e_j and c e_j - s e_i."""
    _rotate_below(T, first, second, i, j, c, s)
    _rotate_between(T, first, second, i, j, c, s)
    m, after = len(first), j + 1
    if after < m:
        at = second[after] + after
        _rotate_runs(T, first[i] + at, first[j] + at, (m - j) * (m - after) // 2, c, s)
    _rotate_twice(T, first, second, i, j, c, s)
    _rotate_thrice(T, first, second, i, j, c, s)


@kernel
def _rotate_below(
    T: Array, first: Indices, second: Indices, i: int, j: int, c: float, s: float
) -> None:
    rest = len(first) - j - 1
    for a in range(i):
        aix, ajx = first[a] + second[i], first[a] + second[j]
        for b in range(a, i):
            abx = first[a] + second[b]
            _rotate_entries(T, abx + i, abx + j, c, s)
        for b in range(i + 1, j):
            _rotate_entries(T, aix + b, first[a] + second[b] + j, c, s)
        _rotate_runs(T, aix + j + 1, ajx + j + 1, rest, c, s)


@kernel
def _rotate_between(
    T: Array, first: Indices, second: Indices, i: int, j: int, c: float, s: float
) -> None:
    rest = len(first) - j - 1
    for a in range(i + 1, j):
        iax, ajx = first[i] + second[a], first[a] + second[j]
        for b in range(a, j):
            _rotate_entries(T, iax + b, first[a] + second[b] + j, c, s)
        _rotate_runs(T, iax + j + 1, ajx + j + 1, rest, c, s)


@kernel
def _rotate_twice(
    T: Array, first: Indices, second: Indices, i: int, j: int, c: float, s: float
) -> None:
    cc, cs, ss = c * c, c * s, s * s
    sin2, cos2 = 2.0 * cs, cc - ss
    for a in range(len(first)):
        if a < i:
            x, y = first[a] + second[i] + i, first[a] + second[i] + j
            z = first[a] + second[j] + j
        elif i < a < j:
            x, y = first[i] + second[i] + a, first[i] + second[a] + j
            z = first[a] + second[j] + j
        elif a > j:
            x, y = first[i] + second[i] + a, first[i] + second[j] + a
            z = first[j] + second[j] + a
        else:
            continue
        iia, ija, jja = T[x], T[y], T[z]
        T[x] = cc * iia + sin2 * ija + ss * jja
        T[y] = cos2 * ija + cs * (jja - iia)
        T[z] = ss * iia - sin2 * ija + cc * jja


@kernel
def _rotate_thrice(
    T: Array, first: Indices, second: Indices, i: int, j: int, c: float, s: float
) -> None:
    w, x = first[i] + second[i] + i, first[i] + second[i] + j
    y, z = first[i] + second[j] + j, first[j] + second[j] + j
    powers = c * c * c, c * c * s, c * s * s, s * s * s
    T[w], T[x], T[y], T[z] = corner_rotated((T[w], T[x], T[y], T[z]), powers)


@kernel
def _rotate_entries(T: Array, x: int, y: int, c: float, s: float) -> None:
    a, b = T[x], T[y]
    T[x] = c * a + s * b
    T[y] = c * b - s * a


@kernel
def _rotate_runs(T: Array, x: int, y: int, n: int, c: float, s: float) -> None:
    rotate_rows(T[x : x + n], T[y : y + n], c, s)


@kernel
def pack(cube: Array, first: Indices, second: Indices, T: Array) -> None:
    """Pack a symmetric tensor (m, m, m), from its entries a <= b <= c."""
    m = len(first)
    for a in range(m):
        for b in range(a, m):
            row = first[a] + second[b]
            for c in range(b, m):
                T[row + c] = cube[a, b, c]


@kernel
def unpack(T: Array, first: Indices, second: Indices, cube: Array) -> None:
    """Unpack a packed tensor to a cube (m, m, m)."""
    m = len(first)
    for a in range(m):
        for b in range(a, m):
            row = first[a] + second[b]
            for c in range(b, m):
                x = T[row + c]
                cube[a, b, c] = cube[b, c, a] = cube[c, a, b] = x
                cube[a, c, b] = cube[c, b, a] = cube[b, a, c] = x
