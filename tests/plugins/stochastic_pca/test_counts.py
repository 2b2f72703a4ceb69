"""The flops of streaming PCA to the last operation, and the bounds of what is rounding."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from block_passes import oracle_of, passes, summary_of
from orthobench_stochastic_pca._kernels import moment_sums, product_sums
from orthobench_stochastic_pca._kernels.low_rank_sums import leading_part, low_rank_sum, merged
from orthobench_stochastic_pca._kernels.moment_sums import moment_sum
from orthobench_stochastic_pca._kernels.product_sums import (
    AT_ONCE,
    SMALL_PRODUCT,
    panel_width,
    product_sum,
)
from orthobench_stochastic_pca._kernels.rayleigh_ritz import (
    Pairs,
    Space,
    beginning,
    grown,
    grown_flops,
    krylov_pairs,
    krylov_pairs_flops,
    null,
    subspace_pairs,
    subspace_pairs_flops,
)
from orthobench_stochastic_pca._kernels.rounding import corners, fill_trace
from orthobench_stochastic_pca.entries import coefficients, entry_flops, rotated_by_entries
from orthobench_stochastic_pca.mini_batches import EXTREME, ModeratedState, moderated
from orthobench_stochastic_pca.rank_updates import on_subspace, scaled_identity
from orthobench_stochastic_pca.solvers.ada_oja import AdaOja
from orthobench_stochastic_pca.solvers.batch_pca import BLOCK, BatchPCA, erm_flops, leading_rows
from orthobench_stochastic_pca.solvers.ccipca import CCIPCA
from orthobench_stochastic_pca.solvers.frequent_directions import (
    NARROW,
    FrequentDirections,
    shrunk,
    sketched,
)
from orthobench_stochastic_pca.solvers.history_pca import HistoryPCA
from orthobench_stochastic_pca.solvers.incremental import IncrementalPCA
from orthobench_stochastic_pca.solvers.krylov import BlockKrylov, SubspaceIteration
from orthobench_stochastic_pca.solvers.petrels import step_flops
from orthobench_stochastic_pca.solvers.rotating import GrassmannianSGD, Oja
from orthobench_stochastic_pca.solvers.vr_pca import ENDLESS, VRPCA

import orthobench as ob
from orthobench.contract.solver import Status
from orthobench.tools.flops import eigh, polar, qr, svd
from orthobench.tools.geometry import random_point

D, K = 12, 3
DK, DKK = D * K, D * K**2


def samples(n, d=D):
    return np.random.default_rng(0).standard_normal((n, d)) * np.linspace(2, 1, d)


def work(solver, n, budget=None, **more):
    return ob.solve(solver, ob.stochastic_pca(samples(n), K, **more), budget).work


def test_of_rotations_and_directions():
    assert work(Oja(), 20).flops == 20 * (6 * DK + 8 * D + K)
    assert work(GrassmannianSGD(), 20).flops == 20 * (6 * DK + 8 * D + K)
    assert work(CCIPCA(), 20).flops == 20 * 14 * DK


def test_of_blocks_and_of_what_is_left():
    found = work(AdaOja(batch=8), 20)
    assert (found.steps, found.samples) == (3, 20)
    assert found.flops == 4 * 20 * DK + 3 * (5 * DK + qr(D, K))
    found = work(HistoryPCA(batch=8, iterations=2), 20)
    own = 4 * DKK + 2 * DK + qr(D, K)
    assert found.flops == 2 * (4 * 20 * DK + 3 * own) + 3 * 3 * DK


def test_of_passes_with_reduced_variance():
    """A power iteration, a pass for the moment, and a stochastic one, of 20 samples each."""
    found = work(VRPCA(batch=8), 20, passes=3)
    assert (found.steps, found.samples) == (9, 60)
    power = 4 * 20 * DK + 3 * DK + 2 * 20 * D + qr(D, K)
    moment = 4 * 20 * DK + 3 * DK
    moved = 4 * 20 * DK + 3 * (6 * DKK + 5 * DK + polar(K, K) + polar(D, K))
    assert found.flops == power + moment + moved
    found = work(VRPCA(batch=8, epoch=10), 20, passes=1)
    assert (found.steps, found.samples) == (4, 20)
    assert ENDLESS == 1000


@pytest.mark.parametrize(("n", "d", "k"), [(5, 9, 2), (9, 5, 2), (7, 7, 7)])
def test_of_the_cheaper_of_both_moments(n, d, k):
    gram = 2 * n * n * d + eigh(n) + 2 * n * d * k
    moment = 2 * n * d * d + eigh(d)
    assert erm_flops(n, d, k) == min(gram, moment)
    assert (gram < moment) is (n < d)


def test_of_missing_entries():
    assert step_flops(D, K, 5) == D * K**2 + 7 * 5 * K**2 + 11 * 5 * K
    assert entry_flops(4, 30, D, K) == 30 * (2 * K**2 + 6 * K) + 4 * (4 * DK + 8 * D)


SHRUNK = {m: 2 * m * m * D + eigh(m) for m in range(1, 20)}


def test_of_a_sketch_that_is_shrunk_when_it_is_full():
    """Of size 4: after 8 samples, and then after each 5."""
    solver = FrequentDirections(size=4)
    read = {filled: SHRUNK[filled] + 2 * D * K * filled for filled in (5, 6, 7, 3, 4)}
    each = SHRUNK[8] + 2 * D * 3 * 8
    assert work(solver, 7).flops == read[7]
    assert work(solver, 8).flops == each + read[3]
    assert work(solver, 12).flops == each + read[7]
    assert work(solver, 13).flops == 2 * each + read[3]


def test_of_a_sketch_of_a_block():
    """By its second moment where it is narrow and has more rows than columns."""
    for rows, d in product((2 * NARROW + 2, 2 * NARROW + 1, 2 * NARROW), repeat=2):
        sketch, spent = sketched(np.random.default_rng(0).standard_normal((rows, d)), 2)
        assert len(sketch) == 1
        if rows > d and d <= 2 * NARROW:
            assert spent == 2 * d * d * rows + eigh(d)
            continue
        each = {m: 2 * m * m * d + eigh(m) + 2 * d * m for m in (2, 3)}
        pairs, odd = divmod(rows, 2)
        assert spent == each[2] + (pairs - 1) * each[3] + odd * each[2], (rows, d)


def test_a_sketch_lowers_squares_by_that_of_its_size():
    X = np.diag([3.0, 2.0, 1.0, 0.5])
    for size, kept in ((2, [5.0]), (3, [8.0, 3.0]), (4, [8.75, 3.75, 0.75]), (5, [9, 4, 1, 0.25])):
        found = shrunk(X, size)
        squares = np.sort(np.linalg.svd(found, compute_uv=False) ** 2)[::-1]
        np.testing.assert_allclose(squares, kept)
        assert (found is X) is (size == 5)
        block = np.vstack([X, np.zeros((1, 4))])
        narrow, _ = sketched(block, size)
        np.testing.assert_allclose(np.linalg.svd(narrow, compute_uv=False) ** 2, kept)


def test_of_parts_of_low_rank_and_of_their_sum():
    def part(m):
        return 2 * m * m * D + eigh(m) + 2 * K * D * m if m < D else 2 * D * D * m + eigh(D)

    for m in (D - 1, D, D + 1):
        assert low_rank_sum(samples(m), K).flops == part(m)
    a, b = low_rank_sum(samples(20), K), low_rank_sum(samples(5), K)
    both = merged(a, b)
    assert both.flops == a.flops + b.flops + part(2 * K)
    assert both.rows == 25
    assert both.factor.shape == (K, D)
    assert IncrementalPCA().flops(oracle_of(25, D, K), both) == both.flops


def test_a_part_of_low_rank_loses_the_next_eigenvalue():
    for m, k in ((5, 1), (5, 4), (5, 5), (30, 1), (30, 7), (30, 8)):
        X = samples(m)[:, :8]
        values = np.linalg.svd(X, compute_uv=False) ** 2
        factor, lost = leading_part(X, k)
        assert factor.shape == (k, 8)
        np.testing.assert_allclose(np.sum(factor**2, axis=1), values[:k])
        assert lost == pytest.approx(values[k] if k < len(values) else 0.0), (m, k)


def test_a_part_of_no_rows_or_of_rounding_is_empty():
    factor, lost = leading_part(np.zeros((0, 4)), 2)
    assert (factor.shape, lost) == ((0, 4), 0.0)
    X = np.diag([1.0, 1e-4, 1e-7])
    assert len(leading_part(X, 3)[0]) == 2
    assert len(leading_part(X[:, [0, 1, 2, 2]], 3)[0]) == 2


def test_a_few_samples_are_kept_and_more_are_summed():
    assert moment_sum(samples(D)).values.shape == (D, D)
    assert moment_sum(samples(D + 1)).values.shape == (D * (D + 1) // 2,)
    both = moment_sums.merged(moment_sum(samples(5)), moment_sum(samples(20)))
    assert both.rows == 25
    X = np.vstack([samples(5), samples(20)])
    found = moment_sums.unpacked(both.values)
    np.testing.assert_allclose(found, np.triu(X.T @ X))
    assert BatchPCA().flops(oracle_of(25, D, K), both) == erm_flops(25, D, K)


def test_single_precision_is_summed_in_chunks(monkeypatch):
    X = samples(50).astype(np.float32)
    monkeypatch.setattr(moment_sums, "CHUNK", 7)
    found = moment_sums.second_moment(X)
    assert found.dtype == np.float64
    np.testing.assert_allclose(np.triu(found), np.triu(X.T @ X), rtol=1e-5, atol=1e-3)


def test_products_are_summed_over_panels(monkeypatch):
    monkeypatch.setattr(product_sums, "SMALL_PRODUCT", DK * AT_ONCE)
    X, Q = samples(50), np.linalg.qr(samples(D))[0][:, :K]
    found = product_sum(X, Q)
    np.testing.assert_allclose(found.product, X.T @ (X @ Q))
    assert (found.rows, found.flops) == (50, 4 * 50 * DK)
    both = product_sums.merged(found, product_sum(X[:7], Q))
    assert (both.rows, both.flops) == (57, 4 * 57 * DK + DK)
    np.testing.assert_allclose(product_sums.product(X.T, X @ Q), found.product)
    np.testing.assert_allclose(product_sums.moment_product(X.T, Q), found.product)


def test_a_panel_has_a_multiple_of_eight_samples_or_all():
    assert panel_width(SMALL_PRODUCT // 8, 100) == 8
    assert panel_width(SMALL_PRODUCT // 8 + 1, 100) == 100
    assert panel_width(SMALL_PRODUCT // 17, 100) == 16


def step(s, t, m, b, k, krylov):
    """Return the flops of a product and its pairs, and of the next subspace."""
    own = 4 * s * b * t
    if not krylov:
        return own + 2 * s * b * b + eigh(b) + 4 * s * k * b, qr(s, b)
    own += 4 * s * b * m + eigh(m) + 2 * s * k * b
    return own, svd(s, b) + 4 * s * b * m + qr(s, b)


@pytest.mark.parametrize("krylov", [True, False])
@pytest.mark.parametrize(("n", "d"), [(40, 15), (15, 40), (15, 15)])
def test_of_products_and_subspaces(krylov, n, d):
    cls, b = (BlockKrylov if krylov else SubspaceIteration), K + 1
    X, s, t = samples(n, d), min(n, d), max(n, d)
    _, spent = cls(oversampling=1, tolerance=0.0, iterations=2).fit(X, K, 0)
    first, following = step(s, t, b, b, K, krylov)
    second, _ = step(s, t, 2 * b, b, K, krylov)
    end = 2 * s * K * (2 * b if krylov else b)
    begin = 2 * s * b * t + qr(s, b)
    across = 2 * t * K * s + qr(t, K) if n < d else 0
    assert spent == begin + first + following + second + end + across


def test_flops_of_pairs_and_of_a_space_that_is_whole():
    assert krylov_pairs_flops(20, 6, 2, 3) == 4 * 20 * 2 * 6 + eigh(6) + 2 * 20 * 3 * 2
    assert subspace_pairs_flops(20, 4, 3) == 2 * 20 * 4 * 4 + eigh(4) + 4 * 20 * 3 * 4
    assert grown_flops(20, 6, 2) == svd(20, 2) + 4 * 20 * 2 * 6 + qr(20, 2)
    assert grown_flops(6, 6, 2) == 0


@pytest.mark.parametrize("krylov", [True, False])
def test_of_a_pass_over_blocks(krylov):
    solver = (BlockKrylov if krylov else SubspaceIteration)(oversampling=1, iterations=3)
    oracle, X, b = oracle_of(50, D, K), samples(50), K + 1
    blocks, m = np.split(X, [20]), 0
    for shared, summary in passes(solver, oracle, blocks, 2):
        m = m + b if krylov else b
        own, following = step(D, 50, m, b, K, krylov)
        assert solver.flops(shared, summary) == own + D * b + following + 2 * D * K * m
    assert summary_of(solver, oracle, blocks).rows == 50


def space_of(values, m, width):
    """Return a space of the first unit vectors, and the product of its last with a diagonal."""
    n = len(values)
    basis = np.eye(n)[:, :m]
    product = np.diag(values)[:, m - width : m]
    return Space(basis, basis[:, m - width :], np.diag(values[: m - width])), product


def test_ritz_pairs_are_those_of_the_projected_matrix_and_their_residuals():
    rng = np.random.default_rng(0)
    C = rng.standard_normal((9, 9))
    C = C @ C.T
    Q = random_point(9, 5, rng)
    T = Q.T @ C @ Q
    values, Y = np.linalg.eigh(T)
    expected = np.linalg.norm(C @ Q @ Y - Q @ Y * values, axis=0)[::-1][:2]
    space = Space(Q, Q[:, 3:], T[:3, :3])
    found = krylov_pairs(space, C @ Q[:, 3:], 2)
    np.testing.assert_allclose(found.values, values[::-1][:2])
    np.testing.assert_allclose(found.T, T)
    np.testing.assert_allclose(Q.T @ found.rest, 0, atol=1e-12)
    whole = subspace_pairs(beginning(Q), C @ Q, 2)
    np.testing.assert_allclose(whole.values, values[::-1][:2])
    np.testing.assert_allclose(whole.residuals, expected)


def test_pairs_are_done_at_the_tolerance_and_have_the_rank_above_rounding():
    values, residuals = np.array([4.0, 1.0]), np.array([0.1, 0.4])
    pairs = Pairs(values, np.eye(2), residuals, None, None)
    assert pairs.done(0.1)
    assert not pairs.done(0.09)
    assert pairs.rank == 2
    floor = null(values)
    assert floor == pytest.approx(450 * 2.0**-52)
    for share, rank in ((0.9, 1), (1.1, 2)):
        assert Pairs(np.array([1.0, share * floor]), None, None, None, None).rank == rank


def test_a_space_grows_by_the_directions_of_the_product_that_it_lacks():
    space, _ = space_of(np.arange(6.0, 0, -1), 2, 2)
    rest = np.zeros((6, 2))
    rest[3, 0], rest[4, 1] = 2.0, 1.0
    pairs = Pairs(np.array([6.0, 5.0]), None, None, np.diag([6.0, 5.0]), rest)
    found = grown(space, pairs, 5)
    assert found.basis.shape == (6, 4)
    assert found.last.shape == (6, 2)
    np.testing.assert_allclose(found.basis.T @ found.basis, np.eye(4), atol=1e-14)
    assert grown(space, pairs, 1).last.shape == (6, 1)
    assert grown(space, pairs._replace(rest=np.zeros((6, 2))), 5) is None
    # what is rounding is relative to the largest value
    for unit in (1e-6, 1e6):
        for share, width in ((1e-14, 0), (1e-12, 2)):
            scaled = pairs._replace(values=unit * pairs.values, rest=share * unit * rest)
            more = grown(space, scaled, 5)
            assert (0 if more is None else more.last.shape[1]) == width
    whole, _ = space_of(np.arange(2.0, 0, -1), 2, 2)
    assert grown(whole, pairs._replace(rest=rest[:2]), 5) is None


def test_extreme_samples_are_divided_by_a_power_of_two():
    for exponent, moved in (
        (EXTREME, 0), (EXTREME + 1, EXTREME + 1), (-EXTREME, 0), (-EXTREME - 1, -EXTREME - 1)
    ):  # fmt: skip
        state = ModeratedState()
        assert not moderated(state, np.zeros((2, 2))).any()
        assert state.exponent is None
        first = np.ldexp(0.5, [exponent, exponent + 9])
        X = np.array([[0.0, 0.0], [first[0], 0.0], [first[1], 0.0]])
        found = moderated(state, X)
        assert state.exponent == moved
        np.testing.assert_array_equal(found, np.ldexp(X, -moved))
        later = moderated(state, np.ldexp(X, 40))
        np.testing.assert_array_equal(later, np.ldexp(X, 40 - moved))


def test_rows_of_low_rank_have_as_many_singular_vectors():
    X = np.zeros((4, 6))
    assert leading_rows(X, 2).shape == (6, 0)
    assert leading_rows(X[:0], 2).shape == (6, 0)
    X[0, 0], X[1, 1] = 1.0, 1e-9
    assert leading_rows(X, 3).shape == (6, 1)
    X[1, 1] = 1e-5
    np.testing.assert_allclose(np.abs(leading_rows(X, 3)), np.eye(6, 2), atol=1e-8)
    # relative to the largest eigenvalue, here 40: up to 1.6e-10 it is rounding
    X = np.eye(1, 50).repeat(40, axis=0)
    for entry, rank in ((3e-6, 1), (3e-5, 2)):
        X[0, 1] = entry
        assert leading_rows(X, 3).shape == (50, rank)


@pytest.mark.parametrize("d", [BLOCK - 1, BLOCK + 2])
def test_samples_are_summed_once_there_are_as_many_as_features_and_a_block(d):
    rng = np.random.default_rng(0)
    solver, X = BatchPCA(), rng.standard_normal((2 * BLOCK + 9, d))
    rows, at = iter(X), 0
    oracle = SimpleNamespace(
        n=d, k=2, start=random_point(d, 2, rng),
        take=lambda count: np.stack([next(rows) for _ in range(count)]),
    )  # fmt: skip
    state = solver.init(oracle, None)
    first = max(d, BLOCK)
    for count, summed in ((first - 1, 0), (1, BLOCK), (2 * BLOCK - first - 1, BLOCK),
                          (1, 2 * BLOCK)):  # fmt: skip
        solver.advance(oracle, state, count)
        at += count
        assert state.summed == summed
        assert sum(map(len, state.recent)) == at - summed
        right = np.linalg.svd(X[:at])[2][:2]
        np.testing.assert_allclose(
            np.abs(right @ solver.solution(state).point), np.eye(2), atol=1e-8
        )


def test_corners_are_a_convex_combination_of_projections():
    values = np.array([1.0, 0.7, 0.7, 0.4, 0.2])
    total, sums = 0.0, np.zeros(5)
    for weight, chosen in corners(values, 3):
        assert weight > 0
        assert len(set(chosen)) == 3
        total, sums[chosen] = total + weight, sums[chosen] + weight
    assert total == pytest.approx(1)
    np.testing.assert_allclose(sums, values)
    assert [(w, c.tolist()) for w, c in corners(np.array([1.0, 1.0]), 2)] == [(1.0, [0, 1])]


def test_a_trace_is_filled_up_to_k():
    vectors, start = np.eye(6)[:, :2], np.eye(6)[:, 2:5]
    found, values = fill_trace(vectors, np.array([1.0, 0.5]), 0.0, start)
    assert found.shape == (6, 5)
    assert values.sum() == pytest.approx(3)
    np.testing.assert_allclose(values, [1, 0.875, 0.375, 0.375, 0.375])
    same, kept = fill_trace(np.eye(6)[:, :3], np.ones(3), 0.0, start)
    assert same.shape == (6, 3)
    np.testing.assert_array_equal(kept, 1)
    whole, all_values = fill_trace(vectors, np.array([1.0, 0.8]), 0.3, start)
    assert whole.shape == (6, 6)
    np.testing.assert_allclose(all_values, [1.0, 0.8, 0.3, 0.3, 0.3, 0.3])
    np.testing.assert_allclose(whole.T @ whole, np.eye(6), atol=1e-14)


def test_first_iterates_are_multiples_of_projections():
    identity = scaled_identity(5, 0.25)
    assert (identity.basis.shape, len(identity.values), identity.floor) == ((0, 5), 0, 0.25)
    U = random_point(5, 2, np.random.default_rng(0))
    found = on_subspace(U, 0.5, full=True)
    np.testing.assert_array_equal(found.basis, U.T)
    assert found.values.tolist() == [0.5, 0.5]
    assert (found.floor, found.full, found.drift, found.flops) == (0.0, True, 0.0, 0)


@pytest.mark.parametrize("eta", [0.1, 1.0])
def test_a_rotation_by_entries_is_that_of_the_residual_at_those_observed(eta):
    rng = np.random.default_rng(0)
    rows, x = random_point(7, 2, rng).T, rng.standard_normal(7)
    seen = np.array([True, True, False, True, True, False, True])
    found = rotated_by_entries(rows, x[None], seen[None], np.array([eta]))
    w = np.linalg.lstsq(rows[:, seen].T, x[seen], rcond=None)[0]
    np.testing.assert_allclose(coefficients(rows[:, seen].T, x[seen]), w)
    p = w @ rows
    r = np.where(seen, x - p, 0.0)
    angle = eta * np.linalg.norm(p) * np.linalg.norm(r)
    along = (np.cos(angle) - 1) * p / np.linalg.norm(p) + np.sin(angle) * r / np.linalg.norm(r)
    np.testing.assert_allclose(found, rows + np.outer(w / np.linalg.norm(w), along), atol=1e-12)
    few = np.arange(7) < 2
    np.testing.assert_allclose(
        rotated_by_entries(rows, x[None], few[None], np.array([eta])), rows, atol=1e-12
    )


def test_a_step_of_ada_oja_is_of_each_column_or_of_all():
    """A block of zeros before it says nothing, neither of the unit."""
    X = samples(8)
    for rates in ("column", "common"):
        solver = AdaOja(batch=8, rates=rates)
        blocks = iter([0 * X, X])
        oracle = SimpleNamespace(
            n=D, k=K, start=random_point(D, K, np.random.default_rng(0)),
            take=lambda _, left=blocks: next(left),
        )  # fmt: skip
        state = solver.init(oracle, None)
        solver.advance(oracle, state, 1)
        np.testing.assert_array_equal(state.U, oracle.start)
        assert not state.squares.any()
        solver.advance(oracle, state, 1)
        G = X.T @ (X @ oracle.start) / 8
        first = (1e-5 * np.sum(X * X) / 8) ** 2
        squares = first + (np.sum(G * G, axis=0) if rates == "column" else np.sum(G * G))
        np.testing.assert_allclose(state.squares, np.broadcast_to(squares, K))
        Q = np.linalg.qr(oracle.start + G / np.sqrt(squares))[0]
        np.testing.assert_allclose(np.abs(np.diag(Q.T @ state.U)), 1.0)
        assert state.status is Status.RUNNING
