"""Final values of runs and their summaries over seeds, against hand-computed examples."""

import math
import subprocess
import sys

import numpy as np
from records import along as record

from orthobench.harness.stopping import RunStatus
from orthobench.stats.values import summary

INF = math.inf


def summarize(runs, metric, seeds=None):
    return summary(runs, metric, seeds or [run.seed for run in runs])


class TestSummary:
    def test_summary_of_runs_that_did_not_fail(self):
        runs = [record([(1, 9.0), (2, y)], seed) for seed, y in enumerate([4.0, 1.0, 2.0])]
        s = summarize(runs, "gap")
        assert s.values == (4, 1, 2)
        assert (s.median, s.low, s.high) == (2, 1, 4)
        assert (s.n_ok, s.n_failed, s.reasons) == (3, 0, {})

    def test_counts_a_failed_run_as_infinite(self):
        runs = [record([(1, 1.0)], 0), record([(1, 2.0)], 1)]
        for status in (s for s in RunStatus if s.failed):
            failed = record([(1, 0.0)], 2, status, reason="it broke")
            s = summarize([*runs, failed], "gap")
            assert s.values == (1, 2, INF), status
            assert (s.median, s.n_ok, s.n_failed) == (2, 2, 1)
            assert s.reasons == {f"{status.value}: it broke": [2]}

    def test_leaves_out_what_was_not_run_yet(self):
        waiting = record([], 0, RunStatus.MISSING, reason="not run yet")
        s = summarize([waiting, record([(1, 1.0)], 1), record([(1, 3.0)], 3)], "gap", range(4))
        np.testing.assert_equal(s.values, (math.nan, 1, math.nan, 3))
        assert (s.median, s.interval, s.n_ok, s.n_failed, s.n_missing) == (2, (1, 3), 2, 0, 2)
        s = summarize([waiting], "gap")
        assert math.isnan(s.median)
        assert (s.n_ok, s.n_failed, s.n_missing) == (0, 0, 1)

    def test_counts_an_unmeasured_or_infinite_metric_as_failed(self):
        s = summarize([record([(1, math.nan)], 0), record([(1, 1.0)], 1)], "gap")
        assert s.reasons == {"done: gap is not finite": [0]}
        s = summarize([record([(1, 1.0)])], "loss")
        assert s.reasons == {"done: the judge did not report loss": [0]}
        assert summarize([record([])], "gap").n_failed == 1


def test_heavy_packages_are_not_imported_with_the_modules():
    report = "orthobench.report"
    modules = "orthobench.stats.values, orthobench.stats.curves, orthobench.results.tuning, "
    modules += f"{report}.terminal.table, {report}.figures.save, {report}.terminal.progress"
    code = f"import sys, {modules}; print([m for m in ('scipy', 'matplotlib', 'rich', 'pandas', "
    code += "'numba') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
