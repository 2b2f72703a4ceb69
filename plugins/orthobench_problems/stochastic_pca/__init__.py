"""Problems of stochastic PCA."""

from orthobench_problems.stochastic_pca.files import NpyPCA
from orthobench_problems.stochastic_pca.images import MNIST, Digits
from orthobench_problems.stochastic_pca.synthetic import (
    IncrementalTrap,
    OrthogonalDistribution,
    SpikedCovariance,
)

PROBLEMS = (OrthogonalDistribution, IncrementalTrap, SpikedCovariance, Digits, MNIST, NpyPCA)
