"""Checks of progress, threads and memory of runs."""

from __future__ import annotations

import gc
import threading

import numpy as np

from orthobench.errors import UsageError
from orthobench.harness.judging import OPTIMAL
from orthobench.registry import plugins
from orthobench.testing.check import NotCheckable, require
from orthobench.testing.short_runs import Runner
from orthobench.tools.machine import resident

GROWTH = 4 * 2**20
"""Maximum memory that a short run leaves behind, in bytes: caches and fragments."""

LONG = 1000
"""Maximum number of steps of a run on samples, which make progress slowly."""


def check_memory(runner: Runner) -> None:
    """Require that memory does not grow with each run."""
    sizes = []
    for _ in range(3):  # the first loads libraries and fills caches
        runner.run().read()
        gc.collect()
        sizes.append(resident())
    growth = min(sizes[1] - sizes[0], sizes[2] - sizes[1])
    require(
        growth <= GROWTH,
        f"each run of {runner.steps} steps leaves {growth / 2**20:.0f} MB of memory behind",
        "Keep in the state what the next step needs, and nothing in the module or the class",
    )


def check_threads(runner: Runner) -> None:
    """Require that no thread is left running; a pool may stay."""
    runner.run().read()
    before = set(threading.enumerate())
    runner.run().read()
    left = sorted(thread.name for thread in set(threading.enumerate()) - before)
    require(
        not left,
        f"it leaves {len(left)} threads running, such as {left[:1]}",
        "Join them before a step is over: they would slow down all runs that follow",
    )


def check_progress(runner: Runner) -> None:
    """Require that runs are not worse than their start, by the primary metric."""
    try:
        family = plugins.catalogue().base_of(runner.oracle)
    except UsageError as error:
        raise NotCheckable(str(error)) from None
    if family.at:
        raise NotCheckable(f"{family.primary} is compared only at levels of another metric")
    steps = LONG if runner.solver.batch else runner.steps
    recorded = runner.recorded(steps, curve=True)
    values = [runner.instance.measure(one).get(family.primary, 0.0) for _, one in recorded]
    late = float(np.median(values[len(values) // 2 :]))
    require(
        late <= values[0] + OPTIMAL,
        f"{family.primary} is {values[0]:.3g} at the start, and {late:.3g} in the second half of "
        f"{recorded[-1][0].steps} steps",
        "Look for a wrong sign, or for a step that is too large by default",
    )
