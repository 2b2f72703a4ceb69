"""A default run does not depend on the unit: data or a cost times c give the same point.

Every solver runs on a small instance of each family that it takes, once as it is and once with the
data times c; the points must agree up to rounding. Tucker decompositions take powers of the data,
and refuse what overflows.
"""

import numpy as np
import pytest
from small_instances import CASES, CHAOTIC, FAMILIES, SAMPLE, budget, projection

import orthobench as ob

ABSOLUTE = dict.fromkeys(
    ("geoopt-sgd", "geoopt-adam", "pogo-torch", "torch-orthogonal"),
    "its steps are absolute, as users of torch take them",
) | {"torch-muon": "it adds 1e-7 to the norm"}
"""Solvers of torch that depend on the unit, and why."""


def reached(solver, family, c):
    """Return the projections onto the spans of a point's halves, or a point that is square."""
    instance = FAMILIES[family](c)
    outcome = ob.solve(solver, instance, budget(solver), seed=0)
    point = np.asarray(outcome.solution, dtype=np.float64)
    square = point.shape[0] == point.shape[1]
    if square or family == "polar":
        return point
    halves = np.split(point, [8]) if family.startswith("cca") else [point]
    return np.concatenate([projection(half).ravel() for half in halves])


def check(solver, family, first, *scales):
    if solver in ABSOLUTE:
        pytest.skip(ABSOLUTE[solver])
    try:
        plain = reached(solver, family, first)
    except ob.UsageError as refusal:
        pytest.skip(str(refusal))
    for c in scales:
        try:
            scaled = reached(solver, family, c)
        except ob.DataError:
            assert family.startswith("tucker")
            assert not 1e-24 < c < 1e24
            continue
        assert np.abs(scaled - plain).max() <= CHAOTIC, c


@pytest.mark.parametrize(("solver", "family"), CASES[::SAMPLE])
def test_a_default_run_of_some_does_not_depend_on_the_unit(solver, family):
    check(solver, family, 1.0, 1e-6, 1e6)


@pytest.mark.wide
@pytest.mark.parametrize(("solver", "family"), CASES)
def test_a_default_run_does_not_depend_on_the_unit(solver, family):
    # a tolerance that is not relative parts the ends; a Tucker decomposition may refuse them
    between = (1e-6, 1e6) if family.startswith("tucker") else ()
    check(solver, family, *between, 1e-100, 1e100)
