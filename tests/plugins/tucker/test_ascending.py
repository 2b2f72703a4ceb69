"""The rule "ascending" of pgd at its bounds, and the forms of a batch's gradient."""

from itertools import product
from math import comb

import numpy as np
import pytest
from block_passes import oracle_of, passes
from orthobench_tucker._kernels.ascending import (
    CUT,
    GROWTH,
    PATIENCE,
    ROUNDING,
    SMALLEST,
    Iterate,
    end_slopes,
    next_step_size,
    sufficient,
)
from orthobench_tucker._kernels.pgd_passes import core_sum
from orthobench_tucker._kernels.pgd_state import accepts, first_state
from orthobench_tucker.solvers.pgd import PGD
from orthobench_tucker.solvers.shoevd import SHOEVD
from orthobench_tucker.solvers.spgd import GRAM_FORM, SPGD, monomial_table
from orthobench_tucker.streaming import StreamState, count_batches, split

from orthobench.contract.parameters import ParameterError
from orthobench.contract.solver import Status
from orthobench.tools.flops import qr, svd
from orthobench.tools.geometry import random_point

BASIS = random_point(5, 2, np.random.default_rng(0)).T


def at(objective, relative=0.5):
    tangent = np.zeros_like(BASIS)
    return Iterate(BASIS, np.eye(2), tangent, objective, relative)


def test_a_step_gains_a_tenth_of_what_its_length_promises():
    """min(s, 1) |V|² / (10 (2d F + |V|)), with |V| = F / 2."""
    for case in product([0.1, 1.0, 1000.0], [2, 3]):
        step, order = case
        F = 4.0
        least = min(step, 1.0) * (F / 2) ** 2 / (10 * (2 * order * F + F / 2))
        assert sufficient(at(F), at(F + 1.01 * least), order, step), case
        assert not sufficient(at(F), at(F + 0.99 * least), order, step), case
        assert not sufficient(at(F), at(F - least), order, step), case


def test_of_equal_values_a_gradient_half_as_large_is_accepted():
    for case in [
        (0.0, 0.25, True),
        (0.5 * ROUNDING, 0.25, True),
        (2 * ROUNDING, 0.25, False),
        (0.0, 0.26, False),
    ]:
        fall, relative, accepted = case
        assert sufficient(at(4.0), at(4.0 * (1 - fall), relative), 3, 1.0) is accepted, case


def test_a_rejected_step_is_cut_and_after_three_accepted_ones_it_grows():
    assert (CUT, GROWTH, PATIENCE, SMALLEST) == (10, 2, 3, 1e-16)
    step, accepted = 1.0, 0
    steps = []
    for _ in range(8):
        step, accepted = next_step_size(step, 5.0, accepted)
        steps.append(step)
    assert steps == [1, 1, 2, 2, 2, 4, 4, 4]
    assert next_step_size(4.0, 5.0, 2) == (5.0, 0)
    assert next_step_size(5.0, 5.0, 2) == (5.0, 3)


def test_slopes_at_both_ends_are_those_of_the_curve_between():
    """On the circle, at an angle a from the axis of F = cos²: Q'Y = cos a, and D = tan a."""
    first, last = (np.array([[np.cos(a), np.sin(a)]]) for a in (0.3, 0.1))
    across = [np.array([[-np.sin(a), np.cos(a)]]) * -np.sin(2 * a) for a in (0.3, 0.1)]
    ends = [Iterate(Q, np.eye(1), V, 1.0, 1.0) for Q, V in zip((first, last), across, strict=True)]
    slopes = end_slopes(*ends)
    expected = np.tan(0.2) * np.sin(0.6), np.tan(0.2) * np.sin(0.2)
    assert slopes == pytest.approx(expected)
    square = Iterate(np.eye(2)[1:], *ends[0][1:]), Iterate(np.eye(2)[:1], *ends[0][1:])
    assert end_slopes(*square) == (np.inf, np.inf)


def test_the_core_of_a_batch_is_taken_where_it_has_no_more_columns_than_samples():
    """Of 3 columns and order 3 there are 6 monomials of degree 2."""
    for case in [(5, False), (6, True), (7, True)]:
        batch, core = case
        table = monomial_table(3, 3, batch)
        assert (table is not GRAM_FORM) is core, case
        assert len(table[2]) == (6 if core else 0), case
        if core:
            assert sorted(table[2].tolist()) == [1, 1, 1, 2, 2, 2], case


def test_the_first_phase_takes_batches_no_larger_than_the_second():
    assert SPGD(batch=20, hoevd_batch=20).hoevd_batch == 20
    with pytest.raises(ParameterError, match="hoevd_batch must be at most batch = 20, not 21"):
        SPGD(batch=20, hoevd_batch=21)


def test_a_state_accepts_a_step_or_cuts_the_next_one():
    state = first_state(at(4.0), 8.0)
    lengths = np.sum(state.iterate.inner**2) + np.sum(state.iterate.tangent**2)
    np.testing.assert_allclose(state.squares, 1e-10 * lengths)
    assert not accepts(state, at(3.0), 3, 8.0)
    assert (state.objective, state.step_size, state.accepted) == (4.0, 0.8, 0)
    assert accepts(state, at(5.0), 3, 8.0)
    assert (state.objective, state.step_size, state.accepted) == (5.0, 0.8, 1)
    state.step_size = 2 * SMALLEST
    assert not accepts(state, at(3.0), 3, 8.0)
    assert (state.step_size, state.accepted) == (SMALLEST, 0)


P, N, R, ORDER = 30, 6, 2, 3
SIZE = comb(R + ORDER - 2, ORDER - 1)
X = np.random.default_rng(0).exponential(size=(P, N)) - 1
CORE = 2 * N * R + SIZE + 2 * N * SIZE
STEP = 6 * N * R * SIZE + 4 * N * R**2 + 2 * R**2 * SIZE + 2 * N * R**2 + qr(N, R)


def test_passes_of_pgd_are_counted_by_what_they_compute():
    """A sketch, then partial cores; blocks of 12 and 18 samples are added up once."""
    solver, oracle, blocks = PGD(), oracle_of(P, N, R, ORDER), np.split(X, [12])
    counts = [
        solver.flops(shared, summary) for shared, summary in passes(solver, oracle, blocks, 3)
    ]
    sketch = 2 * ORDER * P * N * N + (ORDER - 2) * P * N + N * N + svd(N, N)
    assert counts == [sketch, *2 * [P * CORE + N * SIZE + STEP]]
    shared, summary = next(passes(PGD(start="random"), oracle, blocks, 1))
    assert PGD(start="random").flops(shared, summary) == counts[1]
    total, spent = core_sum(X, oracle.start.T, ORDER)
    assert spent == P * CORE
    np.testing.assert_allclose(summary.total, total)
    products = X @ oracle.start
    monomials = np.stack([products[:, i] * products[:, j] for i, j in ((0, 0), (0, 1), (1, 1))])
    np.testing.assert_allclose(total, monomials @ X)


def test_blocks_take_one_rule_and_some_starts():
    for case in [
        ({"rule": "adagrad"}, "rule ascending"),
        ({"start": "hoevd"}, "not from hoevd"),
        ({}, None),
    ]:
        settings, why = case
        refusal = PGD(**settings).refusal_of_passes()
        assert refusal is None if why is None else why in refusal, case


def test_samples_are_whole_batches_and_what_is_left():
    for count, parts in (
        (6, [(6, 3, 2)]),
        (7, [(6, 3, 2), (1, 1, 1)]),
        (2, [(0, 3, 0), (2, 2, 1)]),
    ):
        assert [(len(rows), b, some) for rows, b, some in split(X[:count], 3)] == parts


def test_batches_are_counted_and_the_next_one_named_where_it_overflows():
    state = StreamState(rows=None, gamma=None)
    count_batches(state, 4, 4, 5, 100)
    assert (state.work.steps, state.work.samples, state.work.flops) == (4, 20, 400)
    assert state.status is Status.RUNNING
    count_batches(state, 4, 3, 5, 100)
    assert (state.work.steps, state.status) == (7, Status.FAILED)
    assert "the gradient of batch 8 overflows" in state.reason


def plain_gradient(Q, first):
    """Return (2/b²) X (X'X)^[2] X'Q, or (6/b²) X (X'QQ'X)^[2] X'Q, weighted by batches of 12."""
    total = np.zeros_like(Q)
    for batch in (X[:12], X[12:24], X[24:]):
        Y, b = batch @ Q, len(batch)
        kernel = (batch @ batch.T if first else Y @ Y.T) ** (ORDER - 1)
        total += b * (2 if first else 2 * ORDER) / b**2 * batch.T @ (kernel @ Y)
    return total


@pytest.mark.parametrize("solver", [SHOEVD(batch=12), SPGD(batch=12, hoevd_steps=1)])
def test_a_pass_follows_the_mean_gradient_of_its_batches(solver):
    oracle = oracle_of(P, N, R, ORDER)
    Q, gamma, step = oracle.start, None, 4 * N * R + qr(N, R)
    products = 4 * 12 * R * N + 2 * 12 * 12 * R
    for number, (shared, summary) in enumerate(passes(solver, oracle, [X], 2)):
        first = number == 0 or isinstance(solver, SHOEVD)
        G = plain_gradient(Q, first)
        np.testing.assert_allclose(summary.total.T, G, rtol=1e-9)
        own = 2 * 12 * 12 * N if first else 2 * 12 * 12 * R
        assert summary.flops == 3 * (products + own + 12 * 12 + step)
        G = G / P
        if number == 0 or not first:
            gamma = 1e-5 * np.linalg.norm(G)
        gamma = np.sqrt(gamma**2 + np.sum(G * G, axis=0))
        Q = np.linalg.qr(Q + G / gamma)[0]
        found = solver.finish(shared, summary).point
        np.testing.assert_allclose(np.abs(np.diag(Q.T @ found)), 1.0)
        Q = found
