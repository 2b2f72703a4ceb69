"""The check of solvers that are written against the array API standard."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from unittest.mock import patch

import numpy as np

from orthobench.contract.parameters import ParameterError
from orthobench.contract.problem import AnyInstance
from orthobench.contract.solver import AnySolver, Status
from orthobench.harness.execution import prepare_steps, ready_oracle
from orthobench.harness.identity import Streams
from orthobench.harness.run import run
from orthobench.harness.stopping import Budget
from orthobench.harness.trace import Outcome
from orthobench.testing.check import NotCheckable, require
from orthobench.testing.short_runs import Runner
from orthobench.tools.array_libraries import LIBRARIES
from orthobench.tools.places import place_of

REFERENCE = "array-api-strict"
"""A library with exactly the functions of the standard."""

TOLERANCE = 1e-10
"""Maximum difference of a metric, relative to its largest value."""

LEAST = 1e-2
"""Minimum of that value: some metrics are only rounding."""

CONVERSIONS = ("__bool__", "__float__", "__int__", "__index__")
"""Methods that make a number of an array, for which a device has to end its work."""


def check_libraries(
    solver: AnySolver, instance: AnyInstance, on: str = REFERENCE, tolerance: float = TOLERANCE
) -> None:
    """Raise if metrics of a run differ between NumPy and another place.

    With the reference implementation, also hold steps to `ArraySolver.readings`.
    """
    if why := place_of(on).missing():
        raise NotCheckable(why)
    if (library := solver.place.library) != "numpy":
        raise NotCheckable(f"it computes with {library} only, so that NumPy's runs are not its own")
    runner = Runner(solver, instance)
    steps, streams = runner.steps, runner.streams
    ours, theirs = (
        run(instance, _on(solver, place), Budget(steps=steps), streams) for place in ("numpy", on)
    )
    remedy = "Keep to the functions of namespace(x), and see https://data-apis.org/array-api"
    require(theirs.error is None, f"on {on} it raises {theirs.error!r}", remedy)
    difference = _difference(ours, theirs, tolerance)
    require(difference is None, f"on {on} {difference}", remedy)
    if on == REFERENCE:
        seen = readings(solver, instance, steps)
        allowed = 1 + steps * getattr(solver, "readings", 0)
        observed = f"{steps} steps bring {seen} values back to the host, {allowed:.0f} are declared"
        remedy = "Keep them in arrays, see orthobench_kit.arrays and ending, or raise `readings`"
        require(seen <= allowed, observed, remedy)


def readings(solver: AnySolver, instance: AnyInstance, steps: int) -> int:
    """Return the number of values that ``advance(steps)`` brings back to the host."""
    advance = begun(solver, instance, steps, REFERENCE)
    kind = type(LIBRARIES[REFERENCE].module.asarray(0.0))
    with ExitStack() as stack:
        seen = [
            stack.enter_context(patch.object(kind, name, autospec=True, side_effect=convert))
            for name, convert in ((name, getattr(kind, name)) for name in CONVERSIONS)
        ]
        advance()
    return sum(method.call_count for method in seen)


def begun(solver: AnySolver, instance: AnyInstance, steps: int, on: str) -> Callable[[], None]:
    """Begin a run at a place; return a function that takes its first steps."""
    moved, streams = _on(solver, on), Streams.of("conformance", solver.name, 0)
    oracle, _ = ready_oracle(instance.oracle, moved, streams)
    state = moved.init(oracle, np.random.default_rng(streams.solver))
    count = prepare_steps(oracle, moved.batch, steps)
    running = state.status is Status.RUNNING
    return partial(moved.advance, oracle, state, count) if running else lambda: None


def _on(solver: AnySolver, place: str) -> AnySolver:
    try:
        moved: AnySolver = replace(solver, on=place)  # type: ignore[type-var]
    except ParameterError as error:
        raise NotCheckable(str(error)) from None
    return moved


def _difference(ours: Outcome, theirs: Outcome, tolerance: float) -> str | None:
    """Return how two runs differ by more than rounding, or None."""
    if len(ours.trace) != len(theirs.trace) and tolerance <= TOLERANCE:
        return f"it ends otherwise: {theirs.stop.reason}, in NumPy: {ours.stop.reason}"
    for name in ours.trace[0].metrics:
        marks = zip(ours.trace, theirs.trace, strict=False)
        a, b = np.transpose([(one.metrics[name], other.metrics[name]) for one, other in marks])
        worst = np.abs(a - b).max()
        if not worst <= tolerance * max(np.abs(a).max(), LEAST):
            return f"the metric {name} differs by {worst:.2g}"
    return None
