"""Summaries of blocks of a moment's samples, against the methods on all samples at once."""

from dataclasses import replace

import numpy as np
import pytest
from block_passes import cut, oracle_of, passes, points, summary_of
from orthobench_kit.geometry import subspace_error
from orthobench_tucker import MomentOracle
from orthobench_tucker.problems.factors import NIGFactor
from orthobench_tucker.problems.planted import RandomSymmetric
from orthobench_tucker.reference import hoevd_gradient, tucker_gradient
from orthobench_tucker.sample_moments import core_norm_squared, moment_tensor, partial_core
from orthobench_tucker.solvers.hoevd import HOEVD
from orthobench_tucker.solvers.khatri_rao_sketch import KhatriRaoSketch
from orthobench_tucker.solvers.pgd import PGD
from orthobench_tucker.solvers.shoevd import SHOEVD
from orthobench_tucker.solvers.spgd import SPGD

from orthobench.errors import UsageError
from orthobench.tools.geometry import random_point

N, RANK = 9, 2


def samples(p, seed=0):
    rng = np.random.default_rng(seed)
    f = rng.exponential(size=(p, RANK)) - 1
    return 0.3 * rng.standard_normal((p, N)) + f @ random_point(N, RANK, rng).T


def in_memory(X, order, oracle):
    """Return the oracle of all samples, with the start of the blocks' oracle."""
    made = MomentOracle(X, order, RANK)
    made.start = oracle.start
    made.rewind(np.random.default_rng(0))
    made.prepare(len(X))
    return made


def streamed(solver, X, order, oracle, steps):
    made = in_memory(X, order, oracle)
    state = solver.init(made, oracle.rng())
    solver.advance(made, state, steps)
    return solver.solution(state).point


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_khatri_rao_sketches_add_up(parts):
    X, solver = samples(400), KhatriRaoSketch(oversampling=3)
    oracle = oracle_of(400, N, RANK, 3)
    whole = summary_of(solver, oracle, [X])
    found = summary_of(solver, oracle, cut(X, parts))
    np.testing.assert_allclose(found.total, whole.total, rtol=1e-12, atol=1e-12 * np.abs(X).max())
    assert found.rows == 400
    W = solver.init(in_memory(X, 3, oracle), oracle.rng()).factors
    np.testing.assert_allclose(whole.total, X.T @ ((X @ W[0]) * (X @ W[1])))


@pytest.mark.parametrize("order", [2, 3, 4])
def test_blocks_give_what_a_stream_and_a_tensor_give(order):
    X = samples(300)
    oracle, blocks = oracle_of(300, N, RANK, order), cut(X, 5)
    for solver, steps in ((KhatriRaoSketch(batch=50), 6), (HOEVD(form="explicit"), 1)):
        whole = streamed(solver, X, order, oracle, steps)
        assert subspace_error(whole, points(solver, oracle, blocks)[0]) < 1e-10


def test_the_entries_of_the_moment_are_those_of_the_tensor():
    X = samples(40)
    found, T = HOEVD().summarize(oracle_of(40, N, RANK, 3), X), moment_tensor(X, 3)
    pairs = [T[:, i, j] for i in range(N) for j in range(i, N)]
    np.testing.assert_allclose(found.mean, np.transpose(pairs), rtol=1e-10, atol=1e-12)
    assert found.lengths == pytest.approx((np.linalg.norm(X, axis=1) ** 3).sum())


def test_a_moment_that_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr("orthobench_kit.memory.total", lambda: 10_000)
    with pytest.raises(UsageError, match="take khatri-rao-sketch"):
        HOEVD().summarize(oracle_of(40, N, RANK, 4), samples(40))


@pytest.mark.parametrize("start", ["random", "sketch"])
def test_each_pass_of_pgd_is_a_step(start):
    """The first pass only evaluates the start, or makes the sketch that is one."""
    X, order = samples(300), 3
    oracle, solver = oracle_of(300, N, RANK, order), PGD(start=start, step_size=10.0)
    found = points(solver, oracle, cut(X, 4), 6)
    for number, point in enumerate(found):
        steps = max(0, number - (start == "sketch"))
        assert subspace_error(streamed(solver, X, order, oracle, steps), point) < 1e-9


def test_pgd_cuts_steps_that_fall_and_ends():
    X, order = samples(300), 3
    oracle, blocks = oracle_of(300, N, RANK, order), cut(X, 4)
    *_, last = points(PGD(start="random", tolerance=1e-10), oracle, blocks, 200)
    *_, (end, _) = passes(PGD(start="random", tolerance=1e-10), oracle, blocks, 200)
    assert end.number < 100
    F = [core_norm_squared(Q.T @ partial_core(X, Q, order), order)
         for Q in points(PGD(start="random"), oracle, blocks, 30)]  # fmt: skip
    assert np.all(np.diff(F) >= -1e-12 * F[-1])
    best = streamed(PGD(start="random", tolerance=1e-10), X, order, oracle, 200)
    assert subspace_error(best, last) < 1e-8


@pytest.mark.parametrize("solver", [SHOEVD(batch=30), SPGD(batch=30, hoevd_steps=1)])
def test_a_pass_follows_the_mean_gradient_of_its_batches(solver):
    X, order, gamma = samples(70), 3, None
    oracle = oracle_of(70, N, RANK, order)
    Q, batches = oracle.start, (X[:30], X[30:60], X[60:])
    for number, (shared, summary) in enumerate(passes(solver, oracle, [X], 2)):
        first = number == 0 or isinstance(solver, SHOEVD)
        gradient = hoevd_gradient if first else tucker_gradient
        G = sum(len(batch) * gradient(batch, Q, order) for batch in batches) / len(X)
        np.testing.assert_allclose(summary.mean.T, G, rtol=1e-9)
        if number == 0 or not first:  # AdaGrad begins anew with each phase
            gamma = 1e-5 * np.linalg.norm(G)
        gamma = np.sqrt(gamma**2 + np.sum(G * G, axis=0))
        expected = np.linalg.qr(Q + G / gamma)[0]
        Q = solver.finish(shared, summary).point
        np.testing.assert_allclose(np.abs(np.diag(expected.T @ Q)), 1.0)


def test_blocks_of_samples_are_needed():
    assert "needs a MomentStream" in HOEVD(on="blocks").refuses(RandomSymmetric())
    assert "needs a MomentStream" in PGD(on="blocks").refuses(RandomSymmetric())
    assert HOEVD(on="blocks").refuses(NIGFactor()) is None
    assert HOEVD().refuses(RandomSymmetric()) is None


def test_method_that_needs_more_than_passes_is_refused():
    assert PGD(on="blocks").refuses(NIGFactor()) is None
    assert "rule ascending" in PGD(on="blocks", rule="constant").refuses(NIGFactor())
    assert "not from hoevd" in PGD(on="blocks", start="hoevd").refuses(NIGFactor())
    assert "all samples at once" in KhatriRaoSketch(on="blocks", power=1).refuses(NIGFactor())


@pytest.mark.parametrize("solver", [SHOEVD(batch=120), SPGD(batch=120)])
def test_a_gradient_that_is_not_finite_ends_in_a_basis_that_is_not(solver):
    oracle = oracle_of(120, N, RANK, 3)
    summary = summary_of(solver, oracle, [samples(120)])
    lost = replace(summary, total=np.full_like(summary.total, np.inf))
    assert np.isnan(solver.finish(oracle, lost).point).all()
    assert np.isfinite(solver.finish(oracle, summary).point).all()
