"""Problems: synthetic generators and real data sets, and the suites that come with them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from orthobench.hookspecs import hookimpl
from orthobench.problem import AnyProblem
from orthobench_problems.orthogonal_group.brockett import Brockett
from orthobench_problems.orthogonal_group.ica import ICA
from orthobench_problems.orthogonal_group.procrustes import Procrustes
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
    stochastic_pca = (
        OrthogonalDistribution, IncrementalTrap, SpikedCovariance, Digits, MNIST, NpyPCA,
    )  # fmt: skip
    orthogonal_group = (Procrustes, Brockett, ICA)
    return [*stochastic_pca, *orthogonal_group]


@hookimpl
def orthobench_suites() -> Iterable[Path]:
    """Return the paths of the suites."""
    return sorted(Path(__file__).parent.glob("suites/*.toml"))
