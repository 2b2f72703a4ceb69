import pytest


@pytest.mark.conformance("tensor-power")
def test_conformance(conformance):
    conformance()
