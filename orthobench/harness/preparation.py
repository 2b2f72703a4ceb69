"""What is prepared for a run, off the clock: its start, its samples, and compiled code."""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np

from orthobench.contract.parameters import values_of
from orthobench.contract.problem import Oracle
from orthobench.contract.solver import AnySolver, Status
from orthobench.harness.identity import Streams
from orthobench.harness.placement import MeasuredPlace
from orthobench.tools.geometry import random_point

WARM_UP_STEPS = 40
"""The most steps of a warm-up."""


OracleT = TypeVar("OracleT", bound=Oracle)


def ready_oracle(oracle: OracleT, solver: AnySolver, streams: Streams) -> OracleT:
    """Return the oracle at the beginning of its data, with a start, and the solver warmed up.

    Of a solver that computes elsewhere it is a copy with its arrays there.
    """
    oracle.start = random_point(oracle.n, oracle.k, np.random.default_rng(streams.start))
    oracle.start.flags.writeable = False
    if solver.place.moves:
        place = MeasuredPlace.at(solver.place)
        place.touch()
        oracle = oracle.to(place)
        with place.warm_up():
            _warm_up(oracle, solver, streams)
    elif not solver.place.reduces:  # workers are warmed up one by one
        _warm_up(oracle, solver, streams)
    oracle.rewind(np.random.default_rng(streams.samples))
    return oracle


def prepare_steps(oracle: Oracle, batch: int, steps: int) -> int:
    """Prepare the samples of the next steps; return how many steps they are enough for.

    Parameters
    ----------
    oracle : Oracle
    batch : int
        `Solver.batch`.
    steps : int
        How many are wanted. There are fewer where the oracle's window or its data end before; the
        last step takes the samples that are left, which may be fewer than a batch.
    """
    if not batch:
        return steps
    steps = min(steps, max(1, oracle.window // batch))
    oracle.prepare(steps * batch)
    return math.ceil(min(steps * batch, oracle.remaining()) / batch)


_warm: set[tuple[object, ...]] = set()


def _warm_up(oracle: Oracle, solver: AnySolver, streams: Streams) -> None:
    """Compile and load what the run will use: do a few steps, and forget them.

    Once a process for each type of solver and oracle, `Oracle.sizes`, and parameters that are not
    floats: words choose between kernels, numbers do not. Each time where code is compiled for all
    shapes of the data. An error here comes again in the run,
    where it is recorded. Samples are prepared only once, so that generators can be read again.
    """
    choices = [value for value in values_of(solver).values() if not isinstance(value, float)]
    key = (type(solver), type(oracle), *choices, *oracle.sizes)
    if key in _warm and not solver.place.compiles:
        return
    _warm.add(key)
    oracle.rewind(np.random.default_rng(streams.samples))
    try:
        state = solver.init(oracle, np.random.default_rng(streams.solver))
        steps = prepare_steps(oracle, solver.batch, WARM_UP_STEPS)
        if steps >= 1 and state.status is Status.RUNNING:
            solver.advance(oracle, state, steps)
        solver.solution(state)
    except Exception:  # noqa: S110 - the run itself meets and records it
        pass
