"""Orthogonal tensor decomposition: T = sum_i w_i u_i ⊗ ... ⊗ u_i with orthonormal u_i.

Maximize sum_i T(u_i, ..., u_i) over U'U = I, for a symmetric tensor T of order 3 (Shalit and
Chechik 2014, equation 8) or 4. If T has such a decomposition with positive weights, its factors
are the global maximum, the sum of the weights. For order 3 signed permutations of them are strict
local maxima, which their Theorem 3 overlooks: weights (1, 3) with U = [e2, -e1] give 2, not 4.
"""

from orthobench.contract import discovered
from orthobench_orthogonal_tensor.judge import Judge
from orthobench_orthogonal_tensor.maker import orthogonal_tensor
from orthobench_orthogonal_tensor.oracle import (
    STARTS,
    AnyOrderOracle,
    FourthOrderOracle,
    OrthogonalTensor,
    TensorOracle,
    decomposition,
    first_point,
    first_point_flops,
    start_parameter,
)

__all__ = [
    "STARTS",
    "AnyOrderOracle",
    "FourthOrderOracle",
    "Judge",
    "OrthogonalTensor",
    "TensorOracle",
    "decomposition",
    "first_point",
    "first_point_flops",
    "orthogonal_tensor",
    "start_parameter",
]

orthobench_solvers, orthobench_problems, orthobench_suites = discovered(__name__)
