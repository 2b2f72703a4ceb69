"""The best angle in a plane against an exact method that knows the breakpoints."""

import numba
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from orthobench_givens._kernels import sparse_circle
from orthobench_givens._kernels.sparse_angle import SCRATCH, best_angle

FINE = np.linspace(0.0, np.pi / 2, 20_001)
NEAR = np.array([-1e-3, -1e-5, 1e-5, 1e-3])


def value(x, y, gamma, angles):
    """Equation 6, as it is printed but for the parentheses that it lacks."""
    t = np.atleast_1d(angles)[:, None]
    u, v = np.cos(t) * x + np.sin(t) * y, np.cos(t) * y - np.sin(t) * x
    for beyond in (u, v):
        np.abs(beyond, out=beyond)
        np.maximum(np.subtract(beyond, gamma, out=beyond), 0.0, out=beyond)
    return np.einsum("ti,ti->t", u, u) + np.einsum("ti,ti->t", v, v)


def highest(x, y, gamma, angles):
    """The largest value, by parts that the caches hold."""
    parts = np.array_split(angles, len(angles) * len(x) // 20_000 + 1)
    return max(value(x, y, gamma, part).max() for part in parts)


def outside(x, y, gamma):
    inside = x * x + y * y <= gamma * gamma
    return x[~inside], y[~inside]


def exact(x, y, gamma):
    """Return the maximum: between breakpoints f is a trigonometric polynomial of degree 2.

    Its stationary points are the roots of a quartic in exp(it).
    """
    x, y = outside(x, y, gamma)
    r, phase = np.hypot(x, y), np.arctan2(y, x)
    half = np.arccos(np.minimum(gamma / r, 1.0))
    ends = np.unique(
        np.r_[0.0, np.pi / 2, (phase - half) % (np.pi / 2), (phase + half) % (np.pi / 2)]
    )
    middle = (ends[1:, None] + ends[:-1, None]) / 2
    u, v = np.cos(middle) * x + np.sin(middle) * y, np.cos(middle) * y - np.sin(middle) * x
    su, sv = np.sign(u) * (np.abs(u) > gamma), np.sign(v) * (np.abs(v) > gamma)
    one = np.abs(su) - np.abs(sv)
    # f = const + c2 cos 2t + s2 sin 2t + c1 cos t + s1 sin t
    c2, s2 = one @ (x * x - y * y) / 2, one @ (x * y)
    c1, s1 = -2 * gamma * (su @ x + sv @ y), -2 * gamma * (su @ y - sv @ x)
    return highest(x, y, gamma, np.r_[ends, phase, stationary(s2 + 1j * c2, (s1 + 1j * c1) / 2)])


def stationary(a, b):
    """The angles of the roots of a z**4 + b z**3 + conj(b) z + conj(a)."""
    quartic, quadratic = a != 0, (a == 0) & (b != 0)
    companions = np.zeros((np.sum(quartic), 4, 4), complex)
    companions[:, [1, 2, 3], [0, 1, 2]] = 1.0
    head = np.stack([b, 0 * b, b.conj(), a.conj()], axis=-1)[quartic]
    companions[:, 0] = -head / a[quartic, None]
    square = np.sqrt(-b[quadratic].conj() / b[quadratic])
    return np.angle(np.r_[np.linalg.eigvals(companions).ravel(), square, -square])


def found(x, y, gamma):
    x, y = outside(np.asarray(x, float), np.asarray(y, float), gamma)
    n = len(x)
    scratch = np.zeros((3, n + SCRATCH))
    scratch[:2, :n] = x, y
    return best_of_rows(scratch, n, float(gamma))


@numba.njit  # not kept: a cache here would not notice a change of what is tested
def best_of_rows(scratch, n, gamma):
    """Call it as the solver does, so that what is tested is what the solver runs."""
    p, q, grid = scratch
    return best_angle(p, q, n, gamma, grid)


def check(x, y, gamma):
    """The angle is that of a maximum, nearly always the highest; value and gain say what it has.

    If two maxima are nearly as high, the grid may take the wrong one.
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    assume(len(outside(x, y, gamma)[0]))
    result, best = found(x, y, gamma), exact(x, y, gamma)
    angle = np.arctan2(result.sine, result.cosine)
    rounding = 1e-14 * np.sum(x * x + y * y)
    assert abs(angle) <= np.pi / 4 + 1e-15
    assert result.cosine**2 + result.sine**2 == pytest.approx(1.0, abs=1e-15)
    assert result.value == pytest.approx(value(x, y, gamma, angle)[0], rel=1e-12, abs=rounding)
    gain = result.value - value(x, y, gamma, 0.0)[0]
    assert result.gain == pytest.approx(gain, rel=1e-12, abs=rounding)
    assert result.gain >= -rounding
    assert result.value >= value(x, y, gamma, FINE[::2500]).max() - rounding
    assert value(x, y, gamma, angle + NEAR).max() <= result.value * (1 + 1e-9) + rounding
    assert result.value >= 0.99 * best - rounding


entries = st.one_of(
    st.integers(-4, 4).map(float),
    st.floats(-3, 3).map(lambda a: round(a, 6)),
    st.sampled_from([0.0, 1.0, -1.0, 1 + 1e-9, 1 - 1e-9, np.sqrt(0.5), 5.0]),
)


@given(
    rows=st.lists(st.tuples(entries, entries), min_size=1, max_size=12), copies=st.integers(1, 4)
)
def test_few_rows_with_ties_zeros_and_rows_at_gamma(rows, copies):
    x, y = np.array(rows * copies).T
    check(x, y, 1.0)


@given(seed=st.integers(0, 2**32), n=st.integers(1, 8), tiny=st.floats(-6, -1))
def test_rows_barely_outside(seed, n, tiny):
    rng = np.random.default_rng(seed)
    r, phase = 1 + 10**tiny * rng.random(n), 2 * np.pi * rng.random(n)
    check(r * np.cos(phase), r * np.sin(phase), 1.0)


@pytest.mark.parametrize("n", [3, 40, 500])
def test_agrees_with_brute_force(n):
    rng = np.random.default_rng(n)
    for _ in range(8):
        x, y = rng.standard_normal((2, n))
        gamma = rng.uniform(0.2, 1.5)
        if len(outside(x, y, gamma)[0]):
            assert found(x, y, gamma).value >= highest(x, y, gamma, FINE) * (1 - 1e-12)


def test_the_angle_is_accurate_where_the_maximum_is_sharp():
    rng = np.random.default_rng(0)
    for _ in range(200):
        turn = rng.uniform(-np.pi / 4, np.pi / 4)
        u = np.r_[rng.uniform(2, 3, 30), np.zeros(30)]
        c, s = np.cos(turn), np.sin(turn)
        x, y = c * u - s * u[::-1], s * u + c * u[::-1]
        result = found(x, y, 1.0)
        assert abs(np.arctan2(result.sine, result.cosine) - turn) <= 1e-10


@pytest.mark.parametrize("whole", [False, True])
def test_hardly_ever_misses_the_global_maximum(whole):
    """About one in a thousand random planes; a local search, 30."""
    rng, missed = np.random.default_rng(1), 0
    for _ in range(500):
        x, y = rng.standard_normal((2, rng.integers(1, 30)))
        if whole:
            x, y = np.round(2 * x), np.round(2 * y)
        x, y = outside(x, y, 1.2)
        if len(x):
            missed += found(x, y, 1.2).value < exact(x, y, 1.2) * (1 - 1e-9)
    assert missed <= 3


@numba.njit
def derivatives(rows, n, gamma, cosine, sine):
    x, y = rows
    return sparse_circle.derivatives(x, y, n, gamma, cosine, sine)


def test_derivatives_are_those_of_differences():
    rows = x, y = np.random.default_rng(2).standard_normal((2, 64))
    t, h = 0.3, 1e-4
    f = value(x, y, 0.9, [t - 2 * h, t - h, t, t + h, t + 2 * h])
    at = derivatives(rows, 64, 0.9, np.cos(t), np.sin(t))
    assert at.value == pytest.approx(f[2], rel=1e-14)
    assert 2 * at.first == pytest.approx((f[3] - f[1]) / (2 * h), rel=1e-5)
    assert 2 * at.second == pytest.approx((f[3] - 2 * f[2] + f[1]) / h**2, rel=1e-4)
    third = (f[4] - 2 * f[3] + 2 * f[1] - f[0]) / (2 * h**3)
    assert 2 * at.third == pytest.approx(third, rel=1e-2)
