"""The global minimum over the rotations in a plane, against dense grids and known minima."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.angles import Trigonometric, minimize

from orthobench.errors import DataError

GRID = np.linspace(-np.pi, np.pi, 4001)

coefficients = st.floats(-1, 1, allow_subnormal=False)
graded = st.builds(lambda x, e: x * 10.0**e, coefficients, st.integers(-18, 3))
polynomials = st.integers(1, 9).flatmap(
    lambda size: st.builds(
        Trigonometric,
        st.lists(st.just(0.0) | coefficients | graded, min_size=size, max_size=size),
        st.lists(st.just(0.0) | coefficients | graded, min_size=size, max_size=size),
    )
)


def values(polynomial, angles):
    at = np.multiply.outer(angles, np.arange(len(polynomial.cosines)))
    return np.cos(at) @ polynomial.cosines + np.sin(at) @ polynomial.sines


def slope(polynomial, angle):
    h = np.arange(len(polynomial.cosines))
    terms = np.array(polynomial.sines) * np.cos(h * angle)
    return float(h @ (terms - np.array(polynomial.cosines) * np.sin(h * angle)))


def distance(a, b, period=2 * np.pi):
    return abs(np.remainder(a - b + period / 2, period) - period / 2)


@given(polynomials)
def test_the_minimum_is_that_of_a_dense_grid_or_lower(polynomial):
    found = minimize(polynomial)
    size = float(np.abs(polynomial.cosines).sum() + np.abs(polynomial.sines).sum())
    assert -np.pi <= found.angle <= np.pi
    assert polynomial(found.angle) <= values(polynomial, GRID).min() + 1e-14 * size
    assert found.gain >= 0
    assert found.gain == pytest.approx(polynomial(0) - polynomial(found.angle), abs=1e-14 * size)
    assert np.ptp(values(polynomial, GRID)) <= found.spread + 1e-14 * size


@given(polynomials)
def test_the_minimum_is_a_stationary_point(polynomial):
    found = minimize(polynomial)
    assert abs(slope(polynomial, found.angle)) <= 1e-12 * found.spread


@pytest.mark.parametrize("harmonic", [1, 2, 3, 4, 7])
@given(coefficients, coefficients)
def test_one_harmonic_is_minimized_in_closed_form(harmonic, a, b):
    cosines, sines = np.zeros(harmonic + 1), np.zeros(harmonic + 1)
    cosines[harmonic], sines[harmonic] = a, b
    found = minimize(Trigonometric(cosines, sines))
    assert found.spread == pytest.approx(2 * np.hypot(a, b), rel=1e-15, abs=0)
    assert found.gain == pytest.approx(a + np.hypot(a, b), abs=1e-15)
    assert abs(found.angle) <= np.pi / harmonic * (1 + 1e-15)


def test_constants_stay_where_they_are():
    for polynomial in (
        Trigonometric((), ()),
        Trigonometric((3.0,), (0.0,)),
        Trigonometric((3.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    ):
        assert minimize(polynomial) == (0.0, 0.0, 0.0)
    assert minimize(lambda angle: 3.0) == (0.0, 0.0, 0.0)


def test_equal_minima_give_the_one_nearest_to_zero():
    # period pi, so that angle and angle + pi are equal; minima of cos(2(t - 1)) + 0.3 cos(4(t - 1))
    phase = np.array([2.0, 4.0])
    cosines, sines = np.zeros(5), np.zeros(5)
    cosines[[2, 4]], sines[[2, 4]] = [1, 0.3] * np.cos(phase), [1, 0.3] * np.sin(phase)
    low = np.arccos(-1 / 1.2)
    expected = [1 + low / 2, 1 - low / 2, 1 + low / 2 - np.pi, 1 - low / 2 + np.pi]
    nearest = min(expected, key=abs)
    assert minimize(Trigonometric(cosines, sines)).angle == pytest.approx(nearest, abs=1e-13)


@given(polynomials)
def test_a_callable_is_minimized_as_its_polynomial(polynomial):
    found, exact = minimize(lambda angle: polynomial(angle)), minimize(polynomial)
    size = float(np.abs(polynomial.cosines).sum() + np.abs(polynomial.sines).sum())
    assert found.gain == pytest.approx(exact.gain, abs=1e-11 * size)
    assert polynomial(found.angle) <= polynomial(0)


@pytest.mark.parametrize("target", [-3.1, 3.14, -1.234, -1e-4, 0.02, 0.7853, 2.5])
def test_smooth_callables_to_1e_10(target):
    """Not polynomials of low degree: resolved by the grid, or searched on it."""
    for f in (
        lambda t: -np.exp(3 * np.cos(t - target)),
        lambda t: -1 / (1.05 - np.cos(t - target)) - 0.2 * np.cos(3 * (t - target)),
        lambda t: abs(np.sin((t - target) / 2)),
        lambda t: abs(np.sin(t - target)) + 0.5 * abs(np.sin((t - target) / 2)),
    ):
        found = minimize(f)
        exact = 1e-10 if f(target + 1e-10) > f(target) else 2e-8
        assert distance(found.angle, target) <= exact
        assert f(found.angle) <= f(0.0)
        assert -np.pi <= found.angle <= np.pi
        assert found.gain == pytest.approx(f(0.0) - f(target), rel=1e-9, abs=1e-10)


def test_angle_of_a_resolved_callable_is_exact():
    found = minimize(lambda t: -np.exp(2 * np.cos(t - 0.3)))
    assert found.angle == pytest.approx(0.3, abs=1e-13)


def test_a_callable_never_goes_up_by_its_own_values():
    rng = np.random.default_rng(0)
    for _ in range(200):
        noise = {}

        def f(t, noise=noise):
            return 1 - np.cos(t) * 1e-13 + noise.setdefault(t, 1e-15 * rng.standard_normal())

        assert f(minimize(f).angle) <= f(0.0)


def test_rounding_is_no_gain():
    """A flat plane of a large function: what looks like a gain is noise."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        found = minimize(lambda t: 1e6 * (1 + 3e-16 * rng.standard_normal()))
        assert found.angle == found.gain == 0


def test_function_that_is_not_finite_is_refused():
    with pytest.raises(DataError, match="not finite"):
        minimize(Trigonometric((0.0, np.nan), (0.0, 0.0)))
    with pytest.raises(DataError, match="not finite"):
        minimize(Trigonometric((0.0, 1.0, np.inf), (0.0, 1.0, 0.0)))
    with pytest.raises(DataError, match=r"nan after a rotation by 2\.35619"):
        minimize(lambda t: np.nan if 2 < t < 2.5 else 1.0)


@pytest.mark.parametrize("s", [1e-3, 1e-9, 1e-15, 1e-100])
def test_gains_far_below_rounding_have_all_digits(s):
    found = minimize(Trigonometric((1e6, 0.0, -1.0), (0.0, 0.0, s)))
    assert found.angle == pytest.approx(-np.arctan(s) / 2, rel=1e-14, abs=0)
    assert found.gain == pytest.approx(s * s / (1 + np.hypot(1, s)), rel=1e-13, abs=0)


def test_narrow_valley_beside_a_wide_one_is_found():
    def f(t):
        return -np.exp(40 * (np.cos(t - 2) - 1)) - 0.9 * np.exp(np.cos(t + 1) - 1)

    found = minimize(f)
    assert f(found.angle) <= f(GRID).min()
    assert found.angle == pytest.approx(2, abs=0.01)
