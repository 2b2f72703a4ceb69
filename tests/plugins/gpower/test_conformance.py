import pytest
from orthobench_gpower.gpower import GPower

VARIANTS = (
    GPower(penalty="l0"),
    GPower(block=True),
    GPower(penalty="l0", block=True, mu="distinct"),
)


@pytest.mark.conformance("gpower")
def test_conformance(conformance):
    conformance()


@pytest.mark.slow
@pytest.mark.conformance(*VARIANTS)
def test_conformance_of_variants(conformance):
    conformance()
