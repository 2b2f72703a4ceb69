"""Summaries of blocks: what merging keeps exactly, and the bounds on what it loses."""

from itertools import pairwise

import numpy as np
import pytest
from block_passes import cut, oracle_of, points, summary_of
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.geometry import subspace_error
from orthobench_stochastic_pca.solvers import frequent_directions
from orthobench_stochastic_pca.solvers.batch_pca import BatchPCA, MomentSum, unpacked
from orthobench_stochastic_pca.solvers.frequent_directions import FrequentDirections
from orthobench_stochastic_pca.solvers.incremental import IncrementalPCA
from orthobench_stochastic_pca.solvers.krylov import BlockKrylov, SubspaceIteration
from orthobench_stochastic_pca.solvers.rotating import Oja

import orthobench as ob
from orthobench.tools.geometry import drift

SOLVERS = [
    BatchPCA(),
    IncrementalPCA(),
    FrequentDirections(size=12),
    BlockKrylov(tolerance=0.0, iterations=4),
    SubspaceIteration(tolerance=0.0, iterations=4),
    Oja(relative=False, step_size=0.1),
]
NAMES = [solver.name for solver in SOLVERS]


def decaying(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d)) * np.geomspace(3, 0.3, d)


def leading(X, k):
    return np.linalg.svd(X, full_matrices=False)[2][:k].T


@st.composite
def splits(draw):
    """Rows in blocks, and how to merge them: which neighbours, one pair after another."""
    n, d = draw(st.integers(1, 60)), draw(st.integers(2, 12))
    X = decaying(n, d, draw(st.integers(0, 5)))
    X = X if draw(st.booleans()) else np.round(X)
    ends = sorted({0, n, *draw(st.lists(st.integers(1, n), max_size=5))})
    parts = [X[a:b] for a, b in pairwise(ends)]
    order = [draw(st.integers(0, i - 1)) for i in range(len(parts) - 1, 0, -1)]
    return X, parts, order


def merged_in(order, parts, merge):
    parts = list(parts)
    for i in order:
        parts[i : i + 2] = [merge(parts[i], parts[i + 1])]
    return parts[0]


def gap(X, B):
    """Return the least and the largest eigenvalue of X'X - B'B."""
    return np.linalg.eigvalsh(X.T @ X - B.T @ B)[[0, -1]]


@given(splits())
def test_moments_of_any_blocks_merge_to_that_of_all_samples(split):
    X, parts, order = split
    whole = merged_in(order, map(MomentSum.of, parts), BatchPCA().merge)
    assert whole.rows == len(X)
    if len(X) <= X.shape[1]:
        np.testing.assert_array_equal(whole.values, X)
    else:
        C = unpacked(whole.values)
        np.testing.assert_allclose(C, np.triu(X.T @ X), rtol=1e-12, atol=1e-12)


@given(splits(), st.integers(1, 5))
def test_low_rank_sum_is_below_the_moment_by_at_most_its_loss(split, k):
    X, parts, order = split
    solver, oracle = IncrementalPCA(), oracle_of(len(X), X.shape[1], min(k, X.shape[1]))
    whole = merged_in(order, [solver.summarize(oracle, part) for part in parts], solver.merge)
    unit = max(np.linalg.norm(X, 2) ** 2, 1e-300)
    least, largest = gap(X, whole.factor)
    assert least >= -1e-12 * unit
    assert largest <= whole.lost + 1e-12 * unit


@pytest.mark.parametrize("n", [5, 300])
def test_incremental_pca_of_samples_of_rank_k_is_exact(n):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4)) @ rng.standard_normal((4, 30))
    oracle = oracle_of(n, 30, 4)
    whole = summary_of(IncrementalPCA(), oracle, cut(X, 5))
    assert whole.lost <= 1e-12 * np.linalg.norm(X, 2) ** 2
    np.testing.assert_allclose(whole.factor.T @ whole.factor, X.T @ X, rtol=1e-10, atol=1e-10)
    assert subspace_error(leading(X, 4), IncrementalPCA().finish(oracle, whole).point) < 1e-10


@pytest.mark.parametrize("narrow", [0, 16])
@given(split=splits(), size=st.integers(2, 8))
def test_frequent_directions_keep_their_bound_for_all_merges(narrow, split, size):
    X, parts, order = split
    solver, oracle = FrequentDirections(size=size), oracle_of(len(X), X.shape[1], 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frequent_directions, "NARROW", narrow)
        made = [solver.summarize(oracle, part) for part in parts]
    whole = merged_in(order, made, solver.merge)
    assert len(whole.sketch) < size or len(X) < size
    squares = np.append(np.linalg.svd(X, compute_uv=False) ** 2, 0.0)
    bound = min(squares[j:].sum() / (size - j) for j in range(min(size, len(squares))))
    least, largest = gap(X, whole.sketch)
    unit = max(squares[0], 1e-300)
    assert least >= -1e-12 * unit
    assert largest <= bound + 1e-12 * unit


@pytest.mark.parametrize("solver", [BatchPCA(), BlockKrylov(), SubspaceIteration()], ids=str)
@pytest.mark.parametrize("shape", [(20, 40), (500, 40)])
def test_lossless_merges_find_the_leading_singular_vectors(solver, shape):
    X = decaying(*shape)
    *_, found = points(solver, oracle_of(*shape, 4), cut(X, 6), 100)
    assert subspace_error(leading(X, 4), found) < 1e-5
    if solver.name == "batch-pca":
        streamed = ob.solve(solver, ob.stochastic_pca(X, k=4)).solution
        assert subspace_error(streamed, found) < 1e-10


@pytest.mark.parametrize("q", [1, 3])
def test_a_pass_is_one_product_more_of_the_krylov_space(q):
    X, k = decaying(200, 40), 3
    oracle = oracle_of(200, 40, k)
    solver = BlockKrylov(oversampling=2, tolerance=0.0, iterations=q)
    found = points(solver, oracle, cut(X, 3), q)[-1]
    C = X.T @ X
    powers = [oracle.rng().standard_normal((40, k + 2))]
    for _ in range(q - 1):
        powers.append(C @ np.linalg.qr(powers[-1])[0])
    Q = np.linalg.qr(np.hstack(powers))[0]
    Y = np.linalg.eigh(Q.T @ C @ Q)[1]
    assert subspace_error(Q @ Y[:, -k:], found) < 1e-9


def test_oja_on_one_block_is_oja():
    X = decaying(1500, 20)
    oracle = oracle_of(1500, 20, 3)
    found = points(Oja(relative=False, step_size=0.1), oracle, [X])[0]
    instance = ob.stochastic_pca(X, k=3)
    stream = instance.oracle
    stream.start = oracle.start
    stream.prepare(1500)
    state = Oja(relative=False, step_size=0.1).init(stream, np.random.default_rng(0))
    Oja(relative=False, step_size=0.1).advance(stream, state, 1500)
    assert subspace_error(Oja(relative=False).solution(state).point, found) < 1e-10


def test_average_of_ojas_subspaces_is_within_its_bound():
    X = decaying(8000, 20)
    solver, oracle = Oja(relative=False, step_size=0.3), oracle_of(8000, 20, 3)
    blocks = cut(X, 8)
    parts = [solver.summarize(oracle, block) for block in blocks]
    whole = summary_of(solver, oracle, blocks)
    total = sum(part.factor.T @ part.factor for part in parts)
    assert np.trace(total) == pytest.approx(3 * 8000)
    least, largest = np.linalg.eigvalsh(total - whole.factor.T @ whole.factor)[[0, -1]]
    assert least >= -1e-8
    assert 0 < largest <= whole.lost
    best = leading(X, 3)
    errors = [subspace_error(best, solver.finish(oracle, part).point) for part in parts]
    assert subspace_error(best, solver.finish(oracle, whole).point) < np.median(errors)


@pytest.mark.parametrize("solver", SOLVERS, ids=NAMES)
def test_blocks_of_zeros_are_completed_from_the_start(solver):
    oracle = oracle_of(4, 6, 2)
    zeros = points(solver, oracle, [np.zeros((2, 6))] * 2)[0]
    assert subspace_error(oracle.start, zeros) < 1e-12
    x = np.zeros((1, 6))
    x[0, 3] = 2.0
    one = points(solver, oracle, [x, np.zeros((3, 6))])[0]
    assert drift(one) < 1e-12
    if solver.name != "oja":
        assert np.linalg.norm(one[3]) == pytest.approx(1.0)
