"""Problems of symmetric Tucker decomposition."""

from orthobench_problems.symmetric_tucker.factors import GaussianFactor, NIGFactor
from orthobench_problems.symmetric_tucker.files import NpyMoment
from orthobench_problems.symmetric_tucker.planted import RandomSymmetric

PROBLEMS = (NIGFactor, GaussianFactor, RandomSymmetric, NpyMoment)
