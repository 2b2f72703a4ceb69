"""frequent-directions: what it keeps exactly, and what it refuses."""

import numpy as np
import pytest
from orthobench_kit.geometry import subspace_error
from orthobench_stochastic_pca.solvers.frequent_directions import FrequentDirections

import orthobench as ob
from orthobench.errors import UsageError


@pytest.mark.parametrize("rank", [3, 7])
def test_samples_of_low_rank_are_decomposed_exactly(rank):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, rank)) @ rng.standard_normal((rank, 30))
    outcome = ob.solve("frequent-directions", ob.stochastic_pca(X, k=3), size=8)
    assert outcome.trace[-1].metrics["suboptimality"] < 1e-10
    exact = np.linalg.svd(X)[2][:3].T
    assert subspace_error(exact, outcome.solution) < 1e-10


def test_fewer_rows_than_directions_are_refused():
    X = np.random.default_rng(0).standard_normal((20, 10))
    with pytest.raises(UsageError, match="size must be above k = 5, not 5"):
        ob.solve(FrequentDirections(size=5), ob.stochastic_pca(X, k=5))
