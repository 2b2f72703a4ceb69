"""What methods on the relaxation begin with, and the unit in which their steps are measured."""

import numpy as np
import pytest
from orthobench_stochastic_pca._kernels.factored_sum import MIN_ROWS, FactoredSum
from orthobench_stochastic_pca._kernels.spectrum import (
    CAPPED,
    COMPLEMENT,
    DENSITY,
    FANTOPE,
    TRUNCATED,
)
from orthobench_stochastic_pca.schedule import FIRST, UNKNOWN, Scheduled, Unit
from orthobench_stochastic_pca.solvers.entropic import MEG, WarmuthKuzmin
from orthobench_stochastic_pca.solvers.incremental import IncrementalPCA
from orthobench_stochastic_pca.solvers.msg import MSG, CappedMSG

import orthobench as ob
from orthobench.errors import UsageError
from orthobench.tools.geometry import random_point

D, K = 6, 2


@pytest.fixture
def oracle():
    X = np.random.default_rng(0).standard_normal((20, D))
    oracle = ob.stochastic_pca(X, K).oracle
    oracle.start = random_point(D, K, np.random.default_rng(0))
    return oracle


def matrix(solver, oracle):
    """Return the first M."""
    iterate = solver.initial(oracle)
    values, floor = solver.eigenvalues(iterate)
    U = iterate.basis.T
    return (U * (values - floor)) @ U.T + floor * np.eye(D)


def test_each_begins_at_zero_at_a_share_of_its_start_or_at_the_centre(oracle):
    P = oracle.start @ oracle.start.T
    np.testing.assert_allclose(matrix(MSG(), oracle), np.zeros((D, D)))
    np.testing.assert_allclose(matrix(MSG(start="random"), oracle), P)
    np.testing.assert_allclose(matrix(WarmuthKuzmin(), oracle), np.zeros((D, D)))
    np.testing.assert_allclose(matrix(WarmuthKuzmin(start="random"), oracle), 0.9 * P)
    np.testing.assert_allclose(matrix(MEG(), oracle), K / D * np.eye(D))
    assert MSG(start="random").initial(oracle).full
    assert not WarmuthKuzmin(start="random").initial(oracle).full


def test_each_projects_onto_its_set_with_its_rank(oracle):
    assert MSG().projection(oracle) == (FANTOPE, K, D, True)
    assert WarmuthKuzmin().projection(oracle) == (COMPLEMENT, K, D, True)
    assert MEG().projection(oracle) == (DENSITY, K, D, True)
    assert CappedMSG().projection(oracle) == (CAPPED, K, K + 1, True)
    assert CappedMSG(K=K).projection(oracle).max_rank == K
    assert CappedMSG(K=D + 1).projection(oracle).max_rank == D
    with pytest.raises(UsageError, match="K = 1 is below k = 2"):
        CappedMSG(K=1).projection(oracle)
    for ties, old in (("old", True), ("new", False)):
        assert IncrementalPCA(ties=ties).projection(oracle) == (TRUNCATED, K, K, old)


def test_a_unit_is_the_mean_square_of_the_first_samples_that_are_not_zero():
    rows = np.random.default_rng(0).standard_normal((FIRST + 5, 3))
    rows[[0, 4]] = 0
    squares = np.sum(rows**2, axis=1)
    means, unit = UNKNOWN.along(rows)
    assert means[0] == 1
    some = np.flatnonzero(squares)
    for i in range(1, FIRST + 5):
        before = some[some <= i][:FIRST]
        assert means[i] == pytest.approx(squares[before].mean())
    assert unit.samples == FIRST
    assert unit.energy == pytest.approx(squares[some[:FIRST]].sum())
    assert FIRST == 16


def test_a_unit_goes_on_from_one_chunk_to_the_next():
    rows = np.random.default_rng(0).standard_normal((FIRST + 5, 3))
    whole, unit = UNKNOWN.along(rows)
    parts, at = [], UNKNOWN
    for part in (rows[:3], rows[3:3], rows[3:FIRST], rows[FIRST:]):
        means, at = at.along(part)
        parts.append(means)
    assert np.array_equal(np.concatenate(parts), whole)
    assert at == unit


@pytest.mark.parametrize("samples", [FIRST - 1, FIRST])
def test_steps_are_divided_by_the_unit_which_later_samples_do_not_change(samples):
    before = Unit(3.0 * samples, samples)
    rows = np.full((2, 4), 2.0)  # of square 16
    etas, after = Scheduled(step_size=6.0, schedule="constant").etas_along(7, rows, before)
    if samples == FIRST:
        assert etas.tolist() == [2.0, 2.0]
        assert after == before
    else:
        mean = (3.0 * (FIRST - 1) + 16) / FIRST
        np.testing.assert_allclose(etas, 6.0 / mean)
        assert after.samples == FIRST
    plain, same = Scheduled(relative=False, step_size=6.0).etas_along(4, rows, before)
    np.testing.assert_allclose(plain, [6 / 2, 6 / np.sqrt(5)])
    assert same is before


def test_a_sum_is_compressed_above_so_many_rows_and_dense_above_half_the_rank():
    rng = np.random.default_rng(0)
    for rank, dense in ((3, False), (4, True)):
        P = rng.standard_normal((MIN_ROWS, rank)) @ rng.standard_normal((rank, 7))
        one = FactoredSum().plus(P)
        assert (one.rows, len(one.factors)) == (MIN_ROWS, 1)
        assert np.array_equal(one.factors[0], P)
        more = one.plus(P[:1])
        assert (more.dense is not None) is dense
        if not dense:
            assert (more.rows, more.limit, more.factors[0].shape) == (3, MIN_ROWS, (3, 7))
        values, vectors = more.plus(P[1:3]).spectrum()
        S = P.T @ P + P[:3].T @ P[:3]
        assert len(values) == rank
        np.testing.assert_allclose((vectors * values) @ vectors.T, S, rtol=1e-9, atol=1e-9)


def test_a_limit_is_twice_the_rank_where_that_is_more():
    P = np.eye(MIN_ROWS, 3 * MIN_ROWS)
    found = FactoredSum().plus(P[:-1]).plus(np.eye(2, 3 * MIN_ROWS, MIN_ROWS))
    assert (found.rows, found.limit) == (MIN_ROWS + 1, 2 * MIN_ROWS + 2)
