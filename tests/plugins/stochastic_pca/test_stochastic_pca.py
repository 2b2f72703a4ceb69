"""The instance maker and the judge of stochastic PCA."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from drawn import rng
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.rows import SparseRows
from orthobench_kit.sources import ArraySource
from orthobench_stochastic_pca import maker as family
from orthobench_stochastic_pca.judge import VARIANCES
from orthobench_stochastic_pca.oracle import RelaxedSolution
from scipy import sparse

import orthobench as ob
from orthobench.contract.problem import Oracle, Solution
from orthobench.contract.samples import SampleOracle
from orthobench.contract.solver import Solver, State
from orthobench.errors import DataError, UsageError
from orthobench.harness.identity import Streams
from orthobench.harness.run import run
from orthobench.harness.stopping import RunStatus
from orthobench.tools.geometry import random_point


def rows(n, d, seed=0):
    return rng(seed).standard_normal((n, d)) * np.linspace(2, 1, d)


def gaussian(rng, count):
    return rng.standard_normal((count, 4))


@given(d=st.integers(2, 15), seed=st.integers(0, 2**32 - 1))
def test_the_metrics_are_those_of_the_explicit_matrices(d, seed):
    k = int(rng(seed).integers(1, d + 1))
    train, validation, test = rows(30, d, seed), rows(9, d, seed + 1), rows(40, d, seed + 2)
    judge = ob.stochastic_pca(train, k, validation=validation, test=test).measure
    U = random_point(d, k, rng(seed + 3))
    metrics = judge(Solution(U))

    C, V = test.T @ test / 40, validation.T @ validation / 9
    values, vectors = np.linalg.eigh(C)
    best = vectors[:, ::-1][:, :k]
    achieved = np.trace(U.T @ C @ U)
    assert next(iter(metrics)) == "suboptimality"
    assert metrics == pytest.approx(
        {
            "suboptimality": values[::-1][:k].sum() - achieved,
            "explained_variance_ratio": achieved / np.trace(C),
            "subspace_error": np.linalg.norm(U @ U.T - best @ best.T) / np.sqrt(2),
            "validation_suboptimality": np.linalg.eigvalsh(V)[::-1][:k].sum()
            - np.trace(U.T @ V @ U),
        },
        rel=1e-9,
        abs=1e-10,
    )


@given(
    d=st.integers(2, 10),
    seed=st.integers(0, 2**32 - 1),
    floor=st.sampled_from([0.0, 0.125]),
)
def test_the_relaxed_objective_is_the_trace_of_mc(d, seed, floor):
    C = rows(30, d, seed)
    C = C.T @ C / 30
    m = int(rng(seed).integers(1, d + 1))
    vectors = random_point(d, m, rng(seed + 1))
    values = rng(seed + 2).uniform(0.2, 1, m)
    M = (vectors * values) @ vectors.T + floor * (np.eye(d) - vectors @ vectors.T)
    solution = RelaxedSolution(vectors[:, :1], vectors=vectors, values=values, floor=floor)
    judge = ob.stochastic_pca(rows(5, d), 1, covariance=C).measure
    metrics = judge(solution)
    best = np.linalg.eigvalsh(C)[-1]
    assert metrics["relaxed_suboptimality"] == pytest.approx(best - np.trace(M @ C), abs=1e-9)
    assert metrics["rank"] == np.linalg.matrix_rank(M)


def test_without_a_test_part_the_judge_takes_rows_spread_evenly(monkeypatch):
    X = rows(1000, 5)
    monkeypatch.setattr(family, "JUDGE_BYTES", 8 * 5 * 100)
    at = np.linspace(0, 999, 100).astype(int)
    U = random_point(5, 2, rng(1))
    few = ob.stochastic_pca(X, 2).measure(Solution(U))
    assert few == ob.stochastic_pca(X, 2, test=X[at]).measure(Solution(U))
    order = rng(2).permutation(1000)
    few = ob.stochastic_pca(ArraySource(X, order, scale=2.0), 2).measure(Solution(U))
    assert few == ob.stochastic_pca(X, 2, test=2.0 * X[order][at]).measure(Solution(U))
    for order in (range(20, 980, 2), range(999, -1, -3)):
        at = np.linspace(0, len(order) - 1, 100).astype(int)
        few = ob.stochastic_pca(ArraySource(X, order), 2).measure(Solution(U))
        assert few == ob.stochastic_pca(X, 2, test=X[list(order)][at]).measure(Solution(U))


@pytest.mark.parametrize("order", [None, range(20, 980, 2), rng(2).permutation(1000)])
def test_judge_takes_sparse_rows_spread_evenly_too(order, monkeypatch):
    X = rows(1000, 5) * (rng(4).random((1000, 5)) < 0.3)
    monkeypatch.setattr(family, "JUDGE_BYTES", 8 * 5 * 100)
    at = np.arange(1000) if order is None else np.array(order)
    source = ArraySource(SparseRows(sparse.csr_array(X)), order, scale=2.0)
    U = Solution(random_point(5, 2, rng(1)))
    spread = at[:: -(-len(at) // 100)]
    expected = ob.stochastic_pca(X, 2, test=2.0 * X[spread]).measure(U)
    assert ob.stochastic_pca(source, 2).measure(U) == expected


def test_data_without_variance_are_judged_without_a_division():
    metrics = ob.stochastic_pca(np.zeros((10, 3)), 1).measure(Solution(np.eye(3)[:, :1]))
    assert metrics["suboptimality"] == 0
    assert metrics["explained_variance_ratio"] == 0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"k": 4}, UsageError, "between 1 and 3, not 4"),
        ({"k": 1.5}, UsageError, "k must be a whole number .* not 1.5"),
        ({"passes": 0}, UsageError, "passes"),
        ({"train": gaussian}, UsageError, "covariance or a test part"),
        ({"train": gaussian, "covariance": np.eye(4), "passes": 2}, UsageError, "several times"),
        ({"train": iter(np.ones((5, 3)))}, UsageError, "test part or a covariance"),
        ({"covariance": np.eye(2)}, DataError, "covariance has 2"),
        ({"test": np.ones((5, 2))}, DataError, "test part has 2"),
        ({"validation": np.full((5, 3), np.nan)}, DataError, "validation part: sample 0"),
    ],
)
def test_bad_arguments_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        ob.stochastic_pca(**{"train": np.ones((5, 3)), "k": 1, **arguments})


@dataclass(kw_only=True)
class Seen(State):
    rows: list[np.ndarray]
    start: np.ndarray


@dataclass(frozen=True)
class Watcher(Solver[Oracle, Seen]):
    """Records what it is shown; 100 samples a step, in the last one fewer."""

    name = "watcher"
    needs = SampleOracle
    batch = 100

    def init(self, oracle, rng):
        return Seen(rows=[], start=oracle.start)

    def step(self, oracle, state):
        taken = oracle.take(int(min(self.batch, oracle.remaining()))).copy()
        state.rows.append(taken)
        state.work.steps += 1
        state.work.samples += len(taken)

    def solution(self, state):
        shown.append(np.concatenate(state.rows) if state.rows else np.empty((0, 3)))
        return Solution(state.start.copy())


shown: list[np.ndarray] = []
STREAMS = Streams.of("problem", "watcher", 0)


@pytest.mark.parametrize("form", [np.array, list, iter])
def test_a_run_shows_every_sample_once_and_ends_with_the_data(form):
    X = rows(30_030, 3)
    shown.clear()
    instance = ob.stochastic_pca(form(X), 2, covariance=np.eye(3))
    outcome = run(instance, Watcher(), ob.Budget(), STREAMS)
    assert outcome.stop.status is RunStatus.DONE
    assert outcome.trace[-1].work.samples == 30_030
    assert np.array_equal(shown[-1], X)


def test_sampler_does_not_repeat_the_numbers_of_the_instance():
    data = np.random.default_rng(STREAMS.data)
    validation = gaussian(data, 200)
    shown.clear()
    instance = ob.stochastic_pca(gaussian, 2, validation=validation, covariance=np.eye(4))
    run(instance, Watcher(), ob.Budget(samples=1000), STREAMS)
    assert len(shown[-1]) == 1000
    assert not np.isin(shown[-1], validation).any()
    again = len(shown)
    run(instance, Watcher(), ob.Budget(samples=1000), STREAMS)
    assert np.array_equal(shown[-1], shown[again - 1])


def test_a_bad_training_row_ends_the_run_with_its_number():
    X = rows(2000, 3)
    X[1234, 1] = np.nan
    instance = ob.stochastic_pca(X, 2, covariance=np.eye(3))
    outcome = run(instance, Watcher(), ob.Budget(), STREAMS)
    assert outcome.stop.status is RunStatus.ERROR
    assert "sample 1234 " in outcome.stop.reason


@pytest.mark.parametrize("scale", [2.0**200, 2.0**-200])
def test_metrics_have_the_unit_of_the_data(scale):
    X, other, U = rows(60, 4), rows(40, 4, 1), random_point(4, 2, rng(1))
    for parts in ({}, {"test": other}, {"validation": other}, {"covariance": np.eye(4)}):
        plain = ob.stochastic_pca(X, 2, **parts).measure(Solution(U))
        squared = {"covariance"} & {*parts}
        scaled = {
            name: part * (scale**2 if name in squared else scale) for name, part in parts.items()
        }
        found = ob.stochastic_pca(X * scale, 2, **scaled).measure(Solution(U))
        for name, value in plain.items():
            factor = scale**2 if name in VARIANCES else 1.0
            assert found[name] == pytest.approx(value * factor, rel=1e-9)


@pytest.mark.parametrize(
    ("count", "square", "warned"),
    [(400, 0.7, True), (400, 0.5, False), (20, 0.6, False), (20, 2, True)],
)
def test_a_mean_is_warned_of_beyond_its_error_and_half_a_component(count, square, warned):
    signs = np.where(np.arange(count) % 2, 1.0, -1.0)
    X = np.column_stack([signs + np.sqrt(square), np.zeros(count)])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ob.stochastic_pca(X, 1)
    share = f"carries {100 * square / (1 + square):.0f} %"
    assert [share in str(one.message) for one in caught] == [True] * warned
