"""What symmetric Tucker poses: objectives with their work, tensors formed, and what is refused."""

from math import comb

import numpy as np
import pytest
from orthobench_tucker import full_tensors, maker
from orthobench_tucker import oracle as problem
from orthobench_tucker.full_tensors import moment_tensor
from orthobench_tucker.maker import LARGEST, _check_scale
from orthobench_tucker.oracle import MomentOracle, tensor_refusal

import orthobench as ob
from orthobench.contract.problem import Solution
from orthobench.errors import DataError, UsageError
from orthobench.testing import counted, counting
from orthobench.tools.geometry import random_point
from orthobench.tools.places import place_of

P, N, R = 40, 5, 2


def rows(p=P, n=N):
    return np.random.default_rng(0).exponential(size=(p, n)) * np.arange(1, n + 1)


def moment(X, order):
    letters = "abcd"[:order]
    return np.einsum(",".join(f"i{c}" for c in letters) + f"->{letters}", *[X] * order) / len(X)


@pytest.mark.parametrize("order", [2, 3, 4])
def test_objectives_of_samples_and_of_their_tensor_agree_and_count_their_products(order):
    X, Q = rows(), random_point(N, R, np.random.default_rng(1))
    T = moment(X, order)
    core = T
    for _ in range(order):
        core = np.tensordot(core, Q, axes=([0], [0]))
    samples = MomentOracle(X, order, R)
    tensor = ob.symmetric_tucker(tensor=T, rank=R).oracle
    for oracle in (samples, tensor):
        value, work = oracle.objective(Solution(Q))
        assert value == pytest.approx(-float(np.vdot(core, core)))
        assert (work.samples, work.steps) == (0, 0)
    monomials = comb(R + order - 2, order - 1)
    _, work = samples.objective(Solution(Q))
    assert work.flops == 2 * P * N * (R + monomials) + 2 * R * monomials * N
    products = sum(2 * N ** (order - j + 1) * R**j for j in range(1, order))
    assert tensor.objective(Solution(Q))[1].flops == products + 2 * R * monomials * N
    with counting() as tally:
        full_tensors.partial_core(counted(T), counted(Q))
    assert tally.flops == products


def test_objectives_are_the_same_elsewhere():
    X, Q = rows(), random_point(N, R, np.random.default_rng(1))
    for oracle in (MomentOracle(X, 3, R), ob.symmetric_tucker(tensor=moment(X, 3), rank=R).oracle):
        if not oracle.portable:
            continue
        there = oracle.to(place_of("array-api-strict"))
        value, _ = there.objective(Solution(there.placed(Q)))
        assert value == pytest.approx(oracle.objective(Solution(Q))[0])


@pytest.mark.parametrize("order", [2, 3, 4])
@pytest.mark.parametrize("block", [2**24, 7 * N**3, 1])
def test_moments_elsewhere_are_those_of_numpy(order, block, monkeypatch):
    strict = pytest.importorskip("array_api_strict")
    monkeypatch.setattr(full_tensors, "BLOCK", block)
    X = rows()
    there = np.asarray(moment_tensor(strict.asarray(X), order))
    np.testing.assert_allclose(there, moment(X, order), rtol=1e-12)
    assert there.shape == (N,) * order


def test_a_moment_says_what_forming_it_costs_and_forgets_it_with_the_run():
    oracle = MomentOracle(rows(), 3, R)
    assert oracle.forming_flops == 2 * P * comb(N + 2, 3)
    assert oracle.sizes == (N, R, 3)
    T = oracle.T
    assert oracle.T is T
    oracle.rewind(np.random.default_rng(0))
    assert oracle.T is not T


def test_a_warm_up_has_as_many_samples_as_a_few(monkeypatch):
    monkeypatch.setattr(problem, "FEW", 7)
    oracle = MomentOracle(rows(), 3, R)
    assert len(oracle.miniature().X) == 7
    assert len(oracle.X) == P


def test_a_tensor_needs_room_for_itself_and_as_much_again(monkeypatch):
    monkeypatch.setattr("orthobench.tools.machine.total", lambda: 2 * 8 * 10**3)
    assert tensor_refusal(10, 3) is None
    assert "the explicit tensor of 11^3 entries" in tensor_refusal(11, 3)
    with pytest.raises(UsageError, match=r"11\^3 entries.*take a solver that is implicit"):
        _ = MomentOracle(rows(4, 11), 3, R).T


@pytest.mark.parametrize("power", [8, 12])
def test_data_may_be_as_large_and_as_small_as_their_powers_allow(power):
    most = LARGEST ** (1 / power)
    for largest in (1 / most, 1.0, most / 4):
        _check_scale(largest, power, 4.0, "it")
    for largest in (np.nextafter(1 / most, 0), np.nextafter(most / 4, np.inf), 0.0):
        with pytest.raises(DataError, match=r"the largest entry of it is .* or underflow"):
            _check_scale(largest, power, 4.0, "it")


def test_a_core_may_have_so_many_entries(monkeypatch):
    monkeypatch.setattr(maker, "LARGEST_CORE", R**3)
    ob.symmetric_tucker(samples=rows().T, order=3, rank=R, core=True)
    monkeypatch.setattr(maker, "LARGEST_CORE", R**3 - 1)
    ob.symmetric_tucker(samples=rows().T, order=3, rank=R)
    with pytest.raises(UsageError, match=r"a core of 2\^3 entries is more than 7"):
        ob.symmetric_tucker(samples=rows().T, order=3, rank=R, core=True)


@pytest.mark.parametrize(
    "more", [{"order": 3}, {"test": rows().T}, {"validation": rows().T}, {"passes": 2}]
)
def test_what_goes_with_samples_goes_with_no_tensor(more):
    with pytest.raises(UsageError, match="go with samples, not a tensor"):
        ob.symmetric_tucker(tensor=moment(rows(), 3), rank=R, **more)
    ob.symmetric_tucker(tensor=moment(rows(), 3), rank=R)
    for given in ({}, {"tensor": moment(rows(), 3), "samples": rows().T}):
        with pytest.raises(UsageError, match="one of the two"):
            ob.symmetric_tucker(rank=R, **given)
