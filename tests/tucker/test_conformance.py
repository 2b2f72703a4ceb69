import pytest


@pytest.mark.conformance("tucker")
def test_conformance(conformance):
    conformance()
