"""The judge of canonical correlation analysis."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from orthobench.contract import Array, Solution
from orthobench_cca.canonical import Optima
from orthobench_cca.covariances import turned
from orthobench_cca.oracle import PairsMatrices, halves

ILL = 1e8
"""Condition number of the covariance of scores that costs half of the digits."""

DEPENDENT = 1e-10
"""Relative singular value of a point below which columns are dependent."""


class Judge:
    """Measures weights by the covariances of their scores, which takes 4N(p + q)k flops.

    Only the spans of A and of B count: they are normalized and rotated to canonical variables.
    `best` is the truth, or None if it costs too much; `test` other pairs, less the means of the
    training pairs.
    """

    def __init__(
        self, oracle: PairsMatrices, best: Optima | None, test: PairsMatrices | None = None
    ) -> None:
        self.sides, self.ridge, self.p = oracle.sides, oracle.ridge, oracle.p
        self.best, self.test = best, None if test is None else test.sides
        self.correlations = np.ones(oracle.k) if best is None else best.correlations
        varying = np.concatenate([side.variances() > 0 for side in oracle.sides])
        self.constants = () if self.ridge else np.flatnonzero(~varying)

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return the metrics; ``suboptimality``, the primary one, first.

        ``correlation`` is the largest canonical correlation between A'x and B'y, and ``captured``
        the sum of all. ``suboptimality`` is 1 - ``captured`` / (sum of the k largest), or 1 -
        ``captured`` / k if the truth is unknown. The distances of the spans from the nearest
        canonical ones, in the metrics of the covariances, are ``x_error`` and ``y_error``. As
        delivered, ``disorder`` is the largest excess of a correlation over the one before it, and
        ``whitening_error`` the largest entry of |A'S_xx A - I| and |B'S_yy B - I|. The metric
        ``relative_gradient`` is |S_xy B - S_xx A R| / |S_xy B| or that of y, in units of columns,
        R the correlations. The metric ``test_captured`` is the sum of the correlations of matching
        variables on the test part, and ``passes`` the number of readings of the pairs.
        """
        A, B = halves(self.finished(solution).point, self.p)
        U, V, xx, yy, xy = self._scored(A, B)
        left, right, across = _inverse_root(xx), _inverse_root(yy), xy
        if max(_condition(xx, left), _condition(yy, right)) > ILL:
            # nearly dependent scores have lost digits
            A, B = A @ left, B @ right
            U, V, *inner, across = self._scored(A, B)
            left, right = map(_inverse_root, inner)
        P, found, Qt = np.linalg.svd(left @ across @ right)
        of_x, of_y = left @ P, right @ Qt.T
        A, B, U, V = A @ of_x, B @ of_y, U @ of_x, V @ of_y
        one_by_one = np.diag(xy) / np.maximum(np.sqrt(np.diag(xx)) * np.sqrt(np.diag(yy)), TINY)
        metrics = {
            "suboptimality": 1 - float(found.sum() / self.correlations.sum()),
            "correlation": float(found[0]),
            "captured": float(found.sum()),
            "disorder": float(np.diff(np.abs(one_by_one)).max(initial=0.0)),
            "whitening_error": max(float(np.abs(S - np.eye(len(S))).max()) for S in (xx, yy)),
        }
        metrics["relative_gradient"] = max(
            self._residual(0, V, U * found, A * found), self._residual(1, U, V * found, B * found)
        )
        if self.best is not None:
            of_best, first = self._scores_of_best, self.best.first
            metrics["x_error"] = _missed(U, A, of_best[0], self.best.A, first, self.ridge)
            metrics["y_error"] = _missed(V, B, of_best[1], self.best.B, first, self.ridge)
        if self.test is not None:
            metrics["test_captured"] = _correlation_of(self.test[0].times(A), self.test[1].times(B))
        if (passes := getattr(solution, "passes", None)) is not None:
            metrics["passes"] = float(passes)
        return metrics

    def _scored(self, A: Array, B: Array) -> tuple[Array, Array, Array, Array, Array]:
        U, V = (side.times(M) for side, M in zip(self.sides, (A, B), strict=True))
        N = len(U)
        xx, yy = U.T @ U / N + self.ridge * A.T @ A, V.T @ V / N + self.ridge * B.T @ B
        return U, V, xx, yy, U.T @ V / N

    def _residual(self, at: int, scores: Array, own_scores: Array, own: Array) -> float:
        """Return |M'v / N - own| over |M'v / N| in the units of columns; own is (S + ridge I)AR."""
        both = self.sides[at].adjoint(np.hstack([scores, own_scores])) / len(scores)
        image, back = np.hsplit(both / self._units[at], 2)
        rest = image - back - self.ridge * own / self._units[at]
        return float(np.linalg.norm(rest) / max(float(np.linalg.norm(image)), TINY))

    @cached_property
    def _units(self) -> list[Array]:
        roots = [np.sqrt(side.variances() + self.ridge) for side in self.sides]
        return [np.where(units > 0, units, 1.0)[:, None] for units in roots]

    @cached_property
    def _scores_of_best(self) -> list[Array]:
        truth = (self.best.A, self.best.B) if self.best else ()
        return [side.times(M) for side, M in zip(self.sides, truth, strict=False)]

    def finished(self, solution: Solution) -> Solution:
        """Return the solution with weights 0 on constant columns, which changes no score."""
        if not len(self.constants):  # or a ridge, with which they vanish by themselves
            return solution
        point = solution.point.copy()
        point[self.constants] = 0.0
        return replace(solution, point=point)

    def violation(self, solution: Solution) -> float:
        """Return 0 if A and B have independent columns, and 1 otherwise."""
        return float(any(map(dependent, halves(solution.point, self.p))))


TINY = float(np.finfo(np.float64).tiny)
"""Minimum product of two variances."""


def _condition(S: Array, root: Array) -> float:
    return float(np.linalg.norm(S, 2) * np.linalg.norm(root, 2) ** 2)


def _inverse_root(S: Array) -> Array:
    values, vectors = np.linalg.eigh(S)
    varies = values > max(len(S) * float(np.finfo(np.float64).eps) * float(values[-1]), TINY)
    roots = np.where(varies, 1 / np.sqrt(np.where(varies, values, 1.0)), 0.0)
    return np.asarray((vectors * roots) @ vectors.T)


def _missed(U: Array, A: Array, V: Array, best: Array, first: int, ridge: float) -> float:
    """Return |(I - AA'S) best| in the metric S, for scores U and V of A and `best`."""
    inner = U.T @ V / len(U) + ridge * A.T @ best
    if best.shape[1] > A.shape[1]:
        T = turned(inner, first)
        inner, best, V = inner @ T, best @ T, V @ T
    rest, score = best - A @ inner, V - U @ inner
    square = float(np.vdot(score, score)) / len(U) + ridge * float(np.vdot(rest, rest))
    return float(np.sqrt(square))


def _correlation_of(U: Array, V: Array) -> float:
    products: Any = np.einsum("ij,ij->j", U - U.mean(axis=0), V - V.mean(axis=0))
    sizes = (U.std(axis=0) * V.std(axis=0)) * len(U)
    return float(np.sum(products / np.maximum(sizes, TINY)))


def dependent(M: Array) -> bool:
    """Return whether the columns of a matrix are linearly dependent, or nearly."""
    values = np.linalg.svd(M, compute_uv=False)
    return not values[-1] > DEPENDENT * values[0]


def distance(A: Array, best: Array, S: Array, first: int = 0) -> float:
    """Return |(I - AA'S) best| in the metric S, from the residual.

    Columns of `best` from `first` on are tied: it is the minimum distance.
    """
    if best.shape[1] > A.shape[1]:
        best = best @ turned(A.T @ (S @ best), first)
    missed = best - A @ (A.T @ (S @ best))
    return float(np.sqrt(max(float(np.vdot(missed, S @ missed)), 0.0)))
