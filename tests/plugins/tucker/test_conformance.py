import pytest
from orthobench_tucker.hooi import HOOI
from orthobench_tucker.pgd import PGD
from orthobench_tucker.quasi_newton import QuasiNewton
from orthobench_tucker.trust_region import TrustRegion

VARIANTS = [cls(form="explicit") for cls in (PGD, HOOI, QuasiNewton, TrustRegion)]


@pytest.mark.conformance("tucker")
def test_conformance(conformance):
    conformance()


@pytest.mark.slow
@pytest.mark.conformance(*VARIANTS, PGD(start="random"))
def test_conformance_of_variants(conformance):
    conformance()
