"""The orthogonal group: minimize any function of an orthogonal matrix, U'U = I, U square.

The group has two components, det U = 1 and det U = -1. Methods stay on the one that they start on,
and the optimum may be on the other: `orthogonal_group` has them start on both.
"""

from orthobench_stiefel.orthogonal_group.maker import Judge, orthogonal_group
from orthobench_stiefel.orthogonal_group.oracle import (
    ComponentsOracle,
    OrthogonalGroup,
    OrthogonalGroupOracle,
    orthogonal,
)

__all__ = [
    "ComponentsOracle",
    "Judge",
    "OrthogonalGroup",
    "OrthogonalGroupOracle",
    "orthogonal",
    "orthogonal_group",
]
