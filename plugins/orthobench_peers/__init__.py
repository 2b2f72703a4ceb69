"""Peers: methods of other libraries behind the same contract, for direct comparison.

scikit-learn and scipy come with orthobench; TensorLy, pyttb, Pymanopt and Picard with
``pip install orthobench[peers]``, geoopt and the authors' POGO with ``orthobench[peers-torch]``,
torch's own functions with ``orthobench[torch]``, cuML with ``orthobench[cuml]``, Dask with
``orthobench[dask]``, dask-ml with ``orthobench[peers-dask]``.
Solvers whose library is missing are listed, and refuse all problems.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from orthobench.contract import AnySolver, hookimpl
from orthobench_peers.cuml_pca import CumlIncrementalPCA, CumlPCA
from orthobench_peers.dask_methods import (
    DaskMLIncrementalPCA,
    DaskMLPCA,
    DaskSVDCompressed,
    DaskTSQR,
)
from orthobench_peers.ica_methods import PicardO, SklearnFastICA
from orthobench_peers.pymanopt_optimizers import (
    PymanoptConjugateGradient,
    PymanoptSteepestDescent,
    PymanoptTrustRegions,
)
from orthobench_peers.pymanopt_pca import PymanoptPCA
from orthobench_peers.pyttb_methods import PyttbCPALS, PyttbHOSVD, PyttbTuckerALS
from orthobench_peers.scipy_methods import ScipyLOBPCG, ScipySVDS
from orthobench_peers.sklearn_pca import SklearnIncrementalPCA, SklearnPCA
from orthobench_peers.sklearn_sparse_pca import SklearnMiniBatchSparsePCA, SklearnSparsePCA
from orthobench_peers.tensorly_methods import (
    TensorlyHOSVD,
    TensorlyPowerIteration,
    TensorlyTucker,
)
from orthobench_peers.torch_optimizers import GeooptAdam, GeooptSGD, PogoTorch, TorchOrthogonal
from orthobench_peers.torch_pca import TorchEigh, TorchPCALowrank, TorchSVDLowrank


@hookimpl
def orthobench_solvers() -> list[type[AnySolver]]:
    """Return the solvers, whether or not their libraries are installed."""
    return [
        SklearnPCA,
        SklearnIncrementalPCA,
        DaskTSQR,
        DaskSVDCompressed,
        DaskMLPCA,
        DaskMLIncrementalPCA,
        SklearnSparsePCA,
        SklearnMiniBatchSparsePCA,
        ScipySVDS,
        ScipyLOBPCG,
        TorchEigh,
        TorchSVDLowrank,
        TorchPCALowrank,
        CumlPCA,
        CumlIncrementalPCA,
        TensorlyPowerIteration,
        TensorlyTucker,
        TensorlyHOSVD,
        PyttbTuckerALS,
        PyttbHOSVD,
        PyttbCPALS,
        PymanoptSteepestDescent,
        PymanoptConjugateGradient,
        PymanoptTrustRegions,
        PymanoptPCA,
        GeooptSGD,
        GeooptAdam,
        PogoTorch,
        TorchOrthogonal,
        SklearnFastICA,
        PicardO,
    ]


@hookimpl
def orthobench_suites() -> Iterable[Path]:
    """Return the path of the suite."""
    return sorted(Path(__file__).parent.glob("suites/*.toml"))
