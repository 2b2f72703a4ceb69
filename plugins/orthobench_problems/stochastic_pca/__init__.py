"""Problems of stochastic PCA."""

from orthobench_problems.stochastic_pca.files import NpyPCA
from orthobench_problems.stochastic_pca.images import MNIST, Digits
from orthobench_problems.stochastic_pca.missing_entries import MissingEntries
from orthobench_problems.stochastic_pca.synthetic import (
    GeneratedPCA,
    IncrementalTrap,
    OrthogonalDistribution,
    SpikedCovariance,
)

PROBLEMS = (
    OrthogonalDistribution,
    IncrementalTrap,
    SpikedCovariance,
    GeneratedPCA,
    MissingEntries,
    Digits,
    MNIST,
    NpyPCA,
)
