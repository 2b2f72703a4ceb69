"""Small instances for conformance checks: `EXAMPLES`."""

from __future__ import annotations

from functools import partial

import numpy as np

from orthobench.contract.problem import AnyInstance
from orthobench.tools.geometry import random_point
from orthobench_sparse_pca.maker import sparse_pca


def _centred(samples: int, m: int) -> AnyInstance:
    rng = np.random.default_rng(10)
    axes = random_point(10, 10, rng)
    A = axes @ (np.linspace(2, 0.2, 10)[:, None] * rng.exponential(size=(10, samples)))
    A -= A.mean(axis=1, keepdims=True)
    return sparse_pca(A.T, m=m, center=False)


EXAMPLES = (partial(_centred, 60, 3), partial(_centred, 6, 6))
