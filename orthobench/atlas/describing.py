"""The features of an atlas's problems, measured on the data that solvers see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np

from orthobench.atlas.features import Features, features_of
from orthobench.atlas.table import Atlas, AtlasRow, settings
from orthobench.errors import OrthobenchError
from orthobench.harness.identity import Streams
from orthobench.registry.plugins import catalogue


def described(atlas: Atlas) -> Atlas:
    """Return an atlas with the features of its problems, of the data of seed 0.

    Each problem is built once, on no clock. One that is not installed here, or whose data are not,
    stays without features.
    """
    features = cache(_reader())
    return replace(atlas, rows=tuple(_with(row, features) for row in atlas.rows))


def _reader() -> Callable[[str, str], Features | None]:
    registry = catalogue()

    def features(name: str, parameters: str) -> Features | None:
        try:
            problem = registry.problem(name, settings(parameters))
            stream = Streams.of(parameters, "", 0).data
            return features_of(problem.build(np.random.default_rng(stream)))
        except OrthobenchError:
            return None

    return features


def _with(row: AtlasRow, features: Callable[[str, str], Features | None]) -> AtlasRow:
    found = features(row.name, row.parameters)
    if found is None:
        return row
    return replace(
        row, rows=found.rows, d=found.d, k=found.k, decay=found.decay, noise=found.noise,
        sparsity=found.sparsity,
    )  # fmt: skip
