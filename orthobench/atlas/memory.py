"""The memory that a method needs besides its data: the bytes of its state, after a few steps."""

from __future__ import annotations

import math
import pickle

import numpy as np

from orthobench.contract.problem import AnyInstance
from orthobench.contract.solver import AnySolver, Status
from orthobench.harness.identity import Streams
from orthobench.harness.preparation import prepare_steps
from orthobench.tools.geometry import random_point

SAMPLES = 6
"""So many samples, times the columns sought, are taken before a state is measured: a solver that
keeps all samples has more of them by then than a few times the solution."""

BLOCK = 16
"""Samples are taken in multiples of this: kernels keep that many until they use them together."""

STEPS = 2
"""The steps of a solver that takes none."""


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
