"""The best rotation of a plane, in closed form, against brute force."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from orthobench_givens._kernels.tensor_angles import best_rotation

GRID = np.linspace(-np.pi, np.pi, 1441)


def equation_11(entries, angle):
    """The corrected equation 11 of Shalit and Chechik (2014)."""
    iii, iij, ijj, jjj = entries
    c, s = np.cos(angle), np.sin(angle)
    return (
        c**3 * (iii + jjj - 3 * ijj - 3 * iij)
        + s**3 * (jjj - iii + 3 * ijj - 3 * iij)
        + 3 * c * (ijj + iij)
        + 3 * s * (iij - ijj)
    )


def rotated_diagonal(entries, angle):
    """T(u, u, u) + T(v, v, v) from the definition of u~ and v~."""
    iii, iij, ijj, jjj = entries
    T = np.array([[[iii, iij], [iij, ijj]], [[iij, ijj], [ijj, jjj]]])
    c, s = math.cos(angle), math.sin(angle)
    return sum(np.einsum("abc,a,b,c->", T, x, x, x) for x in (np.array([c, s]), np.array([-s, c])))


def largest(entries):
    """The largest value, from a grid refined around each of its maxima."""
    best = -np.inf
    values = equation_11(entries, GRID)
    for k in range(1, len(GRID) - 1):
        if values[k] >= max(values[k - 1], values[k + 1]):
            low, high = GRID[k - 1], GRID[k + 1]
            for _ in range(4):
                fine = np.linspace(low, high, 41)
                at = int(np.argmax(equation_11(entries, fine)))
                low, high = fine[max(at - 1, 0)], fine[min(at + 1, 40)]
            best = max(best, float(equation_11(entries, fine).max()))
    return best


entries_of_a_plane = st.tuples(*[st.floats(-1, 1, allow_subnormal=False)] * 4)


@given(entries_of_a_plane)
@example((0.0, 0.0, 0.0, 0.0))
@example((1.0, 0.0, 0.0, 1.0))
@example((1.0, 0.0, 0.0, 3.0))
@example((1.0, 0.0, 0.0, 0.0))
@example((-1.0, 0.0, 0.0, 1.0))
@example((-1.0, 0.0, 0.0, -2.0))
@example((0.3, 0.7, -0.7, 0.2))  # no cubic term from angle 0
@example((0.3, 0.7, -0.7 + 1e-9, 0.2))
@example((1.0, 1.0, 1.0, 1.0))
@example((3.0, 1.0, 1.0, 3.0))  # the first harmonic alone
@example((1.0, 0.0, -1.0, 0.0))  # the third harmonic alone
@example((0.0, 1.0, 0.0, -1.0))
@example((1.0, 1e-9, -1e-9, 1e-3))
@example((1e-200, 1e-200, 0.0, 1e-200))
def test_no_angle_is_better(entries):
    c, s = best_rotation(*entries, 0.0, 0.0)
    scale = max(map(abs, entries))
    assert c * c + s * s == pytest.approx(1, abs=5e-16)
    assert equation_11(entries, math.atan2(s, c)) >= largest(entries) - 1e-12 * scale


@given(entries_of_a_plane, st.floats(-np.pi, np.pi))
def test_equation_11_is_the_rotated_diagonal(entries, angle):
    assert equation_11(entries, angle) == pytest.approx(rotated_diagonal(entries, angle), abs=1e-14)


@pytest.mark.parametrize(("size", "slope"), [(1.0, 1e-14), (1e-5, 1e-17)])
def test_the_angle_is_stationary(size, slope):
    """To rounding; for small angles, near the end, to more than that."""
    rng = np.random.default_rng(0)
    for entries in rng.standard_normal((2000, 4)) * [1, size, size, 1]:
        iii, iij, ijj, jjj = entries
        c, s = best_rotation(*entries, 0.0, 0.0)
        derivative = (
            3 * (iij - ijj) * c**3
            + (6 * (iij + ijj) - 3 * (iii + jjj)) * c**2 * s
            + (3 * (jjj - iii) - 6 * (iij - ijj)) * c * s**2
            - 3 * (iij + ijj) * s**3
        )
        assert abs(derivative) <= slope * np.abs(entries).max()


@pytest.mark.parametrize("weights", [(1.0, 0.0), (0.0, 2.0)])
def test_best_angle_among_ties_is_the_smallest(weights):
    """With one weight zero a quarter turn gains nothing: so the plane stays."""
    assert best_rotation(weights[0], 0.0, 0.0, weights[1], 1e-13, 1e-14) == (1.0, 0.0)
    c, _ = best_rotation(weights[0], 1e-9, 0.0, weights[1], 1e-13, 1e-14)
    assert c > 0.8
