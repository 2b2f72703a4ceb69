"""What peers of symmetric Tucker decomposition share, and the flops of each, written out."""

from types import SimpleNamespace

import numpy as np
import pytest
from orthobench_tucker.library_tucker import (
    ROWS,
    Factors,
    FactorsState,
    WholeTensor,
    hoevd,
    products_flops,
)
from orthobench_tucker.reference import moment
from orthobench_tucker.solvers.pyttb_methods import PyttbHOSVD, PyttbTuckerALS
from orthobench_tucker.solvers.tensorly_methods import TensorlyHOSVD, TensorlyTucker
from orthobench_tucker.whole_tensor import refusal

import orthobench as ob
from orthobench.contract.solver import Status
from orthobench.harness.stopping import Budget
from orthobench.registry.plugins import catalogue
from orthobench.tools.flops import eigh, svd
from orthobench.tools.geometry import drift, random_point

PACKAGES = ("tensorly", "pyttb")

N, R = 6, 2


def samples(count, n=N):
    return np.random.default_rng(0).exponential(size=(count, n)) - 1


@pytest.mark.parametrize("order", [3, 4])
@pytest.mark.parametrize("count", [5, ROWS, ROWS + 1])
def test_the_first_basis_is_that_of_the_unfolded_moment(order, count):
    X = samples(count)
    T = moment(X, order)
    oracle = ob.symmetric_tucker(X, order=order, rank=R).oracle
    left = np.linalg.svd(T.reshape(N, -1))[0][:, :R]
    found, spent = hoevd(oracle)
    np.testing.assert_allclose(np.abs(left.T @ found), np.eye(R), atol=1e-9)
    assert spent == 4 * count**2 * N + 2 * count * N**2 + eigh(N)
    found, spent = hoevd(ob.symmetric_tucker(tensor=T, rank=R).oracle)
    np.testing.assert_allclose(np.abs(left.T @ found), np.eye(R), atol=1e-9)
    assert spent == 2 * N ** (order + 1) + eigh(N)


def test_products_shrink_a_tensor_mode_after_mode():
    assert products_flops(5, 2, 3, 2) == 2 * 5**3 * 2 + 2 * 5**2 * 2**2
    assert products_flops(5, 2, 3, 3) == products_flops(5, 2, 3, 2) + 2 * 5 * 2**3


class Alternating(WholeTensor):
    tolerance, name = 0.1, "alternating"

    def __init__(self, errors):
        self.errors = iter(errors)

    def updated(self, oracle, state):
        return Factors([np.eye(N, R)], next(self.errors))

    def step_flops(self, n, rank, order):
        return 100 * n + 10 * rank + order

    tensor = None


@pytest.mark.parametrize(
    ("errors", "steps"),
    [([0.9, 0.5, 0.45], 3), ([0.9, 0.95], 2), ([0.5, 0.25, 0.125, 0.0625], 4), ([1.0, 0.5], None)],
)
def test_it_ends_where_the_error_changes_by_less_than_the_tolerance(errors, steps):
    solver = Alternating(errors)
    oracle = SimpleNamespace(sizes=(N, R, 3))
    state = FactorsState(tensor=None, factors=Factors([]))
    for _ in errors:
        assert state.status is Status.RUNNING
        solver.advance(oracle, state, 1)
    assert state.status is (Status.CONVERGED if steps else Status.RUNNING)
    assert state.work.steps == len(errors)
    assert state.work.flops == len(errors) * 623


def problem(order):
    sizes = {"n": N, "rank": R, "true_rank": R, "order": order}
    return catalogue().problem("random-symmetric", sizes)


def counts(n, r, d):
    """Return the flops before the first step and of a step, by each solver."""
    each = [2 * n ** (d - j + 1) * r**j for j in range(1, d + 1)]
    core, partial, norm = sum(each), sum(each[:-1]), 2 * n**d
    hosvd = d * svd(n, n ** (d - 1)) + core + norm
    truncated = [2 * n**2 * r**j * n ** (d - 1 - j) + eigh(n) for j in range(d)]
    gram = 2 * n**2 * r ** (d - 1) + eigh(n)
    return {
        TensorlyHOSVD: (0, hosvd),
        TensorlyTucker: (
            hosvd, d * (partial + svd(n, r ** (d - 1))) + core + norm + 2 * r**d,
        ),
        PyttbHOSVD: (0, sum(truncated) + core + norm),
        PyttbTuckerALS: (
            d * (2 * n ** (d + 1) + eigh(n)), d * (partial + gram) + 2 * n * r**d + norm + 2 * r**d,
        ),
    }  # fmt: skip


@pytest.mark.parametrize("order", [3, 4])
@pytest.mark.parametrize("cls", [TensorlyHOSVD, TensorlyTucker, PyttbHOSVD, PyttbTuckerALS])
def test_whole_tensors_are_counted_before_and_in_each_step(cls, order):
    first, step = counts(N, R, order)[cls]
    outcome = ob.solve(cls(), problem(order), Budget(steps=1))
    assert [mark.work.flops for mark in outcome.trace] == [first, first + step]
    assert outcome.trace[-1].metrics["subspace_error"] < 0.3
    assert drift(outcome.solution) < 1e-12


def test_a_moment_is_formed_before_its_tensor_is_used():
    oracle = ob.symmetric_tucker(samples(30), order=3, rank=R).oracle
    oracle.start = random_point(N, R, np.random.default_rng(0))
    state = TensorlyHOSVD().init(oracle, np.random.default_rng(0))
    assert state.work.flops == oracle.forming_flops > 0


def test_what_only_streams_or_does_not_fit_is_refused_and_no_other_family():
    assert refusal(catalogue().problem("digits"), "explicit") is None
    assert refusal(problem(3), "explicit") is None
    assert "only stream" in refusal(catalogue().problem("nig-factor", {"samples": 0}), "explicit")
    assert refusal(catalogue().problem("random-symmetric", {"n": 10_000}), "explicit")
