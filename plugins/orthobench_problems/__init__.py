"""Problems: synthetic generators and real data sets, and the suites that come with them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from orthobench.hookspecs import hookimpl
from orthobench.problem import AnyProblem
from orthobench_problems.sparse_pca.files import NpySparse
from orthobench_problems.sparse_pca.images import DigitsSparse
from orthobench_problems.sparse_pca.planted import PlantedSparse
from orthobench_problems.sparse_pca.prostate import Prostate
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
        Prostate,
        PlantedSparse,
        DigitsSparse,
        NpySparse,
    ]


@hookimpl
def orthobench_suites() -> Iterable[Path]:
    """Return the paths of the suites."""
    return sorted(Path(__file__).parent.glob("suites/*.toml"))
