"""Each solver that takes arrays of any library, on those that are installed."""

import pytest

from orthobench.contract import ArraySolver
from orthobench.registry.plugins import catalogue
from orthobench.testing.check import NotConforming
from orthobench.testing.check_of_libraries import check_libraries
from orthobench.testing.examples import example
from orthobench.tools.places import place_of

SOLVERS = [
    name
    for name, p in catalogue().solvers.items()
    if issubclass(p.item, ArraySolver) and p.item.on == "numpy"
]

SINGLE = {"numpy/float32", "torch:cpu/float32", "torch:cuda/float32"}
"""Places of a precision in which a run differs by rounding that its steps amplify."""

ROUNDED = 2e-3
"""Largest difference there, relative to the largest value of a metric: 2e4 rounding units."""


def needed(on):
    if why := place_of(on).missing():
        pytest.skip(why)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize(
    "on",
    [
        "torch:cpu", "torch:cuda", "cupy", *sorted(SINGLE),
        pytest.param("jax:cpu", marks=pytest.mark.slow),  # it compiles for each length of a chunk
    ],
)  # fmt: skip
def test_runs_are_those_of_numpy(name, on):
    needed(on)
    # long steps along geodesics turn by many radians, which makes rounding grow
    solver = catalogue().solver(name, {"step": 0.1} if name == "grassmannian-sgd" else {})
    tolerance = ROUNDED if on in SINGLE else 1e-10
    check_libraries(solver, example(solver), on, tolerance)


def test_a_difference_is_found():
    solver = catalogue().solver("oja")
    with pytest.raises(NotConforming, match=r"on numpy/float32 the metric \w+ differs by"):
        check_libraries(solver, example(solver), "numpy/float32")
