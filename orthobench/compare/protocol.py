"""The names that ``orthobench compare`` uses of an orthobench that may be another version.

A comparison starts a worker in the environment of each side. The worker's code is that of the
installation that compares; of the side's own orthobench it imports this module and nothing else,
so that modules can be moved and renamed. Where a promise changes, or a name comes or goes,
`VERSION` is raised here and in `remote.worker`. The promises:

VERSION
    The version of this protocol.
catalogue
    ``catalogue()`` has ``suite(name)``, the path of a TOML file, and ``broken``, why by plugin.
from_table
    ``from_table(tables, name, catalogue)`` makes a suite; its ``cells()`` yields cells. A cell has
    ``problem_label``, ``solver_label``, ``tuned``, ``problem`` (with ``primary``), ``solver`` (with
    ``refuses(problem)`` and ``reruns``), ``seed``, ``budget`` (with ``limits``), ``streams``,
    ``until``, ``threads`` and ``content``, plain values of all that its result depends on.
built
    ``built(cell)`` returns the instance of a cell.
run
    ``run(instance, solver, budget, streams, until, ratio=)`` runs, judges and returns an outcome.
    It has ``stop`` (with ``status.value`` and ``reason``) and ``trace``, points with ``metrics`` by
    name and ``work``, which has ``steps``, ``samples`` and ``flops``.
timed
    ``timed(instance, solver, steps, streams)`` returns the seconds of a run of that many steps.
CLOCK
    A context variable: the function that `timed` reads, which returns nanoseconds.
RATIO
    The ratio of the steps of one checkpoint and the next by default.
limited
    ``with limited(count):`` holds the BLAS to that many threads.
"""

from __future__ import annotations

from orthobench.harness import cell, execution
from orthobench.harness import run as harness
from orthobench.registry import plugins, suite_file
from orthobench.tools import environment

VERSION = 2
catalogue = plugins.catalogue
from_table = suite_file.from_table
built = cell.built
run = harness.run
timed = harness.timed
CLOCK = execution.CLOCK
RATIO = harness.RATIO
limited = environment.limited
