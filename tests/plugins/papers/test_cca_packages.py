"""Runs of the claims on two packages for canonical correlations."""

import numpy as np
import pytest
from orthobench_papers import cca_packages


def test_pairs_are_standardized_and_share_five_variables():
    X, Y = cca_packages.pairs(0)
    for side in (X, Y):
        assert side.mean(axis=0) == pytest.approx(np.zeros(50), abs=1e-12)
        assert side.std(axis=0) == pytest.approx(np.ones(50))
    bases = [np.linalg.qr(side)[0] for side in (X, Y)]
    correlations = np.linalg.svd(bases[0].T @ bases[1])[1]
    assert correlations[4] > 0.85
    assert correlations[5] < 0.4
