"""Small instances for conformance checks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from orthobench_kit.sources import ArraySource

from orthobench.contract.problem import AnyInstance
from orthobench.tools.arrays import Array
from orthobench.tools.geometry import random_point
from orthobench_stochastic_pca.maker import stochastic_pca
from orthobench_stochastic_pca.oracle import EntryOracle


def _rows() -> Array:
    """Return skewed samples, whose odd moments are not zero."""
    rng = np.random.default_rng(10)
    axes = random_point(10, 10, rng)
    rows: Array = (rng.exponential(size=(2000, 10)) * np.geomspace(3, 0.2, 10)) @ axes.T
    centred: Array = rows - rows.mean(axis=0)
    return centred


def _samples() -> AnyInstance:
    return stochastic_pca(_rows(), k=3)


def _entries() -> AnyInstance:
    rows = _rows()
    seen = np.random.default_rng(1).random(rows.shape) < 0.7
    return replace(_samples(), oracle=EntryOracle(ArraySource(rows * seen), 3))


EXAMPLES = (_samples, _entries)
