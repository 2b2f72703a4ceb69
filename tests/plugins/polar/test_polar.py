"""Polar factors: schedules by composition, closed forms, orders of convergence, and scales."""

from itertools import product

import numpy as np
import pytest
from orthobench_polar.coefficients import SCHEDULES
from orthobench_polar.solvers.rational import (
    ZolotarevFunction,
    degree,
    elliptic_tangents,
    halley_weights,
)
from scipy.special import ellipj, ellipk

import orthobench as ob
from orthobench.api import SolverError
from orthobench.errors import DataError

EXACT = ("qdwh", "zolotarev", "polar-newton", "polar-svd", "scipy-polar")
WITH_PRODUCTS = ("newton-schulz", "gram-newton-schulz", "turbo-newton-schulz")

RANGES = [
    ("jordan", 1e-2, 5, 0.6818, 1.1344), ("jordan", 1e-3, 5, 0.4705, 1.2024),
    ("jordan", 1e-3, 10, 0.6818, 1.1344),
    ("you", 1e-2, 5, 0.9778, 1.0318), ("you", 1e-3, 5, 0.4750, 1.1450),
    ("you", 1e-3, 7, 0.9778, 1.0297), ("you", 1e-3, 10, 0.9876, 0.9897),
    ("polar-express", 1e-2, 5, 0.8764, 1.1236), ("polar-express", 1e-3, 5, 0.8764, 1.1236),
    ("polar-express", 1e-3, 10, 1.0, 1.0),
    ("cans", 1e-3, 5, 0.8866, 1.1134), ("cans", 1e-3, 7, 0.9838, 1.0600),
    ("cans", 1e-3, 10, 1.0208, 1.0383),
    ("quintic", 1e-2, 5, 0.2285, 1.0), ("quintic", 1e-3, 5, 0.0232, 1.0),
    ("quintic", 1e-3, 7, 0.0813, 1.0), ("quintic", 1e-3, 10, 0.4987, 1.0),
    ("deepseek-v4", 1e-3, 7, 0.6818, 1.1344), ("deepseek-v4", 1e-3, 10, 1.0, 1.0005),
]  # fmt: skip
"""Schedule, least singular value, steps, and the range of singular values after them."""


def matrix(condition, n=60, p=20, seed=0):
    rng = np.random.default_rng(seed)
    U = np.linalg.qr(rng.standard_normal((n, p)))[0]
    V = np.linalg.qr(rng.standard_normal((p, p)))[0]
    return (U * np.geomspace(1, 1 / condition, p)) @ V.T, U @ V.T


def composed(schedule, values, steps, safety=0.0):
    """Return what singular values become after some steps."""
    for number in range(steps):
        a, b, c = schedule.at(number, safety)
        values = values * (a + values**2 * (b + c * values**2))
    return values


def final(solver, A, **parameters):
    return ob.solve(solver, ob.polar(A), **parameters).trace[-1].metrics


def test_schedules_map_singular_values_to_their_ranges():
    for case in RANGES:
        name, low, steps, smallest, largest = case
        found = composed(SCHEDULES[name], np.geomspace(low, 1, 100_001), steps, safety=1.0)
        assert found.min() == pytest.approx(smallest, abs=6e-5), case
        assert found.max() == pytest.approx(largest, abs=6e-5), case


def test_safety_divides_before_each_polynomial_but_the_last():
    found = composed(SCHEDULES["polar-express"], np.geomspace(1e-3, 1, 100_001), 5)
    assert (found.min(), found.max()) == pytest.approx((0.8462, 1.1236), abs=6e-5)
    assert SCHEDULES["polar-express"].at(7) == SCHEDULES["polar-express"].at(30)


@pytest.mark.parametrize("name", SCHEDULES)
def test_newton_schulz_moves_singular_values_as_its_schedule_does(name):
    A, _ = matrix(100.0)
    values = np.geomspace(1, 0.01, 20)
    steps = SCHEDULES[name].default
    found = composed(SCHEDULES[name], values / np.linalg.norm(values), steps)
    metrics = final("newton-schulz", A, coefficients=name)
    assert metrics["smallest"] == pytest.approx(found.min(), rel=1e-9)
    assert metrics["largest"] == pytest.approx(found.max(), rel=1e-9)
    assert metrics["gain"] == pytest.approx(values @ found / values.sum(), rel=1e-9)


@pytest.mark.parametrize("solver", EXACT)
def test_exact_methods_find_the_factor(solver):
    for case in product([(60, 20), (20, 20), (20, 60), (1, 1), (5, 1)], [1.0, 10.0, 1e3]):
        shape, condition = case
        A, factor = matrix(condition, max(shape), min(shape))
        wide = shape[0] < shape[1]
        outcome = ob.solve(solver, ob.polar(A.T if wide else A))
        assert np.linalg.norm(outcome.solution - factor) < 1e-13 * condition * np.sqrt(
            min(shape)
        ), case
        assert outcome.trace[-1].metrics["orthogonality"] < 1e-13, case
        assert outcome.trace[-1].metrics["gain"] == pytest.approx(1, abs=1e-13), case


@pytest.mark.parametrize("solver", ["qdwh", "zolotarev", "polar-newton"])
@pytest.mark.parametrize("shape", [(60, 20), (30, 30)])
def test_rational_methods_are_orthogonal_at_condition_1e16(solver, shape):
    A, _ = matrix(1e16, *shape)
    metrics = final(solver, A)
    assert metrics["orthogonality"] < 1e-14 * np.sqrt(shape[1])
    assert metrics["asymmetry"] < 1e-14
    assert metrics["indefiniteness"] < 1e-14


def test_steps_of_rational_methods_are_those_of_their_papers():
    A, _ = matrix(1e16)
    assert ob.solve("qdwh", ob.polar(A)).work.steps == 6
    assert ob.solve("zolotarev", ob.polar(A)).work.steps == 2
    low, steps = 1e-16, 0
    while 1 - low > 1e-15:
        a, b, c = halley_weights(low)
        low, steps = low * (a + b * low**2) / (1 + c * low**2), steps + 1
    assert steps == 6
    assert degree(1e-16, np.finfo(float).eps) == 8


def test_newton_converges_quadratically():
    A, factor = matrix(1.5)
    instance = ob.polar(A)
    errors = []
    for steps in range(1, 4):
        budget = ob.Budget(steps=steps)
        X = ob.solve("polar-newton", instance, budget=budget, scaling=False).solution
        errors.append(np.linalg.norm(X - factor, 2))
    rates = np.log(errors[1:]) / np.log(errors[:-1])
    assert ((rates > 1.7) & (rates < 3)).all()


def test_elliptic_functions_are_those_of_scipy():
    for low in [0.9, 0.5, 0.1, 1e-3]:
        shares = np.arange(1, 7) / 7
        m = 1 - low * low
        sn, cn, _, _ = ellipj(shares * ellipk(m), m)
        np.testing.assert_allclose(
            elliptic_tangents(low, shares), sn / cn, rtol=1e-9, err_msg=f"{low}"
        )


def test_zolotarev_functions_equioscillate():
    for case in [(1, 0.1), (2, 1e-2), (4, 1e-6), (8, 1e-16)]:
        r, low = case
        function = ZolotarevFunction.of(r, low)
        values = np.array([function(x) for x in np.geomspace(low, 1, 20_001)])
        inner = values[1:-1]
        peaks = inner[(inner > values[:-2]) & (inner > values[2:])]
        dips = inner[(inner < values[:-2]) & (inner < values[2:])]
        assert len(peaks) == len(dips) == r, case
        np.testing.assert_allclose(peaks, 1, atol=1e-5, err_msg=f"{case}")
        np.testing.assert_allclose(dips, values[0], atol=1e-5, err_msg=f"{case}")
        assert function(1.0) == pytest.approx(1), case


def test_gram_form_agrees_with_fewer_products():
    A, _ = matrix(30.0, 160, 20)
    plain = ob.solve("newton-schulz", ob.polar(A), coefficients="you")
    of_gram = ob.solve("gram-newton-schulz", ob.polar(A), coefficients="you")
    np.testing.assert_allclose(of_gram.solution, plain.solution, atol=1e-10)
    share = of_gram.trace[-1].metrics["products"] / plain.trace[-1].metrics["products"]
    assert share == pytest.approx((8 * 8 + 32) / (20 * 8 + 10), rel=0.02)


def test_gram_form_without_restart_loses_digits():
    A, _ = matrix(1e4, 80, 20)
    errors = {
        restart: final("gram-newton-schulz", A, restart=restart)["asymmetry"] for restart in (0, 2)
    }
    assert errors[0] > 3 * errors[2]


def test_scaled_columns_give_turbo_another_factor():
    rng = np.random.default_rng(1)
    A = rng.standard_normal((128, 32))
    floors = [
        final("turbo-newton-schulz", M, steps=30)["distance"]
        for M in (A, A / np.geomspace(1, 100, 32))
    ]
    assert 1e-3 < floors[0] < 0.02
    assert floors[1] > 5 * floors[0]


@pytest.mark.parametrize("solver", [*EXACT, "polar-eigh", *WITH_PRODUCTS])
def test_a_batch_is_its_matrices_one_by_one(solver):
    A = np.random.default_rng(3).standard_normal((3, 12, 5))
    together = ob.solve(solver, ob.polar(A)).solution.reshape(A.shape)
    for matrix_, found in zip(A, together, strict=True):
        alone = ob.solve(solver, ob.polar(matrix_)).solution
        np.testing.assert_allclose(found, alone, atol=1e-7)


@pytest.mark.parametrize("solver", WITH_PRODUCTS)
def test_products_leave_a_column_of_zeros_zero(solver):
    A = np.linalg.qr(np.random.default_rng(0).standard_normal((8, 4)))[0] * [1, 0, 1, 1]
    metrics = final(solver, A)
    assert metrics["smallest"] < 1e-15
    assert metrics["distance"] == pytest.approx(np.sqrt(1 / 4))  # one of four columns is missing


def test_the_smallest_numbers_have_factors():
    least = np.finfo(float).smallest_subnormal
    np.testing.assert_allclose(ob.solve("qdwh", ob.polar(least * np.eye(3))).solution, np.eye(3))


def test_a_singular_matrix_has_no_newton_iteration():
    with pytest.raises(SolverError, match="singular"):
        ob.solve("polar-newton", ob.polar(np.ones((3, 3))))


def test_unfit_matrices_are_refused():
    for case in [
        (np.ones(3), "matrix or a batch"),
        (np.zeros((0, 2)), "matrix or a batch"),
        (np.full((2, 2), np.nan), "NaN"),
        (np.zeros((3, 2)), "A is zero"),
        (np.array([["a"]]), "real numbers"),
        (np.ones((2, 2)) * 1j, "real numbers"),
    ]:
        A, words = case
        with pytest.raises(DataError, match=words):
            ob.polar(A)


@pytest.mark.parametrize(
    ("dtype", "most"), [("float32", 1e-5), ("float16", 5e-3), ("bfloat16", 5e-2)]
)
def test_precisions_of_torch_are_real(dtype, most):
    pytest.importorskip("torch")
    A, _ = matrix(10.0)
    error = final("newton-schulz", A, on=f"torch:cpu/{dtype}")["distance"]
    assert most / 1000 < error < most
