import pytest


@pytest.mark.conformance("peers")
def test_conformance(conformance):
    conformance()
