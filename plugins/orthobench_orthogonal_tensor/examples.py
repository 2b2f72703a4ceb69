"""Small instances for conformance checks: `EXAMPLES`."""

from __future__ import annotations

import numpy as np
from orthobench_kit.symmetric_tensors import composed

from orthobench.contract.problem import AnyInstance
from orthobench.tools.geometry import random_point
from orthobench_orthogonal_tensor.maker import orthogonal_tensor


def _decomposable() -> AnyInstance:
    U = random_point(5, 5, np.random.default_rng(2))
    return orthogonal_tensor(composed(U, np.arange(1.0, 6.0)))


EXAMPLES = (_decomposable,)
