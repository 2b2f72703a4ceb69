"""Built-in solvers and problems keep to the contract.

The solvers of a plugin are checked with their defaults. Each row below adds a variant whose code
differs; each problem is checked in the size of its row, or with small
defaults.
"""

from contextlib import suppress
from itertools import groupby
from operator import attrgetter
from unittest import SkipTest

import pytest
from orthobench_givens.solvers.coordinate_descent import Givens
from orthobench_givens.solvers.sparse_pca import GivensSparsePCA
from orthobench_gpower.solvers.gpower import GPower
from orthobench_kit.peer import Peer
from orthobench_orthogonal_tensor import STARTS
from orthobench_orthogonal_tensor.solvers.randomized_joint_diagonalization import (
    RandomizedJointDiagonalization,
)
from orthobench_pca.solvers.scipy_methods import ScipySVDS
from orthobench_polar.solvers.corrected_newton_schulz import CorrectedNewtonSchulz
from orthobench_polar.solvers.newton_schulz import NewtonSchulz
from orthobench_sparse_pca.solvers.aman_pg import AManPG
from orthobench_sparse_pca.solvers.tpower import TPower
from orthobench_stiefel.solvers.landing import Landing
from orthobench_stiefel.solvers.manifold_muon import ManifoldMuon
from orthobench_stiefel.solvers.pogo import POGO
from orthobench_stiefel.solvers.random_submanifold import RandomSubmanifold
from orthobench_stiefel.solvers.riemannian_gradient import RiemannianGradient
from orthobench_stiefel.solvers.spel import SPEL
from orthobench_stiefel.solvers.wen_yin import WenYin
from orthobench_stochastic_pca.solvers.ada_oja import AdaOja
from orthobench_stochastic_pca.solvers.ccipca import CCIPCA
from orthobench_stochastic_pca.solvers.entropic import MEG, WarmuthKuzmin
from orthobench_stochastic_pca.solvers.frequent_directions import FrequentDirections
from orthobench_stochastic_pca.solvers.incremental import IncrementalPCA
from orthobench_stochastic_pca.solvers.msg import MSG, CappedMSG
from orthobench_stochastic_pca.solvers.rotating import Oja
from orthobench_stochastic_pca.solvers.torch_pca import TorchSVDLowrank
from orthobench_stochastic_pca.solvers.vr_pca import VRPCA
from orthobench_tensor_power.solvers.polar_power import PolarPower
from orthobench_tensor_power.solvers.tensor_power import TensorPower
from orthobench_tucker.solvers.hooi import HOOI
from orthobench_tucker.solvers.hoqri import HOQRI
from orthobench_tucker.solvers.khatri_rao_sketch import KhatriRaoSketch
from orthobench_tucker.solvers.pgd import PGD
from orthobench_tucker.solvers.quasi_newton import QuasiNewton
from orthobench_tucker.solvers.tensorly_methods import TensorlyHOSVD, TensorlyTucker
from orthobench_tucker.solvers.trust_region import TrustRegion

from orthobench.contract.parameters import parameters_of
from orthobench.registry.plugins import catalogue
from orthobench.testing.cases import Asked, cases, cases_of

PLUGINS = (
    "cca", "givens", "gpower", "orthogonal-tensor", "pca", "polar", "pymanopt", "sparse-pca",
    "stiefel", "stochastic-pca", "tensor-power", "training", "tucker",
)  # fmt: skip

VARIANTS = (
    Givens(sampling="without-replacement"),
    GivensSparsePCA(loadings="thresholded"),
    GPower(penalty="l0"),
    GPower(block=True, gamma=0.01),
    GPower(penalty="l0", block=True, mu="distinct"),
    TPower(cardinality=3, start="largest"),
    NewtonSchulz(coefficients="cubic5", start="schatten-4"),
    CorrectedNewtonSchulz(correction="taylor", coefficients="you"),
    AManPG(ridge=0.1, loadings="thresholded"),
    MSG(start="random", average=True, schedule="constant", step_size=0.1),
    MSG(rounding="sampled", average=True),
    CappedMSG(K=3, start="random", schedule="1/t"),
    CappedMSG(average=True, rounding="sampled"),
    IncrementalPCA(ties="new"),
    WarmuthKuzmin(start="random", rounding="sampled", average=True),
    MEG(rounding="sampled"),
    Oja(form="krasulina"),
    AdaOja(rates="common"),
    CCIPCA(amnesic=2.0),
    FrequentDirections(size=5),
    VRPCA(epoch=33, batch=5),
    *(ScipySVDS(solver=name) for name in ("propack", "lobpcg")),
    *(cls(start=start) for cls in (TensorPower, PolarPower) for start in STARTS[1:]),
    TensorPower(restarts=4, iterations=6, tolerance=0.0),
    RandomizedJointDiagonalization(trials=1, refinements=0),
    *(cls(form="explicit") for cls in (PGD, HOOI, HOQRI, QuasiNewton, TrustRegion)),
    PGD(start="random"),
    HOOI(start="sketch"),
    KhatriRaoSketch(power=1, oversampling=2),
    *(RiemannianGradient(retraction=name) for name in ("polar", "cayley", "newton-schulz")),
    RiemannianGradient(metric="canonical", retraction="cholesky-qr"),
    RiemannianGradient(metric="turning"),
    *(RiemannianGradient(steps=steps) for steps in ("adaptive", "lbfgs", "armijo")),
    *(RiemannianGradient(steps="constant", batch=batch) for batch in (0, 5)),
    RiemannianGradient(steps="constant", momentum=0.9, batch=5),
    WenYin(safe_search=True),
    Landing(batch=5),
    POGO(safe_step=True, batch=5),
    POGO(momentum=0.9, best_normal=True),
    POGO(base="vector-adam"),
    RandomSubmanifold(sampling="rotation", orthonormalize=7),
    SPEL(projection=False, momentum=0.9, batch=5),
    ManifoldMuon(dual="admm", schedule="1/t"),
    ManifoldMuon(relative=False, batch=5),
    TensorlyTucker(backend="torch:cpu"),
    TensorlyHOSVD(backend="torch:cpu"),
    TorchSVDLowrank(oversampling=0, iterations=0),
    *(RandomSubmanifold(sampling=name, batch=5) for name in ("permutation", "rotation")),
)

SIZES = {
    "train-digits": {"width": 8, "passes": 1},
    "train-text": {"characters": 1000, "width": 8, "passes": 1},
    "rotating-gradients": {"n": 8, "m": 5, "steps": 40},
    "odeco-4": {"d": 5},
    "missing-entries": {"n": 12, "k": 2},
    "gmm-moments": {"d": 8, "components": 3, "samples": 400},
    "lda-moments": {"topics": 3, "vocabulary": 20, "documents": 300},
    "planted-sparse": {"d": 30, "samples": 20, "m": 2, "nonzeros": 5, "test": 20},
    "nig-factor": {"n": 8, "rank": 2, "true_rank": 2, "samples": 80, "test": 80, "validation": 50},
    "gaussian-factor": {
        "n": 6, "rank": 2, "true_rank": 2, "samples": 80, "test": 80, "validation": 50,
    },
    "arranged-rows": {"n": 12, "k": 2, "samples": 400},
    "generated-pca": {"n": 12, "k": 2, "samples": 400, "block": 50},
    "generated-factor": {
        "n": 6, "rank": 2, "true_rank": 2, "samples": 400, "block": 50, "test": 80,
        "validation": 50,
    },
    "nonlinear-eigenvalue": {"n": 12, "p": 3},
    "joint-diagonalization": {"n": 6, "matrices": 3},
    "stiefel-procrustes-batch": {"matrices": 3, "n": 8, "p": 3, "rows": 16},
    "random-symmetric": {"n": 6, "rank": 2, "true_rank": 2},
}  # fmt: skip

NEED_FILES = {
    "mnist", "prostate", "hsi-anomaly", "portfolio", "npy-stochastic-pca", "npy-sparse",
    "npy-tensor", "npy-moment", "npy-brockett", "npy-procrustes", "npy-joint-diagonalization",
    "npy-weight-rotation", "train-mnist",
}  # fmt: skip

PROBLEMS = [
    provided.item(**SIZES.get(name, {}))
    for name, provided in catalogue().problems.items()
    if name not in NEED_FILES and not any(p.required for p in parameters_of(provided.item))
]

PEERS = [
    name
    for name, provided in catalogue().solvers.items()
    if any(issubclass(one.item, Peer) for one in provided.all)
]
"""Solvers of which a namesake at least calls another library: flops of those are nominal."""

SHOWN = {
    "cca-exact", "givens", "gpower", "randomized-joint-diagonalization", "gram-pca", "polar-svd",
    "tpower", "wen-yin", "oja", "polar-power", "train-sgd", "hooi", "planted-pencil",
    "spectrum-polar", "odeco", "brockett", "ica",
}  # fmt: skip
"""Solvers and problems of the default tests: a solver of each plugin, and some problems."""

SOLVER_CASES = [
    case
    for plugin in PLUGINS
    for case in cases(Asked(plugin), catalogue())
    if case.kind == "solver"
]
CASES = [
    *(case for case in SOLVER_CASES if case.name not in PEERS),
    *(case for problem in PROBLEMS for case in cases_of(problem)),
]


def grouped():
    """Yield the cases of a solver or a problem: one test each, since a thousand tests take time."""
    for name, found in groupby(CASES, key=attrgetter("name")):
        marks = [] if name in SHOWN else [pytest.mark.wide]
        yield pytest.param(tuple(found), id=name, marks=marks)


def test_names_of_the_default_tests_are_known():
    assert {case.name for case in CASES} >= SHOWN


@pytest.mark.usefixtures("few_objects")
@pytest.mark.parametrize("group", grouped())
def test_conformance(group):
    for case in group:
        with suppress(SkipTest):
            case()


@pytest.mark.wide
@pytest.mark.usefixtures("few_objects")
@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.id) for case in SOLVER_CASES if case.name in PEERS]
)
def test_conformance_of_other_libraries(case):
    case()


@pytest.mark.slow
@pytest.mark.conformance(*VARIANTS)
def test_conformance_of_variants(conformance):
    conformance()
