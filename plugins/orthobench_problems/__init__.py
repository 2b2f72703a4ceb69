"""Problems: synthetic generators and real data sets, and the suites that come with them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from orthobench.hookspecs import hookimpl
from orthobench.problem import AnyProblem
from orthobench_problems.orthogonal_tensor.files import NpyTensor
from orthobench_problems.orthogonal_tensor.gaussians import GaussianMixtureMoments
from orthobench_problems.orthogonal_tensor.lda import LDAMoments
from orthobench_problems.orthogonal_tensor.odeco import Odeco
from orthobench_problems.stochastic_pca.files import NpyPCA
from orthobench_problems.stochastic_pca.images import MNIST, Digits
from orthobench_problems.stochastic_pca.synthetic import (
    IncrementalTrap,
    OrthogonalDistribution,
    SpikedCovariance,
)


@hookimpl
def orthobench_problems() -> Iterable[type[AnyProblem]]:
    """Return the problem classes."""
    return [
        OrthogonalDistribution,
        IncrementalTrap,
        SpikedCovariance,
        Digits,
        MNIST,
        NpyPCA,
        Odeco,
        GaussianMixtureMoments,
        LDAMoments,
        NpyTensor,
    ]


@hookimpl
def orthobench_suites() -> Iterable[Path]:
    """Return the paths of the suites."""
    return sorted(Path(__file__).parent.glob("suites/*.toml"))
