"""Checks of progress, threads and memory of runs."""

from __future__ import annotations

import gc
import math
import threading

import numpy as np

from orthobench.errors import UsageError
from orthobench.harness.judging import OPTIMAL
from orthobench.registry import plugins
from orthobench.testing.check import NotCheckable, require
from orthobench.testing.short_runs import Runner
from orthobench.tools.machine import resident

GROWTH = 4 * 2**20
"""Maximum memory that a short run leaves behind, in bytes."""

LONG = 1000
"""Maximum number of steps of a run on samples."""


def check_memory(runner: Runner) -> None:
    """Require that memory does not grow with each run."""
    sizes = []
    for _ in range(3):  # the first loads libraries and fills caches
        runner.run().read()
        gc.collect()
        sizes.append(resident())
    growth = min(sizes[1] - sizes[0], sizes[2] - sizes[1])
    observed = f"each run of {runner.steps} steps leaves {growth / 2**20:.0f} MB of memory behind"
    remedy = "Keep in the state what the next step needs, and nothing in the module or the class"
    require(growth <= GROWTH, observed, remedy)


def check_threads(runner: Runner) -> None:
    """Require that no thread is left running; a pool may stay."""
    for steps in (1, runner.steps):  # after many steps too many threads could block all others
        runner.run(steps).read()
        before = set(threading.enumerate())
        runner.run(steps).read()
        left = sorted(thread.name for thread in set(threading.enumerate()) - before)
        observed = f"it leaves {len(left)} threads running, such as {left[:1]}"
        remedy = "Join them before a step is over: they would slow down all runs that follow"
        require(not left, observed, remedy)


def check_progress(runner: Runner) -> None:
    """Require that runs end better than their start, by the primary metric or the objective."""
    try:
        family = plugins.catalogue().base_of(runner.oracle)
    except UsageError as error:
        raise NotCheckable(str(error)) from None
    if family.at:
        raise NotCheckable(f"{family.primary} is compared only at levels of another metric")
    recorded = runner.recorded(LONG if runner.solver.batch else runner.steps, curve=True)
    measured = [runner.instance.measure(one) for _, one in recorded]
    # without a known optimum a judge may report no gap, but first what is minimized
    metric = family.primary if family.primary in measured[0] else next(iter(measured[0]))
    first, *values = (one[metric] for one in measured)
    if not values or (runner.solver.batch and {*values} == {first}):
        raise NotCheckable("it does not leave its start on this instance: pass one of more data")
    late = float(np.median(values[len(values) // 2 :]))
    late = values[-1] if late == first else late  # it may move only after a pass
    optimal = first <= runner.instance.best.get(metric, -math.inf) + OPTIMAL
    observed = f"it ends no better than its start: {metric} is {first:.3g}, then {late:.3g}"
    remedy = "Look for a wrong sign, or for a step that is too large by default"
    require(late < first or optimal, observed, remedy)
