"""Tables of growth: what problems do not identify is said, and time is held against flops."""

from dataclasses import replace

import pytest

from orthobench.atlas.scaling import conditions
from orthobench.atlas.site.growth import cost_model, fits, hidden


def sized(rows, sizes):
    """Return runs on problems of some sizes, whose time grows as d and whose flops as d squared."""
    first = rows(problems=1, solvers=1, seeds=3)
    return [
        replace(row, problem=f"p{i}", d=d, k=k, rows=0, parameters=f'{{"n": {d}, "k": {k}}}',
                seconds=1e-6 * d, flops=d**2, seconds_to=(1e-6 * d,) * 5, flops_to=(d**2,) * 5)
        for i, (d, k) in enumerate(sizes) for row in first
    ]  # fmt: skip


def test_the_exponents_of_time_and_flops_stand_side_by_side(rows):
    own = sized(rows, [(10, 2), (20, 4), (40, 2), (40, 8), (10, 8)])
    first, second = fits(own, conditions(own))
    assert (first.size, first.seconds) == ("d", "1.00 (1.00 to 1.00)")
    assert first.flops == "2.00 (2.00 to 2.00)"
    assert first.name == "5 problems, off by 1 in time and 1 in flops"
    assert second.size == "k"
    assert hidden(own, conditions(own)) == ""


def test_what_is_not_identified_is_said(rows):
    own = sized(rows, [(d, d) for d in (5, 10, 20)])
    said = hidden(own, conditions(own))
    assert said == "d and k grow alike in all problems, and have one exponent"
    own = [replace(row, rows=900) for row in sized(rows, [(5, 2), (10, 2), (20, 2)])]
    assert "no exponent of k and rows is identified" in hidden(own, conditions(own))
    own = sized(rows, [(5, 2), (10, 2)])
    assert "no exponent of d and k is identified" in hidden(own, conditions(own))


def test_sizes_that_only_vary_together_are_not_identified(rows):
    own = sized(rows, [(k**2, k) for k in (2, 4, 8)])
    assert {one.seconds for one in fits(own, conditions(own))} == {"not identified"}


@pytest.mark.parametrize(
    ("power", "verdict"),
    [(0.5, "grows slower than"), (1.0, "in line with"), (1.5, "grows faster than")],
)
def test_time_is_held_against_the_declared_flops(rows, power, verdict):
    scatter = {10: 1.02, 20: 0.98, 40: 0.98, 80: 1.02}
    own = [
        replace(row, seconds=1e-9 * row.flops**power * scatter[row.d])
        for row in sized(rows, [(d, 2) for d in scatter])
    ]
    found = cost_model(own)
    assert found.verdict == f"{verdict} the declared flops"
    assert found.problems == 4
    assert found.power.startswith(f"{power:.2f} (")
