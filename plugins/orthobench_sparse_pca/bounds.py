"""Upper bounds on the variance that sparse components can explain."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from orthobench.tools.arrays import Array

MOST = 500
"""The most features for which there are bounds."""

EXACT = 30
"""Features below which the bounds are exact, by branch and bound."""

NODES = 20_000
"""Most nodes of a search: where these do not do, the bound is above the optimum."""

ROUNDING = 1e-12
"""Relative difference of variances that is rounding."""


class VarianceBounds:
    """Bounds on the variance of components with given numbers of non-zero loadings.

    Parameters
    ----------
    A : ndarray, shape (d, N)
        Features by samples.

    Notes
    -----
    2d²N flops for the moment AA', once; then what `leading_bound` takes for each number of
    loadings that is new.
    """

    def __init__(self, A: Array) -> None:
        self._S = A @ A.T
        self._values = np.linalg.eigvalsh(self._S)[::-1]
        self._known = {0: 0.0}

    def __call__(self, nonzeros: Iterable[int]) -> float:
        """Return a bound on the variance of components with these numbers of loadings.

        That of each alone, and together that of as many principal components: what a component
        adds to those before it is no more than it explains alone, nor than a unit vector orthogonal
        to them.
        """
        counts = [int(count) for count in nonzeros]
        alone = sum(self._of(count) for count in counts)
        return min(alone, float(self._values[: len(counts)].sum()))

    def _of(self, count: int) -> float:
        if count not in self._known:
            self._known[count] = leading_bound(self._S, count)
        return self._known[count]


def leading_bound(S: Array, count: int) -> float:
    """Return an upper bound on x'Sx over unit vectors of at most so many non-zero entries.

    Below `EXACT` features it is the maximum, unless the search for it takes more than `NODES`
    nodes. Beyond, it is the least of the largest eigenvalue and of Gershgorin's bound.

    Parameters
    ----------
    S : ndarray, shape (d, d)
        Symmetric, without negative eigenvalues.
    count : int
        1 <= count <= d.

    Notes
    -----
    The search goes on at the node with the largest bound. It branches on the free feature with the
    largest entry in the leading eigenvector, in or out; some thousand nodes, each with an
    eigendecomposition of at most d³, are usual in the worst case.

    References
    ----------
    Berk and Bertsimas 2019, "Certifiably optimal sparse principal component analysis".
    """
    root = node(S, [], list(range(len(S))), count)
    if len(S) >= EXACT:
        return root.bound
    best, order = root.reached, 0
    heap = [(-root.bound, order, root)]
    while heap and order < NODES and -heap[0][0] > best * (1 + ROUNDING):
        for child in branches(S, heapq.heappop(heap)[2], count):
            best, order = max(best, child.reached), order + 1
            heapq.heappush(heap, (-child.bound, order, child))
    return max(best, -heap[0][0]) if heap else best


class Node(NamedTuple):
    """Supports that hold the features `inside`, and others of `free` only.

    `bound` is at least the variance of each of them, `reached` that of `support`; they are equal
    where there is one support. `next` is the place in `free` of the feature to branch on.
    """

    inside: list[int]
    free: list[int]
    bound: float
    reached: float
    next: int
    support: Array


def branches(S: Array, parent: Node, count: int) -> Iterator[Node]:
    """Yield the nodes with the next feature in, and out, of supports of so many features."""
    feature = parent.free[parent.next]
    free = [other for other in parent.free if other != feature]
    yield node(S, [*parent.inside, feature], free, count)
    yield node(S, parent.inside, free, count)


def node(S: Array, inside: list[int], free: list[int], count: int) -> Node:
    """Return the node of supports of so many features, with its bounds; at most 9d³ flops twice."""
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
    """Return the largest row sum of |S| in any support with the features `inside`.

    In the row of a free feature, that feature itself is one of those that may join.
    """
    rows = np.abs(S[np.ix_(features, features)])
    diagonal = np.diagonal(rows).copy()
    np.fill_diagonal(rows, 0.0)
    joining = np.full(len(features), count - inside)
    joining[inside:] -= 1
    others = -np.sort(-rows[:, inside:], axis=1)
    sums = np.cumsum(np.column_stack([np.zeros(len(rows)), others]), axis=1)
    totals = diagonal + rows[:, :inside].sum(axis=1) + sums[np.arange(len(rows)), joining]
    return float(totals.max())
