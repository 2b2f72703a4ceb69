"""Spectral powers against the singular value decomposition, and against codes of their sources."""

import numpy as np
import pytest
from kinds import one_of
from orthobench_polar.coefficients import SCHEDULES
from orthobench_polar.minimax import power_fractions, power_polynomial
from orthobench_polar.oracle import PolarSolution

import orthobench as ob
from orthobench.api import SolverError
from orthobench.errors import DataError, UsageError


def power(A, exponent):
    """Return U S^exponent V' of each matrix."""
    U, values, Vt = np.linalg.svd(A, full_matrices=False)
    return (U * values[..., None, :] ** exponent) @ Vt


def matrix(condition, shape=(60, 20), unit=7.0):
    rng = np.random.default_rng(0)
    U, V = (np.linalg.qr(rng.standard_normal((size, shape[1])))[0] for size in shape)
    return unit * (U * np.geomspace(1, 1 / condition, shape[1])) @ V.T


def distance(solver, A, exponent, **parameters):
    outcome = ob.solve(solver, ob.spectral_power(A, exponent), **parameters)
    return outcome.trace[-1].metrics["distance"]


EXACT = [
    ("polar-svd", (-1, -0.3, 0, 0.5, 1)),
    ("polar-eigh", (-1, -0.3, 0, 0.5, 1)),
    ("coupled-newton-schulz", (-1, -0.5, 0, 0.5)),
    ("rational-power", (-0.5, -0.25, 0, 0.3, 0.5, 0.9)),
]


SHAPES = one_of(2, [((60, 20),), ((20, 60),), ((3, 12, 5),), ((4, 4),), ((5, 1),)])


@pytest.mark.parametrize(("solver", "exponents"), EXACT)
@pytest.mark.parametrize("shape", SHAPES)
def test_powers_are_those_of_the_svd(solver, exponents, shape):
    A = 7 * np.random.default_rng(1).standard_normal(shape)
    for exponent in exponents:
        found = ob.solve(solver, ob.spectral_power(A, exponent)).solution
        wide = shape[-2] < shape[-1]
        expected = power(A.swapaxes(-1, -2) if wide else A, exponent).reshape(found.shape)
        error = np.linalg.norm(found - expected) / np.linalg.norm(expected)
        assert error < 1e-9, (exponent, error)


def test_exponent_zero_is_the_polar_factor_bit_for_bit():
    A = np.random.default_rng(0).standard_normal((9, 4))
    for solver in ("polar-svd", "qdwh", "newton-schulz"):
        found = ob.solve(solver, ob.spectral_power(A, 0)).solution
        np.testing.assert_array_equal(found, ob.solve(solver, ob.polar(A)).solution)


@pytest.mark.parametrize("exponent", [-0.5, 0.5])
def test_metrics_of_powers_follow_their_definitions(exponent):
    rng = np.random.default_rng(2)
    A = rng.standard_normal((9, 4))
    X, F = power(A, exponent) + 0.1 * rng.standard_normal((9, 4)), power(A, exponent)
    found = ob.spectral_power(A, exponent).measure(PolarSolution(X, products=3.0))
    top = np.linalg.norm(F, 2)
    H, size = A.T @ X, np.linalg.norm
    spectra = (np.linalg.svd(M, compute_uv=False) for M in (X, F))
    x, f = spectra
    assert found == pytest.approx({
        "distance": size(X - F) / size(F),
        "orthogonality": size(x**2 - f**2) / top**2,
        "smallest": x.min(), "largest": x.max(),
        "asymmetry": size(H - H.T) / size(A) / top,
        "indefiniteness": max(0, -np.linalg.eigvalsh(H + H.T)[0] / 2 / size(A, 2) / top),
        "gain": np.vdot(A, X) / np.vdot(A, F), "products": 3.0,
    })  # fmt: skip


@pytest.mark.parametrize(("exponent", "degree"), [(-0.125, 2), (0.25, 8), (0.5, 3)])
def test_best_polynomials_equioscillate(exponent, degree):
    t = np.geomspace(1e-4, 1, 20_001)
    errors = np.polyval(power_polynomial(exponent, degree, 1e-4)[::-1], t) / t**exponent - 1
    pieces = np.split(errors, np.flatnonzero(np.diff(np.sign(errors))) + 1)
    peaks = np.array([np.abs(piece).max() for piece in pieces])
    assert len(peaks) == degree + 2
    np.testing.assert_allclose(peaks, peaks.max(), rtol=0.01)


@pytest.mark.parametrize("exponent", [-0.75, -0.25])
def test_fractions_gain_the_best_rate_by_each_term(exponent):
    t = np.geomspace(1e-4, 1, 20_001)
    errors = []
    for terms in (4, 12):
        function = power_fractions(exponent, 1e-4, terms, 0.0)
        assert min(function.poles) > 0
        sums = sum(a / (t + c) for a, c in zip(function.weights, function.poles, strict=True))
        errors.append(np.abs((function.constant + sums) / t**exponent - 1).max())
    rate = (errors[0] / errors[1]) ** (1 / 8)
    assert rate == pytest.approx(np.exp(2 * np.pi**2 / np.log(16 / 1e-4)), rel=0.1)


def test_seven_coupled_steps_are_muon_remez():
    """Its code, for a tall matrix, in numpy: two chained iterations of the classical quintic."""

    def coupled(S):
        unit, size = np.eye(len(S)), np.linalg.norm(S)
        Y, Z = S / size, unit
        for _ in range(7):
            P = Z @ Y
            h = 1.875 * unit - 1.25 * P + 0.375 * P @ P
            Y, Z = Y @ h, h @ Z
        return Y * np.sqrt(size), Z / np.sqrt(size)

    A = matrix(100.0)
    M = A / np.linalg.norm(A)
    theirs = M @ coupled(coupled(M.T @ M)[1])[0] * np.sqrt(np.linalg.norm(A))
    problem = ob.spectral_power(A, 0.5)
    ours = ob.solve("coupled-newton-schulz", problem, coefficients="quintic", steps=7)
    np.testing.assert_allclose(ours.solution, theirs, atol=1e-10)
    exact = ob.solve("coupled-newton-schulz", problem).trace[-1].metrics["distance"]
    assert exact < 1e-12 < 1e-3 < ours.trace[-1].metrics["distance"] < 0.05


def test_a_taylor_correction_is_that_of_dynmuon_and_no_power():
    """Its code in numpy: I + dE + d(d - 1)/2 E² on Newton-Schulz, with E = X'X - I, d = p/2."""
    A, p = matrix(100.0), -0.25
    X = A / np.linalg.norm(A)
    E, Y = X.T @ X - np.eye(20), X
    for a, b, c in SCHEDULES["you"].steps:
        S = Y.T @ Y
        Y = Y @ (a * np.eye(20) + b * S + c * S @ S)
    d = p / 2
    theirs = Y @ (np.eye(20) + d * E + d * (d - 1) / 2 * E @ E) * np.linalg.norm(A) ** p
    outcome = ob.solve(
        "corrected-newton-schulz", ob.spectral_power(A, p), coefficients="you", correction="taylor"
    )
    np.testing.assert_allclose(outcome.solution, theirs, atol=1e-12)
    assert outcome.trace[-1].metrics["distance"] > 0.5
    assert distance("corrected-newton-schulz", A, p) < 0.3
    assert distance("corrected-newton-schulz", A, p, degree=8) < 0.2


def test_cubic5_takes_two_thirds_of_the_products_of_jordan():
    """Its abstract counts ten against fifteen; square products, of 2n³ flops."""
    A = np.random.default_rng(0).standard_normal((128, 128))
    found = {
        name: ob.solve("newton-schulz", ob.polar(A), coefficients=name).trace[-1].metrics
        for name in ("cubic5", "jordan")
    }
    assert found["cubic5"]["products"] == pytest.approx(10, rel=0.05)
    assert found["jordan"]["products"] == pytest.approx(15, rel=0.05)


def test_a_schatten_start_saves_a_step_and_takes_no_product_more():
    A = np.random.default_rng(0).standard_normal((256, 128))
    problem = ob.polar(A)
    runs = {
        (start, steps): ob.solve(
            "newton-schulz", problem, coefficients="cubic", start=start, steps=steps
        ).trace[-1].metrics
        for start in ("frobenius", "schatten-4") for steps in (5, 6, 8)
    }  # fmt: skip
    for steps in (5, 6, 8):
        plain, scaled = runs["frobenius", steps], runs["schatten-4", steps]
        assert scaled["products"] == pytest.approx(plain["products"], rel=0.01)
        assert scaled["distance"] < plain["distance"]
    assert runs["schatten-4", 6]["distance"] < runs["frobenius", 8]["distance"]


def test_a_matrix_of_low_rank_has_negative_powers_on_its_range():
    A = np.zeros((6, 3))
    A[0, 0], A[1, 1] = 4.0, 1.0
    for solver in ("polar-svd", "polar-eigh"):
        found = ob.solve(solver, ob.spectral_power(A, -0.5)).solution
        np.testing.assert_allclose(found[:2, :2], np.diag([0.5, 1.0]), atol=1e-12)
        assert np.abs(found[:, 2]).max() == 0


@pytest.mark.parametrize(
    ("error", "words", "call"),
    [
        (UsageError, "from -1 to 1", lambda A: ob.spectral_power(A, 1.5)),
        (UsageError, "from -1 to 1", lambda A: ob.spectral_power(A, float("nan"))),
        (DataError, "rescale", lambda A: ob.spectral_power(A * 1e200, 0.5)),
        (UsageError, "PolarOracle", lambda A: distance("qdwh", A, 0.5)),
        ((UsageError, SolverError), "1/2", lambda A: distance("coupled-newton-schulz", A, 0.3)),
        ((UsageError, SolverError), "above -1", lambda A: distance("rational-power", A, -1)),
    ],
)
def test_unfit_powers_are_refused(error, words, call):
    with pytest.raises(error, match=words):
        call(np.eye(3))
