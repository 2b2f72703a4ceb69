"""What is measured of an atlas's problems and solvers apart from runs: features, and memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from orthobench.atlas.features import features_of
from orthobench.atlas.memory import state_bytes
from orthobench.atlas.table import Atlas, AtlasRow, settings
from orthobench.contract.problem import AnyInstance
from orthobench.errors import OrthobenchError
from orthobench.harness.identity import Streams
from orthobench.registry.plugins import Registry, catalogue
from orthobench.registry.strangers import refuse_files
from orthobench.tools.collections import grouped


def described(atlas: Atlas) -> Atlas:
    """Return an atlas with the features of its problems and the memory of its solvers there.

    Each problem is built once, with seed 0, on no clock. What is not installed here, or has no data
    here, stays without, as does what names a file: a store may be a stranger's. A solver is looked
    up by the first word of its label.
    """
    registry = catalogue()
    groups = grouped(atlas.rows, lambda row: (row.name, row.parameters))
    found = {id(row): new for own in groups.values() for row, new in _described(own, registry)}
    return replace(atlas, rows=tuple(found[id(row)] for row in atlas.rows))


def _described(rows: list[AtlasRow], registry: Registry) -> Iterator[tuple[AtlasRow, AtlasRow]]:
    """Yield the rows of one problem, each with what is known of it."""
    instance = _instance(rows[0], registry)
    features = features_of(instance) if instance else None
    for own in grouped(rows, lambda row: (row.solver, row.solver_parameters)).values():
        memory = _memory(own[0], instance, registry) if instance else float("nan")
        for row in own:
            if features is None:
                yield row, row
                continue
            yield row, replace(
                row, rows=features.rows, d=features.d, k=features.k, decay=features.decay,
                noise=features.noise, sparsity=features.sparsity, memory=memory,
            )  # fmt: skip


def _instance(row: AtlasRow, registry: Registry) -> AnyInstance | None:
    try:
        refuse_files(settings(row.parameters))
        problem = registry.problem(row.name, settings(row.parameters))
        stream = Streams.of(row.parameters, "", 0).data
        return problem.build(np.random.default_rng(stream))
    except OrthobenchError:
        return None


def _memory(row: AtlasRow, instance: AnyInstance, registry: Registry) -> float:
    name = row.solver.split(" ")[0]
    try:
        refuse_files(settings(row.solver_parameters))
        solver = registry.solver(name, settings(row.solver_parameters))
    except OrthobenchError:
        return float("nan")
    return state_bytes(instance, solver, Streams.of(row.parameters, name, 0))
