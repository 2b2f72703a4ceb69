"""Small classical tables as problems of sparse PCA."""

from pathlib import Path

import numpy as np
import orthobench_sparse_pca.problems
import pytest
from orthobench_sparse_pca.problems.classics import ClassicSparse

from orthobench.errors import UsageError

TABLES = Path(orthobench_sparse_pca.problems.__file__).parent / "tables"


def table(name):
    return np.genfromtxt(TABLES / f"{name}.csv", delimiter=",", skip_header=2)


def wine():
    from sklearn.datasets import load_wine

    return load_wine().data


EXPECTED = {
    "mtcars": (32, 11, lambda: np.corrcoef(table("mtcars").T) * 32),
    "pitprops": (13, 13, lambda: table("pitprops")),
    "wine": (178, 13, lambda: np.corrcoef(wine().T) * 178),
}
"""Samples, features, and the products of features over the samples."""


@pytest.mark.parametrize("data", EXPECTED)
def test_products_of_features_are_their_correlations(data):
    samples, features, products = EXPECTED[data]
    problem = ClassicSparse(data=data)
    A = problem.build(np.random.default_rng(0)).oracle.A
    assert A.shape == (features, problem.samples) == (features, samples)
    np.testing.assert_allclose(A @ A.T, products(), atol=1e-12 * samples)


@pytest.mark.parametrize("data", EXPECTED)
@pytest.mark.parametrize("each", [True, False], ids=["each component", "all components"])
def test_no_more_loadings_than_there_are_can_be_asked_for(data, each):
    most = EXPECTED[data][1] * (1 if each else 2)
    ClassicSparse(data=data, m=2, each=each, cardinality=most)
    ClassicSparse(data=data, m=2, each=each, cardinality=None)
    with pytest.raises(UsageError, match=f"cardinality must be at most {most}, not {most + 1}"):
        ClassicSparse(data=data, m=2, each=each, cardinality=most + 1)


def test_instance_asks_for_the_given_sizes():
    oracle = ClassicSparse(m=2, cardinality=5, each=False).build(np.random.default_rng(0)).oracle
    assert (oracle.k, oracle.cardinality, oracle.each) == (2, 5, False)
