"""Upper bounds on the variance of sparse components."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthobench.tools.arrays import Array

MOST = 500
"""Maximum number of features for bounds."""

EXACT = 30
"""Number of features below which bounds are exact."""

NODES = 20_000
"""Maximum number of nodes of a search; beyond it a bound is not exact."""

ROUNDING = 1e-12
"""Relative difference of variances that is rounding."""


class VarianceBounds:
    """Bounds on the variance of components of A (d, N) with given numbers of non-zero loadings.

    2d²N flops once for the moment AA', and `leading_bound` for each new number.
    """

    def __init__(self, A: Array) -> None:
        self._S = A @ A.T
        self._values = np.linalg.eigvalsh(self._S)[::-1]
        self._known = {0: 0.0}

    def __call__(self, nonzeros: Iterable[int]) -> float:
        """Return the sum of the bounds of each component, at most that of principal ones."""
        counts = [int(count) for count in nonzeros]
        alone = sum(self._of(count) for count in counts)
        return min(alone, float(self._values[: len(counts)].sum()))

    def _of(self, count: int) -> float:
        if count not in self._known:
            self._known[count] = leading_bound(self._S, count)
        return self._known[count]


def leading_bound(S: Array, count: int) -> float:
    """Return an upper bound on x'Sx over unit vectors with at most `count` non-zero entries.

    S (d, d) is symmetric without negative eigenvalues, and 1 <= count <= d. Below `EXACT` features
    and `NODES` nodes it is the maximum, by branch and bound with eigendecompositions of at most d³
    a node (Berk and Bertsimas 2019). Beyond, it is the smaller of the largest eigenvalue and
    Gershgorin's bound.
    """
    search = Search([S], count)
    root = search.begin(0)
    if len(S) >= EXACT:
        return root.bound
    while search.open and search.order < NODES:
        search.branch()
    return max(search.best, -search.heap[0][0]) if search.heap else search.best


class Node(NamedTuple):
    """Supports that contain the features `inside`, and others of `free` only.

    `bound` is at least the variance of each of them; `reached` is that of `support`. `next` is the
    place in `free` of the feature to branch on, that with the largest entry in the leading
    eigenvector.
    """

    inside: list[int]
    free: list[int]
    bound: float
    reached: float
    next: int
    support: NDArray[np.intp]


@dataclass(slots=True)
class Search:
    """Branch and bound for the support of largest variance, in parts of a covariance.

    Attributes
    ----------
    parts : list of ndarray
        Covariances of features; a support is in one of them.
    count : int
        Maximum number of features of a support.
    heap : list of (float, int, int, Node)
        Open nodes: the negative bound, the number of the node, that of its part.
    best : float
        The largest variance so far, of the features `support` of part `place`.
    """

    parts: list[Array]
    count: int
    heap: list[tuple[float, int, int, Node]] = field(default_factory=list)
    best: float = 0.0
    place: int = 0
    support: NDArray[np.intp] = field(default_factory=lambda: np.arange(0))
    order: int = 0

    @property
    def open(self) -> bool:
        """Whether a node may have a better support."""
        return bool(self.heap) and -self.heap[0][0] > self.best * (1 + ROUNDING)

    def begin(self, place: int, inside: int = 0) -> Node:
        """Add and return the node of all supports of a part."""
        features = list(range(len(self.parts[place])))
        return self._add(place, features[:inside], features[inside:])

    def branch(self) -> tuple[Node, Node]:
        """Replace the best node by two: the next feature in, and out."""
        _, _, place, parent = heapq.heappop(self.heap)
        inside, at = parent.inside, parent.next
        free = parent.free[:at] + parent.free[at + 1 :]
        with_next = self._add(place, [*inside, parent.free[at]], free)
        return with_next, self._add(place, inside, free)

    def _add(self, place: int, inside: list[int], free: list[int]) -> Node:
        S = self.parts[place]
        made = node(S, inside, free, min(self.count, len(S)))
        self.order += 1
        heapq.heappush(self.heap, (-made.bound, self.order, place, made))
        if made.reached > self.best:
            self.best, self.place, self.support = made.reached, place, made.support
        return made


def node(S: Array, inside: list[int], free: list[int], count: int) -> Node:
    """Return the node of supports of `count` features, with its bounds; at most 9d³ flops twice."""
    if len(inside) == count:
        free = []
    features = np.array(inside + free)
    values, vectors = np.linalg.eigh(S[np.ix_(features, features)])
    largest, sizes = float(values[-1]), np.abs(vectors[len(inside) :, -1])
    if len(features) <= count:
        return Node(inside, free, largest, largest, 0, features)
    chosen = np.argsort(-sizes, kind="stable")[: count - len(inside)]
    support = np.concatenate([features[: len(inside)], features[len(inside) + chosen]])
    reached = float(np.linalg.eigvalsh(S[np.ix_(support, support)])[-1])
    bound = min(largest, _gershgorin(S, features, len(inside), count))
    return Node(inside, free, max(bound, reached), reached, int(chosen[0]), support)


def _gershgorin(S: Array, features: Array, inside: int, count: int) -> float:
    rows = np.abs(S[np.ix_(features, features)])
    diagonal = np.diagonal(rows).copy()
    np.fill_diagonal(rows, 0.0)
    joining = np.full(len(features), count - inside)
    joining[inside:] -= 1
    others = -np.sort(-rows[:, inside:], axis=1)
    sums = np.cumsum(np.column_stack([np.zeros(len(rows)), others]), axis=1)
    totals = diagonal + rows[:, :inside].sum(axis=1) + sums[np.arange(len(rows)), joining]
    return float(totals.max())
