import pytest


@pytest.mark.conformance("gpower")
def test_conformance(conformance):
    conformance()
