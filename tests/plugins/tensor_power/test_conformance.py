import pytest
from orthobench_tensor_power import PolarPower, TensorPower

from orthobench.families.orthogonal_tensor import STARTS

VARIANTS = (
    *(cls(start=start) for cls in (TensorPower, PolarPower) for start in STARTS[1:]),
    TensorPower(restarts=4, iterations=6, tolerance=0.0),
)


@pytest.mark.conformance("tensor-power")
def test_conformance(conformance):
    conformance()


@pytest.mark.slow
@pytest.mark.conformance(*VARIANTS)
def test_conformance_of_variants(conformance):
    conformance()
