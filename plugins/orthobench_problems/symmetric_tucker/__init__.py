"""Problems of symmetric Tucker decomposition."""

from orthobench_problems.symmetric_tucker.factors import GaussianFactor, GeneratedFactor, NIGFactor
from orthobench_problems.symmetric_tucker.files import NpyMoment
from orthobench_problems.symmetric_tucker.hyperspectral import HyperspectralAnomaly
from orthobench_problems.symmetric_tucker.planted import RandomSymmetric
from orthobench_problems.symmetric_tucker.portfolio import Portfolio

PROBLEMS = (
    NIGFactor,
    GaussianFactor,
    GeneratedFactor,
    RandomSymmetric,
    HyperspectralAnomaly,
    Portfolio,
    NpyMoment,
)
