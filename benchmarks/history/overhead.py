"""Costs of everything around solvers: cells, suites, stores, decisions, the page.

In CPU seconds, which other programs hardly change.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import large
from still import Nowhere, Still

from orthobench.api import find_suite
from orthobench.decide.comparisons import compare
from orthobench.harness.cell import Cell
from orthobench.harness.executors import run_inline
from orthobench.harness.stopping import Budget
from orthobench.results.results import Results


class Harness:
    """A solver that does nothing leaves all the time to the harness."""

    number = 1
    timer = process_time

    def setup(self):
        self.cells = [Cell(Nowhere(), Still(number=i), 0, Budget(steps=100)) for i in range(100)]

    def time_100_cells_of_19_points(self):
        list(run_inline(self.cells))


class Suites:
    """From a name to cells."""

    timer = process_time

    def time_plan_quickstart(self):
        find_suite("quickstart").cells()


class _Stored:
    """Two hundred cells of 30 points and 8 metrics."""

    number = 1
    timer = process_time
    timeout = 300

    def setup(self):
        self.folder = TemporaryDirectory()
        self.path = Path(self.folder.name, "results.sqlite")
        self.suite = large.suite(problems=8, solvers=5, seeds=5)
        large.fill(self.path, self.suite)

    def teardown(self):
        self.folder.cleanup()


class Store(_Stored):
    def time_fill(self):
        large.fill(self.path.with_name("other.sqlite"), self.suite)

    def time_read(self):
        Results.read(self.path)

    def peakmem_read(self):
        Results.read(self.path)


class Report(_Stored):
    def setup(self):
        if find_spec("jinja2") is None:
            raise NotImplementedError("needs the extra: report")
        super().setup()
        self.results = Results.read(self.path)

    def time_decide(self):
        compare(self.results.entries)

    def time_page(self):
        from orthobench.report.page import write_page

        write_page(self.results, self.path.parent / "report")
