import pytest
from orthobench_stochastic_pca.entropic import MEG, WarmuthKuzmin
from orthobench_stochastic_pca.incremental import IncrementalPCA
from orthobench_stochastic_pca.msg import MSG, CappedMSG

VARIANTS = (
    MSG(start="random", average=True, schedule="constant", step_size=0.1),
    MSG(rounding="sampled", average=True),
    CappedMSG(K=3, start="random", schedule="1/t"),
    CappedMSG(average=True, rounding="sampled"),
    IncrementalPCA(ties="new"),
    WarmuthKuzmin(start="random", rounding="sampled", average=True),
    MEG(rounding="sampled"),
)


@pytest.mark.conformance("stochastic-pca")
def test_conformance(conformance):
    conformance()


@pytest.mark.slow
@pytest.mark.conformance(*VARIANTS)
def test_conformance_of_variants(conformance):
    conformance()
