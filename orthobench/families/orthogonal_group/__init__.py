"""The orthogonal group: minimize any function of an orthogonal matrix, U'U = I, U square.

Rotations keep the sign of det U: what starts on one component of the group stays there. A generic
function may have its optimum on the other one, so start on both.
"""

from orthobench.families.orthogonal_group.judge import Judge, gradient_norm, riemannian_gradient
from orthobench.families.orthogonal_group.maker import orthogonal_group
from orthobench.families.orthogonal_group.oracle import OrthogonalGroupOracle
from orthobench.families.orthogonal_group.problem import OrthogonalGroup

__all__ = [
    "Judge",
    "OrthogonalGroup",
    "OrthogonalGroupOracle",
    "gradient_norm",
    "orthogonal_group",
    "riemannian_gradient",
]
