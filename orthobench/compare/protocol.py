"""The names that ``orthobench compare`` uses of an orthobench of another version.

The worker in a side's environment is code of the installation that compares. It imports this module
of the side's orthobench alone, so that others can be moved. If a promise changes, `VERSION` is
raised here and in `remote.worker`:

VERSION
    The version of this protocol.
catalogue
    ``catalogue()`` has ``suite(name)``, the path of a TOML file, and ``broken``, why by plugin.
from_table
    ``from_table(tables, name, catalogue)`` makes a suite; its ``cells()`` yields cells. A cell has
    ``problem_label``, ``solver_label``, ``tuned``, ``problem``, ``solver``, ``seed``, ``budget``,
    ``streams``, ``until``, ``threads`` and ``content``, the plain values that its result depends
    on. A budget has ``limits``, a problem ``primary``. A solver has ``refuses(problem)`` and
    ``reruns``.
built
    ``built(cell)`` returns the instance of a cell.
run
    ``run(instance, solver, budget, streams, until, ratio=)`` runs, judges and returns an outcome.
    It has ``stop`` and ``trace``. A stop has ``status.value`` and ``reason``. Points of the trace
    have ``metrics`` by name, and ``work`` in ``steps``, ``samples`` and ``flops``.
timed
    ``timed(instance, solver, steps, streams)`` returns the seconds of a run. It has that number
    of steps.
peak
    ``peak(instance, solver, steps, streams)`` returns the additional bytes at the peak of a run. If
    they are unknown, it returns None.
files
    ``files(cell)`` returns the paths of the files that its result depends on.
defaults
    ``defaults(cell)`` returns the defaults of the parameters of problem and solver.
CLOCK
    A context variable: the clock of `timed`, in nanoseconds.
RATIO
    The default ratio of the steps of one checkpoint and the next.
limited
    ``with limited(count):`` limits the threads of the BLAS.
"""

# ruff: noqa: F401 - the worker reads these names
from __future__ import annotations

from typing import Any

from orthobench.contract.parameters import parameters_of
from orthobench.contract.problem import AnyInstance
from orthobench.contract.solver import AnySolver
from orthobench.harness import source_digests
from orthobench.harness.cell import Cell, built
from orthobench.harness.execution import CLOCK, MEMORY, PEAK
from orthobench.harness.identity import Streams
from orthobench.harness.run import RATIO, run, timed
from orthobench.harness.stopping import Budget
from orthobench.registry.plugins import catalogue
from orthobench.registry.suite_file import from_table
from orthobench.tools.environment import limited
from orthobench.tools.machine import Peak

VERSION = 3


def peak(instance: AnyInstance, solver: AnySolver, steps: int, streams: Streams) -> float | None:
    """Return the bytes that a run needs; see above."""
    if Peak.missing(solver.place):
        return None
    outcome = run(instance, solver, Budget(steps=steps), streams, measure=MEMORY, curve=False)
    return max((mark.metrics[PEAK] for mark in outcome.trace), default=None)


def files(one: Cell) -> set[str]:
    """Return the files that the result of a cell depends on; see above."""
    classes = (type(one.problem), type(one.solver.single))
    homes = {home for cls in classes for home in source_digests.homes_of(cls)}
    modules = source_digests.harness_modules()
    modules |= {module for home in homes for module in source_digests.reached(home)}
    own = {path for cls in classes for path in source_digests.parts(cls)}
    return own | {str(source_digests.file_of(module)) for module in modules}


def defaults(one: Cell) -> dict[str, dict[str, Any]]:
    """Return the defaults of the parameters of the problem and the solver of a cell; see above."""
    return {
        item.name: {p.name: repr(p.default) for p in parameters_of(type(item)) if not p.required}
        for item in (one.problem, one.solver.single)
    }
