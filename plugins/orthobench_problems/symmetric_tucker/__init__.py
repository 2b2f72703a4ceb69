"""Problems of symmetric Tucker decomposition."""

from orthobench_problems.symmetric_tucker.hyperspectral import HyperspectralAnomaly
from orthobench_problems.symmetric_tucker.portfolio import Portfolio

PROBLEMS = (HyperspectralAnomaly, Portfolio)
