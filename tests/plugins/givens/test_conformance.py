import pytest
from orthobench_givens.coordinate_descent import Givens
from orthobench_givens.sparse_pca import GivensSparsePCA


@pytest.mark.conformance("givens")
def test_conformance(conformance):
    conformance()


@pytest.mark.slow
@pytest.mark.conformance(
    Givens(sampling="without-replacement"), GivensSparsePCA(loadings="thresholded")
)
def test_conformance_of_variants(conformance):
    conformance()
