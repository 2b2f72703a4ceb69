"""The defaults and bounds that are documented, and that stored results were made with."""

import pytest
from orthobench_givens.coordinate_descent import Givens
from orthobench_givens.sparse_pca import GivensSparsePCA
from orthobench_givens.streaming_sparse_pca import GivensStreamingSparsePCA
from orthobench_givens.tensor import GivensTensor

from orthobench.contract.parameters import parameters_of


@pytest.mark.parametrize(
    ("solver", "declared"),
    [
        (Givens, {"sampling": ("uniform", ""), "reflected": (False, ""),
                  "tolerance": (1e-12, "> 0 and < 1")}),
        (GivensTensor, {"order": ("cyclic", ""), "tolerance": (1e-13, ">= 1e-14 and < 1")}),
        (GivensSparsePCA, {"gamma": (0.25, ">= 0 and < 1"), "start": ("identity", ""),
                           "order": ("random", ""), "tolerance": (1e-6, ">= 0")}),
        (GivensStreamingSparsePCA, {"gamma": (0.25, ">= 0 and < 1"), "rotations": (None, ">= 0"),
                                    "start": ("identity", "")}),
    ],
)  # fmt: skip
def test_defaults_and_bounds(solver, declared):
    found = {p.name: (p.default, p.bounds) for p in parameters_of(solver)}
    assert {name: found[name] for name in declared} == declared
