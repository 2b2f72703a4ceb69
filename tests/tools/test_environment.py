"""The environment of runs: processor, libraries."""

import os

import numpy as np
import pytest

from orthobench.tools import environment


def test_a_snapshot_is_plain_and_has_what_is_installed(monkeypatch):
    monkeypatch.setattr(os, "getloadavg", lambda: (0.126, 2.0, 3.5), raising=False)
    found = environment.snapshot()
    assert found["packages"]["numpy"] == np.__version__
    assert found["python"].count(".") == 2
    assert found["cores"] == os.cpu_count()
    assert found["cpu"]
    assert found["cpu"] == (environment._cpu_model() or found["cpu"])
    assert found["load"] == [0.13, 2.0, 3.5]
    (one, *_) = [pool for pool in found["blas"] if pool["internal_api"] == "openblas"] or [None]
    assert one is None or (one["version"] and one["num_threads"] >= 1)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no affinity here")
def test_threads_of_one_core_count_once(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1, 2, 5})
    monkeypatch.setattr(environment, "_siblings", lambda number: f"{number % 2}")
    assert environment.cores() == 2
    monkeypatch.undo()
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {10**6, 10**6 + 1})
    assert environment.cores() == 2
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert environment.cores() == 1
