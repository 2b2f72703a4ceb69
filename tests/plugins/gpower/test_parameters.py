"""The defaults, bounds and grids that are documented, and that stored results were made with."""

import pytest
from orthobench_gpower.aman_pg import AManPG
from orthobench_gpower.gpower import GPower
from orthobench_gpower.tpower import TPower

from orthobench.contract.parameters import parameters_of


@pytest.mark.parametrize(
    ("solver", "declared"),
    [
        (GPower, {"penalty": ("l1", ""), "block": (False, ""), "mu": ("equal", ""),
                  "gamma": (0.1, ">= 0 and < 1"), "tolerance": (1e-4, ">= 0 and < 1")}),
        (AManPG, {"gamma": (0.1, ">= 0 and < 1"), "penalties": ("own", ""), "ridge": (None, ">= 0"),
                  "tolerance": (1e-7, ">= 0")}),
        (TPower, {"cardinality": (10, ">= 1"), "start": ("warm", ""),
                  "tolerance": (1e-8, ">= 0 and < 1")}),
    ],
)  # fmt: skip
def test_defaults_and_bounds(solver, declared):
    found = {p.name: (p.default, p.bounds) for p in parameters_of(solver)}
    assert {name: found[name] for name in declared} == declared


def test_cardinalities_are_tuned_over_two_decades():
    (cardinality, *_) = parameters_of(TPower)
    assert cardinality.grid == (3, 5, 10, 20, 40, 80, 160, 320)
