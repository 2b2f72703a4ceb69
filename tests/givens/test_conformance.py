import pytest


@pytest.mark.conformance("givens")
def test_conformance(conformance):
    conformance()
