"""Symmetric Tucker decomposition: X ≈ C ·(Q', ..., Q') with an orthonormal basis Q (n, r).

maximize F(Q) = |X ·(Q, ..., Q)|² over Q'Q = I, for a symmetric tensor X of order d. The best core
is C = X ·(Q, ..., Q), and |X|² - F(Q) the squared error (Jin, Kileel, Kolda and Ward 2022,
equations 2 and 3, Remark 1). X may be a sample moment (1/p) sum_i x_i ⊗ ... ⊗ x_i, which then
need not be formed.
"""

from orthobench.contract import discovered
from orthobench_tucker.judge import Judge, SampleMoment
from orthobench_tucker.maker import symmetric_tucker
from orthobench_tucker.oracle import (
    ComponentSolution,
    GivenTensorOracle,
    MomentOracle,
    MomentStream,
    SymmetricTensorOracle,
    SymmetricTucker,
    TuckerOracle,
    tensor_refusal,
)

__all__ = [
    "ComponentSolution",
    "GivenTensorOracle",
    "Judge",
    "MomentOracle",
    "MomentStream",
    "SampleMoment",
    "SymmetricTensorOracle",
    "SymmetricTucker",
    "TuckerOracle",
    "symmetric_tucker",
    "tensor_refusal",
]

orthobench_solvers, orthobench_problems, orthobench_suites = discovered(__name__)
