"""The features of an atlas's problems, measured of their data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace

import numpy as np

from orthobench.atlas.features import features_of
from orthobench.atlas.table import Atlas, AtlasRow, settings
from orthobench.errors import OrthobenchError
from orthobench.harness.identity import Streams
from orthobench.registry.plugins import Registry, catalogue
from orthobench.tools.collections import grouped
from orthobench.tools.files import refuse_files


def described(atlas: Atlas) -> Atlas:
    """Return an atlas with the features of its problems.

    Each problem is built once, with seed 0, on no clock. What is not installed here, or has no data
    here, stays without, as does what names a file: a store may be a stranger's.
    """
    registry = catalogue()
    groups = grouped(atlas.rows, lambda row: (row.name, row.parameters))
    by_row = {id(row): new for own in groups.values() for row, new in _described(own, registry)}
    return replace(atlas, rows=tuple(by_row[id(row)] for row in atlas.rows))


def _described(rows: list[AtlasRow], registry: Registry) -> Iterator[tuple[AtlasRow, AtlasRow]]:
    """Yield the rows of one problem, each with what is known of it."""
    first = rows[0]
    try:
        refuse_files(settings(first.parameters))
        problem = registry.problem(first.name, settings(first.parameters))
        stream = Streams.of(first.parameters, "", 0).data
        instance = problem.build(np.random.default_rng(stream))
    except OrthobenchError:
        yield from zip(rows, rows, strict=True)
        return
    measured = asdict(features_of(instance))
    for row in rows:
        yield row, replace(row, **measured)
