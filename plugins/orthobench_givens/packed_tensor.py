"""Kernels for a symmetric third-order tensor of which each entry is kept once.

Entry a <= b <= c of a packed tensor lies at ``first[a] + second[b] + c``
(`orthobench_givens.tensor_sweeps.offsets`), ordered as words are.
"""

from __future__ import annotations

from orthobench.contract import Array
from orthobench.tools.compiled import inner, kernel
from orthobench_givens.tensor_angles import best_rotation
from orthobench_givens.tensor_sweeps import Indices
from orthobench_givens.turns import turn


@kernel
def try_pairs(
    tensors: Array,
    turns: Array,
    pairs: Indices,
    first: Indices,
    second: Indices,
    limits: tuple[float, float, int],
    quiet: int,
) -> tuple[int, int, int]:
    """Rotate pair after pair by the best angle, until so many in a row would not turn.

    Parameters
    ----------
    tensors : ndarray, shape (n, m(m + 1)(m + 2)/6)
        Packed tensors of m indices each; rotated in place.
    turns : ndarray, shape (n, m, m)
        Their rotations so far, one vector a row; rotated in place.
    pairs : ndarray of int, shape (count, 3)
        Which tensor, and two of its indices, i < j.
    first, second : ndarray of int, shape (m,)
        Offsets.
    limits : tuple
        ``still`` and ``floor`` of `best_rotation`, and how many pairs in a row end it.
    quiet : int
        How many in a row have not turned so far.

    Returns
    -------
    int
        Pairs tried.
    int
        Pairs that turned.
    int
        `quiet` after them.

    Notes
    -----
    3m² flops for each pair that turns; see `orthobench_givens.tensor.rotation_flops`.
    """
    still, floor, enough = limits
    turned = 0
    for k in range(len(pairs)):
        if quiet == enough:
            return k, turned, quiet
        T, i, j = tensors[pairs[k, 0]], pairs[k, 1], pairs[k, 2]
        c, s = _best(T, first, second, i, j, still, floor)
        if s == 0.0 and c == 1.0:
            quiet += 1
        else:
            rotate(T, first, second, i, j, c, s)
            V = turns[pairs[k, 0]]
            turn(V[i], V[j], c, s)
            turned, quiet = turned + 1, 0
    return len(pairs), turned, quiet


@kernel
def stationary(T: Array, first: Indices, second: Indices, still: float, floor: float) -> bool:
    """Return whether no pair of a packed tensor would turn."""
    for i in range(len(first)):
        for j in range(i + 1, len(first)):
            c, s = _best(T, first, second, i, j, still, floor)
            if s != 0.0 or c != 1.0:
                return False
    return True


@inner
def _best(
    T: Array, first: Indices, second: Indices, i: int, j: int, still: float, floor: float
) -> tuple[float, float]:
    iix, ijx = first[i] + second[i], first[i] + second[j]
    jjj = T[first[j] + second[j] + j]
    return best_rotation(T[iix + i], T[iix + j], T[ijx + j], jjj, still, floor)


@kernel
def rotate(T: Array, first: Indices, second: Indices, i: int, j: int, c: float, s: float) -> None:
    """Rotate indices i < j of a packed tensor in place: e_i <- c e_i + s e_j, e_j <- c e_j - s e_i.

    Notes
    -----
    Each of the (m - 1)(m - 2)/2 pairs (iab, jab) takes 6 flops, each of the m - 2 triples
    (iia, ija, jja) 14, and (iii, iij, ijj, jjj) and the powers of c and s take 51.
    """
    _rotate_below(T, first, second, i, j, c, s)
    _rotate_between(T, first, second, i, j, c, s)
    m, after = len(first), j + 1
    if after < m:
        at = second[after] + after
        _turn_run(T, first[i] + at, first[j] + at, (m - j) * (m - after) // 2, c, s)
    _rotate_twice(T, first, second, i, j, c, s)
    _rotate_thrice(T, first, second, i, j, c, s)


@inner
def _rotate_below(
    T: Array, first: Indices, second: Indices, i: int, j: int, c: float, s: float
) -> None:
    """Rotate the pairs (iab, jab) with a < i."""
    rest = len(first) - j - 1
    for a in range(i):
        aix, ajx = first[a] + second[i], first[a] + second[j]
        for b in range(a, i):
            abx = first[a] + second[b]
            _turn(T, abx + i, abx + j, c, s)
        for b in range(i + 1, j):
            _turn(T, aix + b, first[a] + second[b] + j, c, s)
        _turn_run(T, aix + j + 1, ajx + j + 1, rest, c, s)


@inner
def _rotate_between(
    T: Array, first: Indices, second: Indices, i: int, j: int, c: float, s: float
) -> None:
    """Rotate the pairs (iab, jab) with i < a < j."""
    rest = len(first) - j - 1
    for a in range(i + 1, j):
        iax, ajx = first[i] + second[a], first[a] + second[j]
        for b in range(a, j):
            _turn(T, iax + b, first[a] + second[b] + j, c, s)
        _turn_run(T, iax + j + 1, ajx + j + 1, rest, c, s)


@inner
def _rotate_twice(
    T: Array, first: Indices, second: Indices, i: int, j: int, c: float, s: float
) -> None:
    """Rotate the triples (iia, ija, jja)."""
    cc, cs, ss = c * c, c * s, s * s
    cs2, less = 2.0 * cs, cc - ss
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
        T[x] = cc * iia + cs2 * ija + ss * jja
        T[y] = less * ija + cs * (jja - iia)
        T[z] = ss * iia - cs2 * ija + cc * jja


@inner
def _rotate_thrice(
    T: Array, first: Indices, second: Indices, i: int, j: int, c: float, s: float
) -> None:
    """Rotate (iii, iij, ijj, jjj)."""
    w, x = first[i] + second[i] + i, first[i] + second[i] + j
    y, z = first[i] + second[j] + j, first[j] + second[j] + j
    iii, iij, ijj, jjj = T[w], T[x], T[y], T[z]
    ccc, ccs, css, sss = c * c * c, c * c * s, c * s * s, s * s * s
    T[w] = ccc * iii + 3.0 * (ccs * iij + css * ijj) + sss * jjj
    T[x] = ccc * iij + ccs * (2.0 * ijj - iii) + css * (jjj - 2.0 * iij) - sss * ijj
    T[y] = ccc * ijj + ccs * (jjj - 2.0 * iij) + css * (iii - 2.0 * ijj) + sss * iij
    T[z] = ccc * jjj + 3.0 * (css * iij - ccs * ijj) - sss * iii


@inner
def _turn(T: Array, x: int, y: int, c: float, s: float) -> None:
    a, b = T[x], T[y]
    T[x] = c * a + s * b
    T[y] = c * b - s * a


@inner
def _turn_run(T: Array, x: int, y: int, n: int, c: float, s: float) -> None:
    """Rotate n entries from x on with those from y on."""
    turn(T[x : x + n], T[y : y + n], c, s)


@kernel
def pack(cube: Array, first: Indices, second: Indices, T: Array) -> None:
    """Pack a symmetric tensor (m, m, m) into T, from its entries a <= b <= c."""
    m = len(first)
    for a in range(m):
        for b in range(a, m):
            row = first[a] + second[b]
            for c in range(b, m):
                T[row + c] = cube[a, b, c]


@kernel
def unpack(T: Array, first: Indices, second: Indices, cube: Array) -> None:
    """Fill a symmetric tensor (m, m, m), all of its entries, from the packed T."""
    m = len(first)
    for a in range(m):
        for b in range(a, m):
            row = first[a] + second[b]
            for c in range(b, m):
                x = T[row + c]
                cube[a, b, c] = cube[b, c, a] = cube[c, a, b] = x
                cube[a, c, b] = cube[c, b, a] = cube[b, a, c] = x
