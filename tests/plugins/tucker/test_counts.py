"""The flops of symmetric Tucker decomposition to the last operation, and what is rounding."""

from math import comb, inf
from types import SimpleNamespace

import numpy as np
import pytest
from block_passes import oracle_of
from orthobench_kit.sources import ArraySource
from orthobench_tucker import GivenTensorOracle, MomentOracle, MomentStream
from orthobench_tucker._kernels import unfoldings
from orthobench_tucker._kernels.block_sums import BlockSum, added, in_double
from orthobench_tucker._kernels.cp_iterates import objective_flops
from orthobench_tucker._kernels.geodesics import arrival_flops, geodesic_flops, transport_flops
from orthobench_tucker._kernels.inverse_hessians import LimitedMemory, LocalMatrix, curved
from orthobench_tucker._kernels.moment_entries import leading_basis_flops, merged, moment_entries
from orthobench_tucker._kernels.pair_cores import (
    core_along_flops,
    core_of_pairs_flops,
    pair_core_flops,
)
from orthobench_tucker._kernels.sample_cores import SampleCores
from orthobench_tucker._kernels.tensor_cores import TensorCores
from orthobench_tucker._kernels.unfoldings import by_entries
from orthobench_tucker.line_search import Trial, wolfe_search
from orthobench_tucker.objective import (
    derivatives_flops,
    evaluation_flops,
    gain,
    hessian_flops,
)
from orthobench_tucker.second_order import (
    AscentState,
    check_point,
    core_metric,
)
from orthobench_tucker.sketch import (
    SEEN,
    leading_directions,
    power_flops,
    sketch_flops,
    sketched_basis_flops,
)
from orthobench_tucker.solvers.cp_adam import step_flops as adam_flops
from orthobench_tucker.solvers.hoevd import HOEVD
from orthobench_tucker.solvers.hooi import HOOI, leading_left
from orthobench_tucker.solvers.hoqri import HOQRI
from orthobench_tucker.solvers.khatri_rao_sketch import KhatriRaoSketch
from orthobench_tucker.solvers.spgd import tucker_flops
from orthobench_tucker.solvers.trust_region import TrustRegion
from orthobench_tucker.starts import MANY, chosen, first_basis_flops, shoevd_flops, signed
from orthobench_tucker.stopping import LOOKED_AT, count_returns, fail_if_vanishing, perturbed
from orthobench_tucker.streaming import hoevd_flops
from orthobench_tucker.streaming import step_flops as streaming_flops

import orthobench as ob
from orthobench.contract.solver import State, Status
from orthobench.tools.flops import eigh, qr, svd
from orthobench.tools.geometry import random_point

P, N, R = 30, 7, 2


def rows(p=P, n=N, seed=0):
    return np.random.default_rng(seed).exponential(size=(p, n)) - 1


def moment(order=3, p=P, r=R):
    oracle = MomentOracle(rows(p), order, r)
    oracle.start = random_point(N, r, np.random.default_rng(0))
    return oracle


ORDERS = pytest.mark.parametrize("d", [2, 3, 4])


def size(d, r=R):
    """Return how many monomials of degree d - 1 there are of r variables."""
    return comb(r + d - 2, d - 1)


def from_samples(d, p=P):
    return 2 * p * N * R + p * size(d) + 2 * p * N * size(d)


def from_tensor(d):
    return sum(2 * N ** (d - i) * R ** (i + 1) for i in range(d - 1))


def derived(d):
    """Return those of F and its gradient from W."""
    return 6 * N * R * size(d) + 4 * N * R**2 + 2 * R**2 * size(d)


@ORDERS
def test_of_partial_cores_and_their_derivatives(d):
    samples = SampleCores(rows(), d)
    assert samples.at_flops(R) == from_samples(d)
    along = 4 * P * N * R + 3 * P * size(d) + 2 * P * N * size(d)
    assert samples.along_flops(R) == along
    tensor = TensorCores(np.zeros((N,) * d))
    assert tensor.at_flops(R) == from_tensor(d)
    assert tensor.along_flops(R) == from_tensor(d) + (d - 2) * N * R ** (d - 1)
    assert evaluation_flops(samples, R) == from_samples(d) + derived(d)
    assert evaluation_flops(samples, R, pairs=True) == from_samples(d) + derived(d)
    assert evaluation_flops(tensor, R) == from_tensor(d) + derived(d)
    curved_part = 8 * N * R * size(d) + 6 * N * R**2
    assert hessian_flops(samples, R) == along + curved_part
    assert derivatives_flops(N, R, 5) == 6 * N * R * 5 + 4 * N * R**2 + 2 * R**2 * 5


@pytest.mark.parametrize("d", [3, 4])
def test_of_pair_cores(d):
    pairs = sum(2 * R ** (i + 1) * N ** (d - i) for i in range(d - 2))
    of_pairs = size(d - 1) * 2 * N * R * N
    assert pair_core_flops(N, R, d) == pairs
    assert core_of_pairs_flops(N, R, d) == of_pairs
    assert core_along_flops(N, R, d) == of_pairs + (d - 2) * N * size(d)
    tensor = TensorCores(np.zeros((N,) * d))
    assert evaluation_flops(tensor, R, pairs=True) == pairs + of_pairs + derived(d)
    curved_part = 8 * N * R * size(d) + 6 * N * R**2
    assert hessian_flops(tensor, R) == core_along_flops(N, R, d) + curved_part


def test_of_a_matrix_there_are_no_pairs():
    tensor = TensorCores(np.zeros((N, N)))
    assert evaluation_flops(tensor, R, pairs=True) == evaluation_flops(tensor, R)
    assert hessian_flops(tensor, R) == from_tensor(2) + 8 * N * R * size(2) + 6 * N * R**2


def test_of_geodesics():
    assert geodesic_flops(N, R) == svd(N, R) + 2 * N * R**2
    assert arrival_flops(N, R) == 8 * N * R**2 + 12 * N * R
    assert transport_flops(N, R, 3) == 4 * N * R * 3 + 3 * N * R + 3 * N


def test_of_approximations_of_the_inverse_hessian():
    memory, moved = LimitedMemory(5, True), 4 * N * R**2 + 4 * N * R
    blank = eigh(R) + 12 * N * R + 2 * N * R**2
    assert memory.step_flops(N, R) == blank
    memory.pairs = [(None, None)] * 3
    assert memory.step_flops(N, R) == blank + 2 * N * R**2 + 3 * (12 * N * R + 2 * moved)
    k = (N - R) * R
    frame = 6 * N * (N - R) * R + 4 * N * R**2 + transport_flops(N, R, N - R)
    assert LocalMatrix.step_flops(None, N, R) == 7 * k * k + frame


def test_of_streams():
    step = 4 * N * R + qr(N, R)
    assert streaming_flops(N, R) == step
    for d in (2, 3, 4):
        kernel = 2 * 5 * 5 * N + (d - 2) * 25
        assert hoevd_flops(N, R, d, 5) == kernel + 4 * 5 * R * N + 2 * 5 * R * 5 + step
        assert tucker_flops((N, R, d), 5) == 4 * 5 * R * N + 4 * 25 * R + (d - 2) * 25 + step
        both = P + 4
        assert objective_flops(N, 4, P, d) == 2 * both * 4 * N + d * both * 4
        adam = 14 * 4 * (N + 1)
        assert adam_flops(N, 4, P, d) == 4 * both * 4 * N + (d + 2) * both * 4 + adam


def test_of_the_start_by_streaming():
    """20 batches of 50 at most, and a last one of fewer."""
    whole, last = hoevd_flops(N, R, 3, 50), hoevd_flops(N, R, 3, 20)
    assert shoevd_flops(120, N, R, 3) == 2 * whole + last
    assert shoevd_flops(20, N, R, 3) == last
    assert shoevd_flops(1000, N, R, 3) == shoevd_flops(1020, N, R, 3) == 20 * whole


def test_of_sketches():
    for d in (2, 3, 4):
        own = 2 * d * P * N * 5 + (d - 2) * P * 5
        assert sketch_flops(P, N, 5, d) == own
        power = 2 * P * P * N + 2 * P * P * 5 + (d - 2) * P * P + 4 * P * N * 5
        assert power_flops(P, N, 5, d) == power
        assert sketched_basis_flops(P, 40, R, d) == sketch_flops(P, 40, 12, d) + svd(40, 12)
        assert sketched_basis_flops(P, N, R, d) == sketch_flops(P, N, N, d) + svd(N, N)


def test_of_a_sketch_in_batches_with_power_steps():
    outcome = ob.solve(
        KhatriRaoSketch(batch=8, oversampling=1, power=2),
        ob.symmetric_tucker(samples=rows().T, order=3, rank=R),
    )
    assert (outcome.work.steps, outcome.work.samples) == (4, P)
    batches = sketch_flops(P, N, 3, 3) + 4 * N * 3
    assert outcome.work.flops == batches + 2 * power_flops(P, N, 3, 3)


def test_of_blocks_and_their_sums():
    solver, oracle = KhatriRaoSketch(oversampling=1), oracle_of(P, N, R, 3)
    a, b = (solver.summarize(oracle, part) for part in (rows(20), rows(10)))
    assert a.flops == sketch_flops(20, N, 3, 3)
    both = solver.merge(a, b)
    assert (both.rows, both.flops) == (30, a.flops + b.flops + 3 * N)
    assert solver.flops(oracle, both) == both.flops + svd(N, 3)
    entries = comb(N + 1, 2)
    a, b = (moment_entries(part, 3) for part in (rows(20), rows(10)))
    assert a.flops == 20 * (2 * N + 1) * entries
    both = merged(a, b)
    assert both.flops == 30 * (2 * N + 1) * entries + N * entries
    own = 2 * N * N * entries + eigh(N)
    assert leading_basis_flops(N, 3) == own
    assert HOEVD().flops(oracle, both) == both.flops + own
    cubes = np.linalg.norm(rows(20), axis=1) ** 3
    assert a.lengths == pytest.approx(cubes.sum())
    assert both.lengths == pytest.approx(a.lengths + b.lengths)


def test_a_sum_has_a_mean_and_blocks_are_converted_in_parts():
    one = BlockSum(rows=4, total=np.array([2.0, 4.0]), flops=3)
    assert one.mean.tolist() == [0.5, 1.0]
    both = added(one, one)
    assert (both.rows, both.total.tolist(), both.flops) == (8, [4.0, 8.0], 8)
    parts = [*in_double(np.ones((5, 2), np.float32), 2)]
    assert [(len(part), part.dtype) for part in parts] == [(2, float), (2, float), (1, float)]
    whole = np.ones((3, 2))
    assert np.shares_memory(next(in_double(whole)), whole)


@pytest.mark.parametrize(("d", "factor"), [(2, 1), (3, 2), (4, 4), (5, 4)])
def test_of_the_cheaper_gram_matrix(d, factor):
    """Those of entries count `factor` times, and take fewer from some number of samples on."""
    n, columns = 5, comb(5 + d - 2, d - 1)

    def cheaper(p):
        entries = (p * (2 * n + 1) + n * n) * columns
        samples = 2 * p * p * n + (d - 2) * p * p // 2 + 2 * p * n * n
        return factor * entries < samples

    first = next(p for p in range(1, 10_000) if cheaper(p))
    for p in (first - 1, first):
        assert by_entries(np.empty((p, n)), d) is (p == first)
        oracle = MomentOracle(rows(p, n), d, R)
        unfolding = unfoldings.Unfolding(oracle, "auto")
        by_samples = 4 * p * p * n + (d - 2) * p * p + 2 * p * n * n
        of_entries = (p * (2 * n + 1) + 2 * n * n) * columns
        assert unfolding.flops == (of_entries if p == first else by_samples) + eigh(n)


def test_of_a_tensor_and_of_each_start():
    T = np.zeros((N, N, N))
    T[0, 0, 0] = 1
    given, sampled = GivenTensorOracle(T, R), moment()
    assert first_basis_flops(given, "hoevd", "auto") == 2 * N**4 + eigh(N)
    assert first_basis_flops(given, "random", "auto") == 0
    assert first_basis_flops(sampled, "sketch", "auto") == sketched_basis_flops(P, N, R, 3)
    assert first_basis_flops(sampled, "shoevd", "auto") == shoevd_flops(P, N, R, 3)
    gram = 4 * P * P * N + P * P + 2 * P * N * N
    for start in ("hoevd", "hoevd-single", "auto"):
        assert first_basis_flops(sampled, start, "auto") == gram + eigh(N)


def test_many_samples_are_sketched_unless_their_entries_are_few():
    """Of 200 features there are 20,100 columns, of 20 there are 210."""
    for p, n, start in ((MANY, 200, "hoevd"), (MANY + 1, 200, "sketch"), (MANY + 1, 20, "hoevd")):
        oracle = SimpleNamespace(X=np.broadcast_to(0.0, (p, n)), order=3, n=n)
        oracle = MomentOracle(oracle.X, 3, R)
        assert chosen(oracle, "auto", "auto") == start
        assert chosen(oracle, "hoevd", "auto") == "hoevd"


@pytest.mark.parametrize("form", ["implicit", "explicit"])
def test_of_steps_of_hooi_and_hoqri(form):
    core = from_samples(3) if form == "implicit" else from_tensor(3)
    own = {HOOI: svd(N, size(3)), HOQRI: 2 * N * R**2 + qr(N, R)}
    for cls, each in own.items():
        oracle = moment()
        solver = cls(form=form, start="random", tolerance=0.0)
        state = solver.init(oracle, np.random.default_rng(0))
        first = state.work.flops
        forming = 0 if form == "implicit" else oracle.forming_flops
        assert first == forming + core + derived(3)
        for _ in range(2):
            solver.advance(oracle, state, 1)
        assert state.work.flops - first == 2 * (core + derived(3) + each)


def test_of_a_trust_region_step():
    oracle = moment()
    solver = TrustRegion(start="random", tolerance=0.0)
    state = solver.init(oracle, np.random.default_rng(0))
    evaluation = from_samples(3) + derived(3)
    assert state.work.flops == evaluation
    solver.advance(oracle, state, 1)
    product = 4 * P * N * R + 3 * P * size(3) + 2 * P * N * size(3)
    product += 8 * N * R * size(3) + 6 * N * R**2 + 2 * N * R**2 + 18 * N * R
    step = state.products * product + eigh(R) + qr(N, R) + evaluation
    assert state.work.flops - evaluation == step


def test_directions_of_a_sketch_that_are_rounding_are_left_out():
    for share, found in ((SEEN / 2, 1), (2 * SEEN, 2)):
        Z = np.diag([1.0, share, 0.0])
        assert leading_directions(Z, 3).shape == (3, found)
        assert leading_directions(Z, 1).shape == (3, 1)
    assert leading_directions(np.zeros((3, 2)), 2).shape == (3, 0)
    assert 1e-13 < SEEN < 1e-11


def test_left_singular_vectors_of_rounding_are_completed():
    Q = np.eye(4)[:, ::-1][:, :2]
    edge = 4 * 2.0**-52
    for share, axis in ((0.9, 3), (1.1, 1)):
        A = np.zeros((4, 3))
        A[0, 0], A[1, 1] = 1.0, share * edge
        found = np.abs(leading_left(A, Q))
        np.testing.assert_allclose(found, np.eye(4)[:, [0, axis]], atol=1e-12)


@pytest.mark.parametrize("preconditioned", [True, False])
def test_the_metric_of_a_core_is_scaled_and_its_weak_eigenvalues_raised(preconditioned):
    inverse, scale = core_metric(np.diag([4.0, 1.0, 1e-3, -1.0]), preconditioned)
    assert scale == 4.0
    expected = [1, 4, 1000, 1000] if preconditioned else 4 * [1]
    np.testing.assert_allclose(inverse, np.diag(expected), atol=1e-12)


def pointed(value=1.0, slope=1.0, n=3, r=1):
    return SimpleNamespace(
        Q=np.eye(n, r), value=value, slope=slope, relative_gradient=slope / value if value else inf
    )


@pytest.mark.parametrize(
    ("point", "status"),
    [
        (pointed(slope=0.02), Status.RUNNING),
        (pointed(slope=0.01), Status.CONVERGED),
        (pointed(slope=0.0), Status.CONVERGED),
        (pointed(n=2, r=2), Status.CONVERGED),
        (pointed(value=np.inf), Status.FAILED),
        (pointed(value=np.nan), Status.FAILED),
    ],
)
def test_a_point_ends_a_run_where_its_gradient_is_small_or_f_is_not_finite(point, status):
    state = AscentState(point=point)
    check_point(state, 0.01)
    assert state.status is status


def test_a_core_that_is_not_finite_fails():
    state = State()
    fail_if_vanishing(state, moment(), np.eye(N, R), np.nan, 3)
    assert state.status is Status.FAILED
    assert "not finite at the first basis" in state.reason


def test_a_core_is_compared_with_that_of_some_samples():
    """Every second of 128 and 191 samples, and every third of 192, is looked at."""
    Q = np.eye(2)
    for count, step in ((LOOKED_AT, 1), (2 * LOOKED_AT, 2), (3 * LOOKED_AT - 1, 2),
                        (3 * LOOKED_AT, 3)):  # fmt: skip
        X = np.zeros((count, 2))
        X[::step, 0] = 1.0
        oracle = MomentOracle(X, 3, 2)
        for factor, status in ((0.9e-13, Status.FAILED), (1.1e-13, Status.RUNNING)):
            state = State()
            fail_if_vanishing(state, oracle, Q, factor, 3)
            assert state.status is status


def test_a_basis_is_perturbed_by_the_last_bit_of_each_entry():
    Q = np.array([[0.5, -0.25], [1.0, 3.0]])
    moved = perturbed(Q)
    down, up = np.nextafter(Q, -np.inf), np.nextafter(Q, np.inf)
    np.testing.assert_array_equal(moved, [[down[0, 0], up[0, 1]], [down[1, 0], up[1, 1]]])


def test_a_short_step_is_no_return():
    def turned(angle):
        return np.array([[np.cos(angle)], [np.sin(angle)]])

    for size_, returns in ((0.9e-6, 0), (1.1e-6, 4)):
        bases = turned(0.0), turned(size_), turned(0.0)
        assert count_returns(3, bases, 1e-3) == returns
    for share, returns in ((0.9, 4), (1.1, 0)):
        bases = turned(0.0), turned(0.5), turned(share * 1e-3 * np.sin(0.5))
        assert count_returns(3, bases, 1e-3) == returns


def test_a_pair_is_curved_by_a_share_of_its_lengths():
    s = np.array([[1.0, 0.0]])
    for share, kept in ((0.9e-10, False), (1.1e-10, True), (-1.0, False)):
        assert bool(curved(2 * s, 3 * np.array([[share, (1 - share**2) ** 0.5]]))) is kept


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_eigenvectors_have_a_positive_largest_entry(sign):
    found = signed(sign * np.array([[0.6], [-0.8]]), np.eye(2)[:, :1])
    np.testing.assert_allclose(found, [[-0.6], [0.8]])


def searched(value, slope, longest=inf):
    """Search along a curve of one variable; return t and the number of trials."""

    def at(t):
        return Trial(t, SimpleNamespace(value=value(t)), slope(t))

    end, tried = wolfe_search(at, at(0.0), longest)
    return (end.t if end else None), tried


def test_a_search_takes_the_first_trial_or_stretches_or_gives_up():
    assert searched(lambda t: 1 + 2 * t - t * t, lambda t: 2 - 2 * t) == (1.0, 1)
    t, tried = searched(lambda t: 1 + 100 * t - t * t, lambda t: 100 - 2 * t)
    assert 100 - 2 * t <= 90
    assert tried > 1
    assert searched(lambda t: 1 + t, lambda t: 1.0, longest=0.5) == (0.5, 1)
    assert searched(lambda t: 1 - t, lambda t: 1.0 if t == 0 else -1.0) == (None, 25)


def test_a_gain_is_the_difference_of_values_unless_that_is_rounding():
    assert gain(1.0, 1.5, (9.0, 9.0)) == 0.5
    close = 2.0 + 2.0**-40
    assert gain(2.0, close, (0.5e-9, 1.9e-9)) == pytest.approx(1.2e-9)
    assert gain(2.0, close, (0.5e-9, 2.1e-9)) == 2.0**-40
    assert gain(2.0, close, (-2.1e-9, 0.0)) == 2.0**-40
    assert gain(2.0, 2.0 + 3e-9, (1e-9, 1e-9)) == pytest.approx(3e-9)


def test_power_steps_need_all_samples_and_no_power_does_not():
    stream = MomentStream(ArraySource(rows()), 3, R)
    stream.start = random_point(N, R, np.random.default_rng(0))
    assert KhatriRaoSketch(power=0).init(stream, np.random.default_rng(0)).sums.shape == (N, N)
    with pytest.raises(ob.UsageError, match="power steps need all samples at once"):
        KhatriRaoSketch(power=1).init(stream, np.random.default_rng(0))
