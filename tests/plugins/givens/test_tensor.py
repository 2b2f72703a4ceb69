"""givens-tensor: exact recovery, the maintained tensor, and the contract of a run."""

import pickle
from itertools import combinations_with_replacement

import numpy as np
import pytest
from kinds import one_of
from orthobench_givens._kernels import packed_tensor, tensor_slabs
from orthobench_givens._kernels.pairs import cyclic_sweep, offsets, packed_size
from orthobench_givens.reference import rotated
from orthobench_givens.solvers.tensor import GivensTensor, RandomState
from orthobench_kit.simd import COUNT
from orthobench_kit.symmetric_tensors import contracted, symmetrized
from orthobench_orthogonal_tensor import TensorOracle
from orthobench_orthogonal_tensor.judge import recovery_error

from orthobench.contract.solver import Status
from orthobench.tools.geometry import drift, random_point

ORDERS = ["cyclic", "random"]
SPECTRA = {
    "linear": lambda d: np.linspace(1, 2, d),
    "equal": np.ones,
    "geometric": lambda d: np.geomspace(0.05, 1, d),
}


def outer(V, w):
    """Return sum_i w_i v_i ⊗ v_i ⊗ v_i."""
    d = len(V)
    return ((V * w) @ (V[:, None, :] * V).reshape(d * d, -1).T).reshape(d, d, d)


def oracle_of(T, seed=0):
    oracle = TensorOracle(symmetrized(T))
    oracle.start = random_point(oracle.n, oracle.n, np.random.default_rng(seed + 1000))
    return oracle


def odeco(d, w, seed=0):
    V = random_point(d, d, np.random.default_rng(seed))
    return oracle_of(outer(V, w), seed), V


def noisy(d, seed=0, size=0.1):
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((d, d, d))
    noise = sum(noise.transpose(p) for p in [(0, 1, 2), (1, 2, 0), (2, 0, 1)])
    T = outer(random_point(d, d, rng), np.linspace(1, 2, d))
    return oracle_of(T + size / d * (noise + noise.transpose(1, 0, 2)))


def begun(solver, oracle, seed=0):
    return solver.init(oracle, np.random.default_rng(seed))


def converged(solver, oracle, most=400):
    """Return the state in which the solver stops by itself."""
    state = begun(solver, oracle)
    solver.advance(oracle, state, most * oracle.n**2)
    assert state.status is Status.CONVERGED
    return state


def objective(oracle, U):
    return contracted(oracle.T, U).sum()


def gradients(T):
    """Return the derivative of the objective along each rotation, 3(T_iij - T_ijj)."""
    twice = np.einsum("iij->ij", T)
    return 3 * (twice - twice.T)


def maintained(state):
    """Return T~ in full, by ending the round, or from the slabs."""
    if isinstance(state, RandomState):
        return from_slabs(state)
    sweep = state.sweep
    full = np.full((sweep.blocks * sweep.size,) * 3, np.nan)
    if sweep.blocks == 1:
        packed_tensor.unpack(state.tensors[0], *offsets(sweep.width), full)
        return full
    state = pickle.loads(pickle.dumps(state))  # noqa: S301 - its own
    state.next_round()
    first, second = offsets(sweep.blocks)
    for block in combinations_with_replacement(range(sweep.blocks), 3):
        p, q, r = (slice(b * sweep.size, (b + 1) * sweep.size) for b in block)
        cube = state.blocks[first[block[0]] + second[block[1]] + block[2]]
        cube = cube.reshape((sweep.size,) * 3)
        full[p, q, r] = cube
        full[q, r, p], full[r, p, q] = cube.transpose(1, 2, 0), cube.transpose(2, 0, 1)
        full[q, p, r], full[p, r, q] = cube.transpose(1, 0, 2), cube.transpose(0, 2, 1)
        full[r, q, p] = cube.transpose(2, 1, 0)
    d = len(state.basis)
    return full[:d, :d, :d]


def unpacked(slabs):
    """Return slabs as symmetric matrices."""
    d = len(slabs)
    matrices, positions = np.empty((d, d, d)), tensor_slabs.row_positions(d)
    for row in range(d):
        first = row - row % COUNT
        matrices[:, row, first:] = slabs[:, positions[row] :][:, : d - first]
        matrices[:, first:, row] = matrices[:, row, first:]
    return matrices


def from_slabs(state):
    """Return T~, after a look at the entries that are kept of it."""
    full = unpacked(state.slabs) @ state.basis.T
    full = np.matmul(state.basis, full)
    size = np.linalg.norm(full)
    np.testing.assert_allclose(state.twice, np.einsum("iij->ij", full), atol=1e-13 * size)
    return full


def assert_recovered(oracle, solution, V, w):
    assert recovery_error(solution.point, V) < 1e-10
    assert objective(oracle, solution.point) == pytest.approx(w.sum(), rel=1e-12)
    np.testing.assert_allclose(np.sort(solution.weights), np.sort(w), atol=1e-12 * w.max())
    assert drift(solution.point) < 1e-11


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("d", one_of(2, [3, 4, 9, 20]))
def test_random_starts_recover_the_factors(d, order):
    solver = GivensTensor(order=order)
    for spectrum in SPECTRA.values():
        for seed in range(2):
            w = spectrum(d)
            oracle, V = odeco(d, w, seed)
            assert_recovered(oracle, solver.solution(converged(solver, oracle)), V, w)


def test_negative_weights_are_those_of_flipped_factors():
    for d in (1, 2, 3, 8, 45):
        w = np.linspace(1, 2, d) * np.where(np.arange(d) % 3 == 0, -1, 1)
        oracle, V = odeco(d, w)
        solver = GivensTensor()
        solution = solver.solution(converged(solver, oracle))
        assert_recovered(oracle, solution, V, np.abs(w))
        assert np.all(solution.weights > 0)
        np.testing.assert_allclose(outer(solution.point, solution.weights), oracle.T, atol=1e-10)


def test_signed_permutations_are_left():
    """Weights (1, 3) at U = [e2, -e1]: a strict local maximum of 2, below the global one of 4."""
    oracle = TensorOracle(outer(np.eye(2), np.array([1.0, 3.0])))
    oracle.start = np.array([[0.0, -1.0], [1.0, 0.0]])
    state = begun(GivensTensor(), oracle)
    T = rotated(oracle.T, oracle.start)
    assert T[0, 0, 0] + T[1, 1, 1] == pytest.approx(2)
    assert np.abs(gradients(T)).max() < 1e-15
    GivensTensor().advance(oracle, state, 10)
    assert state.status is Status.CONVERGED
    assert objective(oracle, GivensTensor().solution(state).point) == pytest.approx(4, rel=1e-15)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("d", [8, 44])
def test_noise_ends_where_no_rotation_gains(d, order):
    oracle = noisy(d)
    solver = GivensTensor(order=order)
    U = solver.solution(converged(solver, oracle)).point
    T = rotated(oracle.T, U)
    assert np.abs(gradients(T)).max() < 1e-12 * np.linalg.norm(T)
    angles = np.linspace(-np.pi, np.pi, 97)
    for i in range(d):
        for j in range(i + 1, min(d, i + 6)):
            c, s = np.cos(angles), np.sin(angles)
            plane = T[np.ix_([i, j], [i, j], [i, j])]
            u, v = np.array([c, s]), np.array([-s, c])
            values = sum(np.einsum("abc,ak,bk,ck->k", plane, x, x, x) for x in (u, v))
            assert values.max() <= plane[0, 0, 0] + plane[1, 1, 1] + 1e-12


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("d", [6, 47])
def test_no_rotation_lowers_the_objective(d, order):
    oracle, solver = noisy(d, size=3.0), GivensTensor(order=order)
    state, before = begun(solver, oracle), -np.inf
    for _ in range(300):
        solver.advance(oracle, state, 1 if d < 10 else 13)
        after = objective(oracle, solver.solution(state).point)
        assert after >= before - 1e-12 * state.norm
        before = after


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("d", one_of(2, [2, 13, 41, 64]))
def test_the_maintained_tensor_is_that_of_u(d, order):
    oracle, solver = noisy(d, size=3.0), GivensTensor(order=order)
    state = begun(solver, oracle)
    for steps in (1, 5, d, d * d, 3 * d * d):
        solver.advance(oracle, state, steps)
        U = flipped_back(state)
        exact = rotated(oracle.T, U)
        assert np.abs(maintained(state) - exact).max() < 1e-10 * state.norm
        np.testing.assert_allclose(
            solver.solution(state).weights, np.abs(np.einsum("iii->i", exact)), atol=1e-12
        )


def flipped_back(state):
    """Return U before `decomposition` flips columns."""
    if isinstance(state, RandomState):
        return state.basis.T
    rows, members_of = state.basis.copy(), state.sweep.rounds[state.round].members
    for rotation, members in zip(state.rotations, members_of, strict=True):
        rows[members] = rotation[: len(members), : len(members)] @ state.basis[members]
    return rows.T


def test_rounds_are_the_sequence_of_their_pairs():
    """Blocks rotated together give what plain rotations of all of T give, pair after pair."""
    d = 44
    oracle, solver = noisy(d, size=3.0), GivensTensor()
    T = np.empty((1, packed_size(d)))
    packed_tensor.pack(rotated(oracle.T, oracle.start), *offsets(d), T[0])
    rotations = np.eye(d)[None].copy()
    pairs = [
        (0, *sorted((members[i], members[j])))
        for round_ in cyclic_sweep(d).rounds
        for members, (i, j) in ((round_.members[pair], (i, j)) for pair, i, j in round_.pairs)
    ]
    norm = np.linalg.norm(oracle.T)
    limits = (1e-13 * norm, 1e-14 * norm, 10**9)
    packed_tensor.try_pairs(T, rotations, np.array(pairs), *offsets(d), limits, 0)
    state = begun(solver, oracle)
    solver.advance(oracle, state, len(pairs))
    np.testing.assert_allclose(flipped_back(state), (rotations[0] @ oracle.start.T).T, atol=1e-11)


def test_random_order_is_the_sequence_of_its_pairs():
    """Slabs give what plain rotations of all of T~ give, pair after pair."""
    for d in (2, 3, 16, 17, 31, 40):
        oracle, solver = noisy(d, size=3.0), GivensTensor(order="random")
        T = np.empty((1, packed_size(d)))
        packed_tensor.pack(rotated(oracle.T, oracle.start), *offsets(d), T[0])
        rotations, state = np.eye(d)[None].copy(), begun(solver, oracle)
        solver.advance(oracle, state, 3 * d)
        pairs = np.column_stack([np.zeros(3 * d, np.intp), state.drawn[: 3 * d]])
        limits = (1e-13 * state.norm, 1e-14 * state.norm, 10**9)
        packed_tensor.try_pairs(T, rotations, pairs, *offsets(d), limits, 0)
        np.testing.assert_allclose(state.basis, rotations[0] @ oracle.start.T, atol=1e-12)
        full = np.empty((d, d, d))
        packed_tensor.unpack(T[0], *offsets(d), full)
        np.testing.assert_allclose(maintained(state), full, atol=1e-12 * state.norm)


def test_the_tolerance_bounds_the_gradient():
    oracle, steps = noisy(12), []
    for tolerance in (1e-3, 1e-6, 1e-9, 1e-12):
        solver = GivensTensor(tolerance=tolerance)
        state = converged(solver, oracle)
        T = rotated(oracle.T, solver.solution(state).point)
        assert np.abs(gradients(T)).max() <= tolerance * state.norm * (1 + 1e-9)
        steps.append(state.work.steps)
    assert steps == sorted(steps)
    assert steps[0] < steps[-1]


@pytest.mark.parametrize("order", ORDERS)
def test_zero_weights_leave_a_basis_of_the_null_space(order):
    for missing in (1, 3):
        w = np.concatenate([np.linspace(1, 2, 10 - missing), np.zeros(missing)])
        oracle, V = odeco(10, w)
        solver = GivensTensor(order=order)
        solution = solver.solution(converged(solver, oracle))
        assert recovery_error(solution.point, V[:, w > 0]) < 1e-10
        assert np.abs(np.sort(solution.weights)[:missing]).max() < 1e-12


@pytest.mark.parametrize("order", ORDERS)
def test_a_level_pair_is_rotated_if_an_angle_gains(order):
    """Along the circle 2c³ + 6t cs²: level at angle 0, highest at s² = 4e to first order."""
    e = 1e-6
    t = 0.5 + e
    oracle = oracle_of(np.array([[[1.0, t], [t, t]], [[t, t], [t, 1.0]]]))
    solver = GivensTensor(order=order, start="identity")
    found = solver.solution(converged(solver, oracle))
    assert abs(found.point[1, 0]) == pytest.approx(2 * e**0.5, rel=1e-3)
    assert found.weights.sum() - 2 == pytest.approx(12 * e**2, rel=1e-2)
