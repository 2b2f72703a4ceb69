"""The instance maker and the judge of stochastic PCA."""

from __future__ import annotations

import tracemalloc
import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.second_moments import DenseMoment
from orthobench_kit.sources import ArraySource
from orthobench_kit.streams import SamplerSource
from orthobench_stochastic_pca import maker as family
from orthobench_stochastic_pca.oracle import EntryOracle, RelaxedSolution
from scipy import sparse

import orthobench as ob
from orthobench.contract.problem import Oracle, Solution
from orthobench.contract.samples import SampleOracle
from orthobench.contract.solver import Solver, State
from orthobench.errors import DataError, UsageError
from orthobench.harness import execution
from orthobench.harness.identity import Streams
from orthobench.harness.run import run
from orthobench.harness.stopping import RunStatus
from orthobench.tools.geometry import random_point
from orthobench.tools.rows import SparseRows


def rng(seed=0):
    return np.random.default_rng(seed)


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


def test_zeros_among_the_values_do_not_count_as_rank():
    solution = RelaxedSolution(np.eye(3)[:, :1], vectors=np.eye(3), values=np.array([1.0, 0, 0]))
    assert solution.rank == 1


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


@pytest.mark.parametrize("order", [None, range(20, 980, 2), "random"])
def test_of_sparse_rows_the_judge_takes_some_spread_evenly_too(order, monkeypatch):
    X = rows(1000, 5) * (rng(4).random((1000, 5)) < 0.3)
    monkeypatch.setattr(family, "JUDGE_BYTES", 8 * 5 * 100)
    order = rng(2).permutation(1000) if order == "random" else order
    at = np.arange(1000) if order is None else np.array(order)
    source = ArraySource(SparseRows(sparse.csr_array(X)), order, scale=2.0)
    U = random_point(5, 2, rng(1))
    few = ob.stochastic_pca(source, 2).measure(Solution(U))
    spread = at[:: -(-len(at) // 100)]
    assert few == ob.stochastic_pca(X, 2, test=2.0 * X[spread]).measure(Solution(U))


def test_a_range_of_many_rows_takes_no_memory_of_its_own(monkeypatch):
    X, U = np.broadcast_to(np.array([2.0, 1.0]), (10**6, 2)), np.eye(2)[:, 1:]
    monkeypatch.setattr(family, "JUDGE_BYTES", 8 * 2 * 100)
    tracemalloc.start()
    try:
        metrics = ob.stochastic_pca(ArraySource(X, range(10**6)), 1).measure(Solution(U))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert metrics["suboptimality"] == pytest.approx(4)
    assert peak < 10**6


def test_a_test_part_goes_before_the_covariance():
    X, test = rows(20, 4), rows(30, 4, 1)
    U = random_point(4, 2, rng(1))
    both = ob.stochastic_pca(X, 2, test=test, covariance=np.eye(4)).measure(Solution(U))
    assert both == ob.stochastic_pca(X, 2, test=test).measure(Solution(U))


def test_a_covariance_may_be_a_moment_of_any_form():
    C = np.diag([3.0, 2.0, 1.0, 0.5])
    U = random_point(4, 2, rng(1))
    given_matrix = ob.stochastic_pca(gaussian, 2, covariance=C)
    given_moment = ob.stochastic_pca(gaussian, 2, covariance=DenseMoment(C))
    assert given_matrix.measure(Solution(U)) == given_moment.measure(Solution(U))
    assert given_matrix.oracle.n == 4


def test_data_without_variance_are_judged_without_a_division():
    metrics = ob.stochastic_pca(np.zeros((10, 3)), 1).measure(Solution(np.eye(3)[:, :1]))
    assert metrics["suboptimality"] == 0
    assert metrics["explained_variance_ratio"] == 0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"train": np.ones((5, 3)), "k": 4}, UsageError, "between 1 and 3, not 4"),
        ({"train": np.ones((5, 3)), "k": 0}, UsageError, "between 1 and 3, not 0"),
        ({"train": np.ones((5, 3)), "k": 1.5}, UsageError, "k must be a whole number .* not 1.5"),
        ({"train": np.ones((5, 3)), "k": 2.0}, UsageError, "k must be a whole number .* not 2.0"),
        ({"train": np.ones((5, 3)), "k": 1, "passes": 0}, UsageError, "passes"),
        ({"train": np.ones((5, 3)), "k": 1, "passes": 1.5}, UsageError, "passes .* not 1.5"),
        ({"train": gaussian, "k": 1}, UsageError, "covariance or a test part"),
        (
            {"train": gaussian, "k": 1, "covariance": np.eye(4), "passes": 2},
            UsageError,
            "several times",
        ),
        ({"train": iter(np.ones((5, 3))), "k": 1}, UsageError, "test part or a covariance"),
        ({"train": np.ones(5), "k": 1}, DataError, "matrix"),
        (
            {"train": np.ones((5, 3)), "k": 1, "covariance": np.eye(2)},
            DataError,
            "covariance has 2",
        ),
        ({"train": np.ones((5, 3)), "k": 1, "test": np.ones((5, 2))}, DataError, "test part has 2"),
        (
            {"train": np.ones((5, 3)), "k": 1, "test": np.ones(5)},
            DataError,
            "test part must be a mat",
        ),
        (
            {"train": np.ones((5, 3)), "k": 1, "validation": np.full((5, 3), np.nan)},
            DataError,
            "validation part: sample 0",
        ),
    ],
)
def test_bad_arguments_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        ob.stochastic_pca(**arguments)


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
    assert outcome.work.samples == 30_030
    assert np.array_equal(shown[-1], X)


def test_a_warm_up_of_many_windows_costs_a_generator_no_sample(monkeypatch):
    monkeypatch.setattr(execution, "_warm", set())
    X = rows(9000, 3)
    instance = ob.stochastic_pca(iter(X), 2, covariance=np.eye(3))
    instance.oracle.window = 1000
    outcome = run(instance, Watcher(), ob.Budget(), STREAMS)
    assert outcome.stop.status is RunStatus.DONE
    assert np.array_equal(shown[-1], X)


def test_a_sampler_does_not_repeat_the_numbers_that_built_the_instance():
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


def test_a_mean_that_carries_most_of_the_second_moment_is_warned_of():
    X = np.random.default_rng(0).standard_normal((200, 5))
    with pytest.warns(UserWarning, match=r"the mean carries 9\d % .* use ob\.pca\(X, k\)"):
        ob.stochastic_pca(X + 3.0, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ob.stochastic_pca(X, 2)


@pytest.mark.parametrize(
    ("largest", "unit"),
    [
        (1.0, 1.0), (0.99e50, 1.0), (1.01e-50, 1.0), (1.01e50, 2.0**167), (0.99e-50, 2.0**-166),
        (3e149, 2.0**497), (1.01e150, 1.0), (1.01e-150, 2.0**-498), (0.99e-150, 1.0), (0.0, 1.0),
    ],
)  # fmt: skip
def test_extreme_samples_are_divided_by_a_power_of_two_where_they_can_be_squared(largest, unit):
    X = np.array([[largest, 0.0], [0.0, -largest / 3]])
    found = family._unit(ArraySource(X))
    assert found == unit
    assert found == 1 or largest / 2 < found / 2 <= largest
    assert family._unit(SamplerSource(gaussian, 4)) == 1


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
            factor = scale**2 if name in family.VARIANCES else 1.0
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


def test_a_source_of_ones_own_is_taken_as_it_is():
    source = ArraySource(rows(30, 4) * 1e60 + 1e60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ob.stochastic_pca(source, 1).oracle.source is source


def test_entries_that_are_zero_are_not_observed():
    X = rows(5, 3)
    X[2, 1] = 0
    oracle = EntryOracle(ArraySource(X), 1)
    np.testing.assert_array_equal(oracle.observed(X), X != 0)
    assert oracle.observed(X).sum() == 14


def test_the_rank_of_a_relaxed_solution_is_full_above_a_floor():
    V = np.eye(4)[:, :2]
    for floor, values, rank in ((0.0, [0.5, 0.0], 1), (0.1, [0.5, 0.0], 4), (0.0, [0.5, 0.2], 2)):
        solution = RelaxedSolution(V, vectors=V, values=np.array(values), floor=floor)
        assert solution.rank == rank
