"""Small instances that conformance checks run solvers on: `EXAMPLES`."""

from __future__ import annotations

import numpy as np

from orthobench.contract.problem import AnyInstance
from orthobench.families.orthogonal_tensor.maker import orthogonal_tensor
from orthobench.families.symmetric_tensors import composed
from orthobench.tools.geometry import random_point


def _decomposable() -> AnyInstance:
    U = random_point(5, 5, np.random.default_rng(2))
    return orthogonal_tensor(composed(U, np.arange(1.0, 6.0)))


EXAMPLES = (_decomposable,)
