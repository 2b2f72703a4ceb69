"""Time of quickstart before kernels are compiled, after that, and once more."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from calls import called

SUITE = "quickstart"


class Quickstart:
    """CPU seconds of all processes, which other programs hardly change."""

    timeout = 600

    def setup(self):
        self.folder = TemporaryDirectory()
        self._run("first.sqlite")

    def teardown(self):
        self.folder.cleanup()

    def track_run_that_compiles(self):
        return self._run("cold.sqlite", Path(self.folder.name, "kernels"))

    def track_first_run(self):
        return self._run("again.sqlite")

    def track_second_run(self):
        return self._run("first.sqlite")

    track_run_that_compiles.unit = "s"
    track_first_run.unit = "s"
    track_second_run.unit = "s"

    def _run(self, store, kernels=None):
        words = ("-P", "-m", "orthobench", "run", SUITE, "-q", "--store", store)
        return called(words, Path(self.folder.name), kernels).cpu
