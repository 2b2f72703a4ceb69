"""What is measured of an atlas's problems and solvers apart from runs: features, and memory."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator
from dataclasses import asdict, replace

import numpy as np

from orthobench.atlas.features import features_of
from orthobench.atlas.table import Atlas, AtlasRow, settings
from orthobench.contract.problem import AnyInstance
from orthobench.contract.solver import AnySolver, Status
from orthobench.errors import OrthobenchError
from orthobench.harness.execution import prepare_steps
from orthobench.harness.identity import Streams
from orthobench.registry.plugins import Registry, catalogue
from orthobench.tools.collections import grouped
from orthobench.tools.files import refuse_files
from orthobench.tools.geometry import random_point

SAMPLES = 6
"""So many samples, times the columns sought, are taken before a state is measured: a solver that
keeps all samples has more of them by then than a few times the solution."""

BLOCK = 16
"""Samples are taken in multiples of this: kernels keep that many until they use them together."""

STEPS = 2
"""The steps of a solver that takes none."""


def described(atlas: Atlas) -> Atlas:
    """Return an atlas with the features of its problems and the memory of its solvers there.

    Each problem is built once, with seed 0, on no clock. What is not installed here, or has no data
    here, stays without, as does what names a file: a store may be a stranger's. A solver is looked
    up by the first word of its label.
    """
    registry = catalogue()
    groups = grouped(atlas.rows, lambda row: (row.name, row.parameters))
    by_row = {id(row): new for own in groups.values() for row, new in _described(own, registry)}
    return replace(atlas, rows=tuple(by_row[id(row)] for row in atlas.rows))


def state_bytes(instance: AnyInstance, solver: AnySolver, streams: Streams) -> float:
    """Return the bytes of a solver's state, as a pickle; NaN where it fails or has no pickle.

    What the state shares with the oracle is counted, and what a library keeps elsewhere is not.
    Solvers that compute elsewhere than in NumPy are not measured.
    """
    if not solver.place.is_default:
        return math.nan
    try:
        oracle = instance.oracle
        oracle.start = random_point(oracle.n, oracle.k, np.random.default_rng(streams.start))
        oracle.rewind(np.random.default_rng(streams.samples))
        state = solver.init(oracle, np.random.default_rng(streams.solver))
        samples = BLOCK * math.ceil(SAMPLES * oracle.k / BLOCK)
        wanted = math.ceil(samples / solver.batch) if solver.batch else STEPS
        steps = prepare_steps(oracle, solver.batch, wanted)
        if steps >= 1 and state.status is Status.RUNNING:
            solver.advance(oracle, state, steps)
        return float(len(pickle.dumps(state)))
    except Exception:  # a solver may raise anything, and then its memory is unknown
        return math.nan


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
    for own in grouped(rows, lambda row: (row.solver, row.solver_parameters)).values():
        memory = _memory(own[0], instance, registry)
        for row in own:
            yield row, replace(row, **measured, memory=memory)


def _memory(row: AtlasRow, instance: AnyInstance, registry: Registry) -> float:
    name = row.solver.split(" ")[0]
    try:
        refuse_files(settings(row.solver_parameters))
        offers = type(instance.oracle)
        solver = registry.solver(name, settings(row.solver_parameters), offers)
    except OrthobenchError:
        return math.nan
    return state_bytes(instance, solver, Streams.of(row.parameters, name, 0))
