"""The Stiefel manifold: minimize a smooth function of orthonormal columns, X (n, p), X'X = I.

Points off the manifold are judged at the nearest feasible one. X may be a stack (m, n, p): see
`ProductOracle`.
"""

from orthobench.contract import discovered
from orthobench_stiefel.functions import FunctionOracle
from orthobench_stiefel.judge import Judge, defect, feasible, instance, projected, violation
from orthobench_stiefel.maker import stiefel
from orthobench_stiefel.oracle import (
    Cost,
    FiniteSumOracle,
    Gradient,
    Hessian,
    ProductOracle,
    Stiefel,
    StiefelOracle,
)

__all__ = [
    "Cost",
    "FiniteSumOracle",
    "FunctionOracle",
    "Gradient",
    "Hessian",
    "Judge",
    "ProductOracle",
    "Stiefel",
    "StiefelOracle",
    "defect",
    "feasible",
    "instance",
    "projected",
    "stiefel",
    "violation",
]

orthobench_solvers, orthobench_problems, orthobench_suites = discovered(__name__)
