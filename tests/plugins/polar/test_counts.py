"""Flops and products of polar factors, written out as the notes say, and where steps end."""

import numpy as np
import pytest
from orthobench_kit.polar import polynomial
from orthobench_polar.coefficients import SCHEDULES
from orthobench_polar.oracle import PolarSolution
from orthobench_polar.solvers.direct import PolarEigh, PolarSVD, ScipyPolar
from orthobench_polar.solvers.newton_schulz import GramNewtonSchulz, NewtonSchulz, TurboNewtonSchulz
from orthobench_polar.solvers.rational import (
    QDWH,
    SAFE,
    PolarNewton,
    Zolotarev,
    ZolotarevFunction,
    degree,
    halley_weights,
    inverse_norm,
    resolvent,
)

import orthobench as ob
from orthobench.contract.solver import Status
from orthobench.testing.check_of_libraries import readings
from orthobench.tools.flops import eigh, qr, svd
from orthobench.tools.places import place_of

N, P = 12, 5
TALL, SMALL = 2 * N * P**2, 2 * P**3
BOTH = pytest.mark.parametrize("batch", [1, 3])


def matrices(batch=1, n=N, p=P):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((batch, n, p))
    return A[0] if batch == 1 else A


def outcome(solver, A, budget=None):
    found = ob.solve(solver, ob.polar(A), budget)
    return found, found.trace[-1].metrics["products"]


def agree(solver, batch, first, total):
    """Check the flops before the first step and after the last, and the products."""
    found, products = outcome(solver, matrices(batch))
    assert found.trace[0].work.flops == batch * first
    assert found.work.flops == batch * total
    assert products == pytest.approx(total / TALL)


@BOTH
def test_of_polynomials_of_the_gram_matrix(batch):
    five = NewtonSchulz(coefficients="quintic", count=3)
    agree(five, batch, 3 * N * P, 3 * N * P + 3 * (2 * TALL + SMALL + 5 * P**2))
    three = NewtonSchulz(coefficients="cubic", count=4)
    agree(three, batch, 3 * N * P, 3 * N * P + 4 * (2 * TALL + P**2))


@BOTH
def test_of_scaled_columns_whose_first_gram_matrix_is_known(batch):
    turbo = TurboNewtonSchulz(coefficients="quintic", count=3)
    first = TALL + 4 * N * P + 4 * P**2
    agree(turbo, batch, first, first + 5 * TALL + 3 * (SMALL + 5 * P**2))


@BOTH
def test_of_polynomials_on_the_gram_matrix_with_and_without_a_restart(batch):
    """A square and, but for the first of a chain, a product; two for R, but for the last."""
    normalization = 3 * N * P
    plain = GramNewtonSchulz(coefficients="quintic", count=4, restart=0)
    small = (1 + 2) + (1 + 1 + 2) + (1 + 1 + 2) + (1 + 1)
    agree(plain, batch, normalization, normalization + 2 * TALL + small * SMALL + 20 * P**2)
    again = GramNewtonSchulz(coefficients="cubic", count=4, restart=2)
    small = 2 + (1 + 2) + 2 + 1
    agree(again, batch, normalization, normalization + 4 * TALL + small * SMALL + 20 * P**2)


def test_a_solution_before_the_end_takes_one_product_more():
    solver = GramNewtonSchulz(coefficients="quintic", count=4, restart=0)
    oracle = ob.polar(matrices()).oracle
    state = solver.init(oracle, None)
    plain = NewtonSchulz(coefficients="quintic", count=4)
    same = plain.init(oracle, None)
    for _ in range(3):
        solver.step(oracle, state)
        plain.step(oracle, same)
        found = solver.solution(state)
        np.testing.assert_allclose(found.point, plain.solution(same).point, atol=1e-12)
        assert found.products == state.products + 1


@pytest.mark.parametrize("cls", [NewtonSchulz, GramNewtonSchulz, TurboNewtonSchulz])
@pytest.mark.parametrize("name", ["jordan", "polar-express"])
def test_a_run_has_as_many_polynomials_as_the_source_or_as_are_asked_for(cls, name):
    fewer = cls is TurboNewtonSchulz
    default = SCHEDULES[name].default - fewer
    assert outcome(cls(coefficients=name), matrices())[0].work.steps == default
    assert outcome(cls(coefficients=name, count=3), matrices())[0].work.steps == 3
    assert cls(coefficients=name).at(1) == SCHEDULES[name].at(int(fewer))


def test_a_polynomial_of_a_matrix_takes_a_product_for_its_square_alone():
    S = np.array([[2.0, 1.0], [1.0, 3.0]])
    found, products = polynomial(S, (1.0, 2.0, 3.0))
    np.testing.assert_allclose(found, np.eye(2) + 2 * S + 3 * S @ S)
    assert products == 1
    found, products = polynomial(S, (1.0, 2.0, 0.0))
    np.testing.assert_allclose(found, np.eye(2) + 2 * S)
    assert products == 0


@BOTH
def test_of_decompositions(batch):
    agree(PolarSVD(), batch, 0, svd(N, P) + TALL)
    agree(PolarEigh(), batch, 0, 2 * TALL + SMALL + eigh(P) + P**2)
    agree(ScipyPolar(), batch, 0, svd(N, P) + TALL + 2 * SMALL)


FIRST = qr(N, P) + 2 * P**3 + 9 * P**2
BY_QR, SOLVED = qr(2 * P, P) + SMALL + P**2, 2 * SMALL + 2 * P**3 // 3


@BOTH
@pytest.mark.parametrize("condition", [10.0, 1e6])
def test_of_halley_steps_by_qr_and_by_solving(batch, condition):
    A = matrices(batch)
    U, _, Vt = np.linalg.svd(A, full_matrices=False)
    A = (U * np.geomspace(1, 1 / condition, P)) @ Vt
    oracle, solver = ob.polar(A).oracle, QDWH()
    state = solver.init(oracle, None)
    assert state.work.flops == batch * FIRST
    routes = set()
    while state.status is Status.RUNNING:
        weight, before = halley_weights(state.low)[2], state.work.flops
        solver.step(oracle, state)
        own = (BY_QR if weight > SAFE else SOLVED) + 3 * P**2
        assert state.work.flops - before == batch * own
        routes.add(weight > SAFE)
    assert False in routes
    assert (True in routes) is (condition > 10)
    assert solver.solution(state).products == state.products + 1
    assert np.abs(np.linalg.svd(state.X, compute_uv=False) - 1).max() < 1e-14


def test_of_zolotarev_functions_a_term_by_qr_where_its_pole_is_small():
    A = matrices(n=P)
    oracle, solver = ob.polar(A).oracle, Zolotarev()
    state = solver.init(oracle, None)
    first = state.work.flops
    assert first == qr(P, P) + 2 * P**3 + 9 * P**2
    degrees = []
    while state.status is Status.RUNNING:
        r = state.degree or degree(state.low, 2.0**-52)
        poles = ZolotarevFunction.of(r, state.low).poles
        terms = sum(BY_QR if pole < 1 / SAFE else SOLVED for pole in poles)
        before = state.work.flops
        solver.step(oracle, state)
        degrees.append(r)
        assert state.work.flops - before == terms + 2 * P**2 * r + P**2
    assert len(degrees) == 2
    assert solver.solution(state).products == state.products  # there is no basis


def test_of_newton_steps():
    found, _ = outcome(PolarNewton(), matrices())
    assert found.work.flops == FIRST + found.work.steps * (SMALL + 16 * P**2)


def test_newton_ends_at_a_small_step_or_after_forty():
    A = np.diag([1.0, 1e-30])
    found, _ = outcome(PolarNewton(scaling=False), A)
    assert found.work.steps == 40
    assert found.trace[-1].metrics["orthogonality"] > 1
    found, _ = outcome(PolarNewton(), A)
    assert found.work.steps < 10
    assert found.trace[-1].metrics["orthogonality"] < 1e-14


def test_the_first_point_is_bounded_above_and_below():
    for A in (matrices(), matrices(n=P), matrices(3)):
        state = QDWH().init(ob.polar(A).oracle, None)
        values = np.linalg.svd(state.X, compute_uv=False)
        assert 0 < state.low <= values.min()
        assert state.low > values.min() / 3
        assert values.max() <= 1
        assert (state.Q is None) is (A.shape[-2] == P)
    assert inverse_norm(np.zeros((2, 2))) == np.inf
    assert inverse_norm(np.diag([2.0, 0.25])) == pytest.approx(np.sqrt(0.25 + 16))
    assert QDWH().init(ob.polar(np.ones((3, 3))).oracle, None).low == pytest.approx(2.0**-62)


@pytest.mark.parametrize("batch", [1, 2])
def test_resolvents_by_qr_and_by_solving_are_those_of_the_inverse(batch):
    X = matrices(batch, P, P) / 10
    inverse = np.linalg.inv(X.swapaxes(-1, -2) @ X + 0.25 * np.eye(P))
    for by_qr, spent in ((True, BY_QR), (False, SOLVED)):
        found, flops = resolvent(X, 0.5, by_qr)
        np.testing.assert_allclose(found, X @ inverse, atol=1e-12)
        assert flops == spent


@pytest.mark.parametrize("low", [0.9, 0.1, 1e-4])
def test_halley_weights_map_the_bound_and_one_to_where_they_meet(low):
    """The best map is 1 at 1, and its least value is that of the bound and of a point inside."""
    a, b, c = halley_weights(low)
    x = np.geomspace(low, 1, 10_001)
    values = x * (a + b * x**2) / (1 + c * x**2)
    assert values[-1] == pytest.approx(1)
    assert values.max() <= 1 + 1e-12
    assert values.min() == pytest.approx(values[0], rel=1e-4)
    inner = values[1:-1]
    dips = inner[(inner < values[:-2]) & (inner < values[2:])]
    assert dips == pytest.approx([values[0]], rel=1e-4)


def test_a_degree_is_the_least_with_which_two_functions_reach_one():
    unit = 2.0**-52
    for low in (0.9, 0.1, 1e-4, 1e-8):
        r = degree(low, unit)
        left = []
        for each in (r - 1, r):
            middle = low
            for _ in range(2):
                middle = ZolotarevFunction.of(each, middle)(middle) if each else 0.0
            left.append(1 - middle)
        assert left[1] <= 8 * unit < left[0]


@pytest.mark.parametrize("batch", [1, 3])
def test_a_judge_measures_by_the_definitions(batch):
    A = matrices(batch)
    X = A + 0.5 * np.random.default_rng(1).standard_normal(A.shape)
    stack = A if batch > 1 else A[None]
    U, values, Vt = np.linalg.svd(stack, full_matrices=False)
    Y = X.reshape(stack.shape)
    H = stack.swapaxes(1, 2) @ Y
    least = np.linalg.eigvalsh((H + H.swapaxes(1, 2)) / 2)[:, 0]
    inner = np.linalg.svd(Y, compute_uv=False)
    instance = ob.polar(A)
    exact = instance.measure(PolarSolution((U @ Vt).reshape(-1, P)))
    assert {name: exact[name] for name in instance.best} == pytest.approx(instance.best, abs=1e-14)
    found = instance.measure(PolarSolution(X.reshape(-1, P), products=7.0))
    assert found == pytest.approx(
        {
            "distance": np.linalg.norm(Y - U @ Vt) / np.sqrt(batch * P),
            "orthogonality": max(np.linalg.norm(v**2 - 1) for v in inner),
            "smallest": inner.min(),
            "largest": inner.max(),
            "asymmetry": np.linalg.norm(H - H.swapaxes(1, 2)) / np.linalg.norm(A),
            "indefiniteness": max(0.0, (-least / values[:, 0]).max()),
            "gain": np.sum(stack * Y) / values.sum(),
            "products": 7.0,
        }
    )
    assert found["indefiniteness"] == 0
    turned = ob.polar(A).measure(PolarSolution(-X.reshape(-1, P)))
    most = np.linalg.eigvalsh((H + H.swapaxes(1, 2)) / 2)[:, -1]
    assert turned["indefiniteness"] == pytest.approx((most / values[:, 0]).max())
    small = ob.polar(A).measure(PolarSolution(0.25 * A.reshape(-1, P)))
    assert small["smallest"] == pytest.approx(values.min() / 4)


def test_values_that_are_read_and_precisions_that_factorizations_take():
    """Newton's method reads how far it moves, and whether that is a number."""
    instance = ob.polar(matrices())
    for solver, read in ((PolarNewton(), 2), (QDWH(), 0), (NewtonSchulz(), 0)):
        steps = 3
        assert readings(solver, instance, steps) <= 1 + steps * read, solver
        assert readings(solver, instance, steps) >= steps * (read - 1), solver
    for cls in (PolarSVD, PolarEigh, QDWH, Zolotarev, PolarNewton):
        takes = [cls.computes_on(place_of(f"torch:cpu/{name}")) for name in PRECISIONS]
        assert takes == [True, True, False, False], cls
    assert NewtonSchulz.computes_on(place_of("torch:cpu/bfloat16"))


PRECISIONS = ("float64", "float32", "float16", "bfloat16")
