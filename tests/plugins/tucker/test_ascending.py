"""The rule "ascending" of pgd at its bounds, and the forms of a batch's gradient."""

import numpy as np
import pytest
from orthobench_tucker.ascending import (
    CUT,
    GROWTH,
    PATIENCE,
    ROUNDING,
    SMALLEST,
    Iterate,
    end_slopes,
    next_step_size,
    sufficient,
)
from orthobench_tucker.spgd import GRAM_FORM, SPGD, monomial_table

from orthobench.contract.parameters import ParameterError
from orthobench.tools.geometry import random_point

BASIS = random_point(5, 2, np.random.default_rng(0)).T


def at(objective, relative=0.5):
    tangent = np.zeros_like(BASIS)
    return Iterate(BASIS, np.eye(2), tangent, objective, relative)


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("step", [0.1, 1.0, 1000.0])
def test_a_step_gains_a_tenth_of_what_its_length_promises(order, step):
    """min(s, 1) |V|² / (10 (2d F + |V|)), with |V| = F / 2."""
    F = 4.0
    least = min(step, 1.0) * (F / 2) ** 2 / (10 * (2 * order * F + F / 2))
    assert sufficient(at(F), at(F + 1.01 * least), order, step)
    assert not sufficient(at(F), at(F + 0.99 * least), order, step)
    assert not sufficient(at(F), at(F - least), order, step)


@pytest.mark.parametrize(
    ("fall", "relative", "accepted"),
    [
        (0.0, 0.25, True),
        (0.5 * ROUNDING, 0.25, True),
        (2 * ROUNDING, 0.25, False),
        (0.0, 0.26, False),
    ],
)
def test_of_equal_values_a_gradient_half_as_large_is_accepted(fall, relative, accepted):
    assert sufficient(at(4.0), at(4.0 * (1 - fall), relative), 3, 1.0) is accepted


def test_a_rejected_step_is_cut_and_after_three_accepted_ones_it_grows():
    assert (CUT, GROWTH, PATIENCE, SMALLEST) == (10, 2, 3, 1e-16)
    step, accepted = 1.0, 0
    steps = []
    for _ in range(8):
        step, accepted = next_step_size(step, 5.0, accepted)
        steps.append(step)
    assert steps == [1, 1, 2, 2, 2, 4, 4, 4]
    assert next_step_size(4.0, 5.0, 2) == (5.0, 0)
    assert next_step_size(5.0, 5.0, 2) == (5.0, 3)


def test_slopes_at_both_ends_are_those_of_the_curve_between():
    """On the circle, at an angle a from the axis of F = cos²: Q'Y = cos a, and D = tan a."""
    first, last = (np.array([[np.cos(a), np.sin(a)]]) for a in (0.3, 0.1))
    across = [np.array([[-np.sin(a), np.cos(a)]]) * -np.sin(2 * a) for a in (0.3, 0.1)]
    ends = [Iterate(Q, np.eye(1), V, 1.0, 1.0) for Q, V in zip((first, last), across, strict=True)]
    slopes = end_slopes(*ends)
    expected = np.tan(0.2) * np.sin(0.6), np.tan(0.2) * np.sin(0.2)
    assert slopes == pytest.approx(expected)
    square = Iterate(np.eye(2)[1:], *ends[0][1:]), Iterate(np.eye(2)[:1], *ends[0][1:])
    assert end_slopes(*square) == (np.inf, np.inf)


@pytest.mark.parametrize(("batch", "core"), [(5, False), (6, True), (7, True)])
def test_the_core_of_a_batch_is_taken_where_it_has_no_more_columns_than_samples(batch, core):
    """Of 3 columns and order 3 there are 6 monomials of degree 2."""
    table = monomial_table(3, 3, batch)
    assert (table is not GRAM_FORM) is core
    assert len(table[2]) == (6 if core else 0)
    if core:
        assert sorted(table[2].tolist()) == [1, 1, 1, 2, 2, 2]


def test_the_first_phase_takes_batches_no_larger_than_the_second():
    assert SPGD(batch=20, hoevd_batch=20).hoevd_batch == 20
    with pytest.raises(ParameterError, match="hoevd_batch must be at most batch = 20, not 21"):
        SPGD(batch=20, hoevd_batch=21)
