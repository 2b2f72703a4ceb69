"""Small instances for conformance checks."""

from __future__ import annotations

import numpy as np

from orthobench.contract.problem import AnyInstance
from orthobench.tools.geometry import random_point
from orthobench_tucker.maker import symmetric_tucker


def _moment() -> AnyInstance:
    rng = np.random.default_rng(6)
    axes = random_point(6, 6, rng)
    skewed = rng.exponential(size=(2000, 6)) * np.linspace(2, 0.2, 6)
    return symmetric_tucker((axes @ skewed.T).T, order=3, rank=2)


EXAMPLES = (_moment,)
