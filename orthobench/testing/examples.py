"""Small instances of the built-in families, for checks of solvers: `example`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from orthobench.contract.problem import AnyInstance, AnyProblem, Oracle
from orthobench.contract.samples import SampleOracle
from orthobench.contract.solver import AnySolver
from orthobench.errors import OrthobenchError, UsageError
from orthobench.families.orthogonal_group import (
    ComponentsOracle,
    OrthogonalGroupOracle,
    orthogonal_group,
)
from orthobench.families.orthogonal_tensor import TensorOracle, orthogonal_tensor
from orthobench.families.sources import ArraySource
from orthobench.families.sparse_pca import SparsePCAOracle, sparse_pca
from orthobench.families.stiefel import FiniteSumOracle, instance
from orthobench.families.stochastic_pca import EntryOracle, stochastic_pca
from orthobench.families.symmetric_tensors import composed
from orthobench.families.symmetric_tucker import MomentOracle, symmetric_tucker
from orthobench.testing.short_runs import Runner
from orthobench.tools.arrays import Array, inner, rows_of
from orthobench.tools.geometry import random_point

SAMPLES = 2000
"""Samples of an instance: 40 steps of batches of 50."""


def example(solver: AnySolver, problems: Iterable[type[AnyProblem]] = ()) -> AnyInstance:
    """Return a small instance of artificial data that a solver can be checked on.

    Parameters
    ----------
    solver : Solver
        Its `init` is tried on instances of the built-in families, and the first that it does not
        refuse with a `UsageError` is returned.
    problems : iterable of types of Problem
        Problems that are tried after those, with default parameters.

    Raises
    ------
    UsageError
        Where there is no such instance.
    """
    fitting = [make for offered, make in _EXAMPLES if issubclass(offered, solver.needs)]
    fitting += [partial(_built, each) for each in problems if issubclass(each.offers, solver.needs)]
    reason = f"no built-in family or problem offers the {solver.needs.__name__} that it needs"
    for make in fitting:
        try:
            instance = make()
        except OrthobenchError as error:
            reason = str(error)
            continue
        try:
            Runner(solver, instance).start()
        except UsageError as error:
            reason = str(error)
            continue
        except Exception:  # noqa: S110 - the checks report it
            pass
        return instance
    raise UsageError(
        f"there is no example for {solver.name}: {reason}; pass an instance, such as "
        "MyProblem(...).build(np.random.default_rng(0))"
    )


def _built(problem: type[AnyProblem]) -> AnyInstance:
    return problem().build(np.random.default_rng(0))


def _stochastic_pca() -> AnyInstance:
    return stochastic_pca(_rows(10), k=3)


def _entries() -> AnyInstance:
    rows = _rows(10)
    seen = np.random.default_rng(1).random(rows.shape) < 0.7
    return replace(_stochastic_pca(), oracle=EntryOracle(ArraySource(rows * seen), 3))


def _sparse_pca(samples: int, m: int) -> AnyInstance:
    A = _rows(10)[:samples].T
    return sparse_pca(A - A.mean(axis=1, keepdims=True), m=m)


def _orthogonal_tensor() -> AnyInstance:
    U = random_point(5, 5, np.random.default_rng(2))
    return orthogonal_tensor(composed(U, np.arange(1.0, 6.0)))


def _orthogonal_group() -> AnyInstance:
    n = 5
    S = np.random.default_rng(3).standard_normal((n, n))
    A, N = S + S.T, np.arange(1.0, n + 1)

    def cost(U: Array) -> float:
        return float(np.einsum("ij,ij,j->", U, A @ U, N))

    def gradient(U: Array) -> Array:
        partial: Array = 2 * (A @ U) * N
        return partial

    return orthogonal_group(cost, gradient, n=n)


def _components() -> AnyInstance:
    rows = _rows(4)
    rows -= rows.mean(axis=0)
    Z: Array = np.linalg.svd(rows, full_matrices=False)[0] * np.sqrt(SAMPLES)

    def cost(U: Array) -> float:
        return -float(np.sum((Z @ U) ** 4)) / SAMPLES

    def gradient(U: Array) -> Array:
        partial: Array = -4 / SAMPLES * Z.T @ (Z @ U) ** 3
        return partial

    oracle = ComponentsOracle(cost, 4, gradient)
    oracle.Z = Z
    return replace(orthogonal_group(cost, gradient, n=4), oracle=oracle)


def _stiefel() -> AnyInstance:
    return instance(_Moment(_rows(24) / 10, 3), 0.0)


def _symmetric_tucker() -> AnyInstance:
    return symmetric_tucker(samples=_rows(6).T, order=3, rank=2)


def _rows(n: int) -> Array:
    """Return samples with decreasing variances, and skewed: their odd moments are not zero."""
    rng = np.random.default_rng(n)
    axes = random_point(n, n, rng)
    rows: Array = (rng.exponential(size=(SAMPLES, n)) * np.linspace(2, 0.2, n)) @ axes.T
    return rows


class _Moment(FiniteSumOracle):
    """-tr(X'CXN)/2 for the second moment C of samples and N = diag(1, 2, ...)."""

    portable = True

    def __init__(self, samples: Array, p: int) -> None:
        self.samples, self.C = samples, samples.T @ samples / len(samples)
        self.terms, self.n = samples.shape
        self.k, self.weights = p, np.arange(1.0, p + 1)
        size = self.n * p
        self.cost_flops, self.gradient_flops = (2 * self.n + 3) * size, (2 * self.n + 2) * size
        self.term_flops = 4 * size

    def value(self, X: Any) -> Any:
        return -inner(X * self.weights, self.C @ X) / 2

    def gradient(self, X: Any) -> Any:
        return -(self.C @ X) * self.weights

    def terms_gradient(self, X: Any, chosen: Any) -> Any:
        A = rows_of(self.samples, chosen)
        return -(A.T @ (A @ X)) * self.weights / A.shape[0]


_EXAMPLES: tuple[tuple[type[Oracle], Callable[[], AnyInstance]], ...] = (
    (SampleOracle, _stochastic_pca),
    (EntryOracle, _entries),
    (SparsePCAOracle, lambda: _sparse_pca(60, 3)),
    (SparsePCAOracle, lambda: _sparse_pca(6, 6)),
    (TensorOracle, _orthogonal_tensor),
    (FiniteSumOracle, _stiefel),
    (OrthogonalGroupOracle, _orthogonal_group),
    (ComponentsOracle, _components),
    (MomentOracle, _symmetric_tucker),
)
