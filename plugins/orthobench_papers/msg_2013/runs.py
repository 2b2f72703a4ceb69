"""What the checks share: a solver driven step by step, and what a method costs by the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from orthobench.contract import (
    AnySolver,
    Array,
    SampleOracle,
    Series,
    Solution,
    State,
    random_point,
)
from orthobench.families.stochastic_pca import RelaxedSolution, stochastic_pca
from orthobench.reproduce import (
    Measurement,
    Record,
    Streams,
    canonical,
    catalogue,
    describe,
    instance_of,
    spread,
    together,
)

TAU, DIMENSION = 1.1, 32
"""Of the orthogonal distribution, as section 4 has it."""


@dataclass
class Run:
    """A solver on samples, as far as it has come: for what no record of a suite tells."""

    oracle: SampleOracle
    solver: AnySolver
    state: State

    @classmethod
    def on_problem(
        cls, solver: str, problem: str, seed: int, settings: Mapping[str, Any], **parameters: Any
    ) -> Run:
        """Begin on a problem of the catalogue, with the streams that the harness would give."""
        recipe = catalogue().problem(problem, settings)
        streams = Streams.of(canonical(describe(recipe)), solver, seed)
        oracle = instance_of(recipe, seed).oracle
        oracle.rewind(np.random.default_rng(streams.samples))
        return cls._begun(oracle, solver, parameters, streams.start, streams.solver)

    @classmethod
    def on_rows(cls, solver: str, X: Array, k: int, seed: int, **parameters: Any) -> Run:
        """Begin on the rows of `X`, one sample each, in their order."""
        start, own = np.random.SeedSequence(seed).spawn(2)
        return cls._begun(stochastic_pca(X, k).oracle, solver, parameters, start, own)

    @classmethod
    def _begun(
        cls,
        oracle: SampleOracle,
        solver: str,
        parameters: Mapping[str, Any],
        start: np.random.SeedSequence,
        own: np.random.SeedSequence,
    ) -> Run:
        oracle.start = random_point(oracle.n, oracle.k, np.random.default_rng(start))
        made = catalogue().solver(solver, parameters)
        return cls(oracle, made, made.init(oracle, np.random.default_rng(own)))

    def advance(self, count: int = 1) -> None:
        """Take `count` samples."""
        self.oracle.prepare(count)
        self.solver.advance(self.oracle, self.state, count)

    @property
    def solution(self) -> Solution:
        """What is read off now."""
        return self.solver.solution(self.state)

    @property
    def M(self) -> Array:
        """The iterate of a relaxed method, (d, d)."""
        now = self.solution
        assert isinstance(now, RelaxedSolution)  # noqa: S101 - the caller asks relaxed methods
        outside = np.eye(len(now.point)) - now.vectors @ now.vectors.T
        M: Array = (now.vectors * now.values) @ now.vectors.T + now.floor * outside
        return M


def probabilities() -> Array:
    """Return the probabilities of the orthogonal distribution, in descending order."""
    weights = TAU ** -np.arange(1.0, DIMENSION + 1)
    p: Array = weights / weights.sum()
    return p


def missed(point: Array) -> float:
    """Return what a subspace misses of the most that one of its dimension has of `probabilities`.

    Below half the gap between the k-th probability and the next it can only be the best one.
    """
    p, k = probabilities(), point.shape[1]
    return float(p[:k].sum() - p @ (point**2).sum(axis=1))


def half_gap(k: int) -> float:
    """Return half of what the best but one subspace of unit vectors misses."""
    p = probabilities()
    return float(p[k - 1] - p[k]) / 2


def traced(records: Sequence[Record], metric: str) -> Array:
    """Return a metric at all checkpoints but the start, (seeds, checkpoints)."""
    return np.array([[mark.metrics[metric] for mark in r.trace[1:]] for r in records])


def samples(records: Sequence[Record]) -> Array:
    """Return the samples taken by the checkpoints but the start, which all runs share."""
    return np.array([mark.work.samples for mark in records[0].trace[1:]], dtype=np.float64)


def runtime(records: Sequence[Record], k: int) -> Array:
    """Return the paper's estimated runtime, sum of k'² up to each checkpoint but the start.

    Section 6. Here k' is the size of the eigenproblem that a sample poses: one more than the rank
    kept, k + 1 for incremental PCA. Methods without a rank of their own, Grassmannian SGD, have
    none: their k' is k.

    Returns
    -------
    ndarray, shape (seeds, checkpoints)
        By the trapezoidal rule between checkpoints.
    """
    marks = records[0].trace[1:]
    if "rank" in marks[0].metrics:
        sizes = traced(records, "rank") + 1
    else:
        size = k + 1 if records[0].solver.label.startswith("incremental-pca") else k
        sizes = np.full((len(records), len(marks)), float(size))
    steps = np.diff(samples(records), prepend=0.0)
    squares = np.concatenate([sizes[:, :1] ** 2, sizes**2], axis=1)
    found: Array = np.cumsum(steps * (squares[:, 1:] + squares[:, :-1]) / 2, axis=1)
    return found


def line(solver: str, x: Array, values: Array) -> Series:
    """Return the median over the seeds of `values`, (seeds, m), with a band, against `x`, (m,)."""
    median, low, high = spread(values)
    return Series(solver, x, median, low, high, solver=solver)


def for_each(
    what: str, ks: Sequence[int], rows: Mapping[str, Sequence[Measurement]]
) -> Measurement:
    """Join what was measured for each of several k: it holds where all of it does.

    Parameters
    ----------
    what : str
        What the values are.
    ks : sequence of int
    rows : mapping
        By what they are of, one measurement for each k.
    """
    every = [one for row in rows.values() for one in row]
    values = (
        " ".join([name, ", ".join(f"{one.value:.3g}" for one in row)]).strip()
        for name, row in rows.items()
    )
    of = ", ".join(map(str, ks))
    return together(every, f"{what} for k = {of}: {'; '.join(values)}")
