import pytest


@pytest.mark.conformance("stochastic-pca")
def test_conformance(conformance):
    conformance()
