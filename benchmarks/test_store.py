"""Costs of a cell in a store: bytes on the disk, and seconds to write and to read it.

The cells are the quickstart's, of about 30 checkpoints and 6 metrics, kept again under other seeds
until what all cells share counts little. Target: at most 2 kB a cell.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import smoke
from smoke import usually

from orthobench.api import find_suite
from orthobench.harness.cell import execute
from orthobench.results.store import Store

CELLS = usually(30_000, smoke=12)
TARGET = 2000
GROUP = 16
ENDED = usually(800, smoke=32)
SUITE = usually(
    "quickstart",
    smoke={
        "budget": {"samples": 50},
        "problem": [{"name": "digits", "k": 4}],
        "solver": [{"name": "msg"}, {"name": "oja"}, {"name": "incremental-pca"}],
    },
)


def test_bytes_and_seconds_of_a_cell(report, tmp_path):
    suite, path = replace(find_suite(SUITE), seeds=(0,)), tmp_path / "results.sqlite"
    planned = suite.cells()
    done = [(p, execute(p)) for p in planned]
    every = [
        (replace(p, seed=seed, position=seed * len(done) + i), outcome)
        for seed in range(CELLS // len(done))
        for i, (p, outcome) in enumerate(done)
    ]
    begin = time.process_time()
    with Store(path, write=True) as store:
        session = store.begin(suite, [p for p, _ in every], "fill", {})
        store.add(session, ((p, outcome) for p, outcome in every))
        store.end(session)
    middle = time.process_time()
    with Store(path) as store:
        records = store.records(suite.name)
    end = time.process_time()
    bytes_of_a_cell = path.stat().st_size / len(every)
    points, metrics = (
        np.mean([len(outcome.trace) for _, outcome in done]),
        np.mean([len(outcome.trace[-1].metrics) for _, outcome in done]),
    )
    size = f"{points:.0f} checkpoints, {metrics:.1f} metrics"
    report("bytes of a cell", size, "", "", f"{bytes_of_a_cell:.0f}", "", TARGET, "")
    for name, seconds in (("write a cell", middle - begin), ("read a cell", end - middle)):
        report(name, size, "", "", f"{seconds / len(every) * 1e6:.0f} µs", "", "", "")
    assert len(records) == len(every)
    assert smoke.ON or bytes_of_a_cell <= TARGET


def test_cells_a_second_by_how_many_end_at_one_time(report, tmp_path):
    """The disk is waited for once a transaction, and cells that end at one time share one."""
    suite = replace(find_suite(SUITE), seeds=(0,))
    first = suite.cells()[0]
    outcome = execute(first)
    for group in (1, GROUP):
        with Store(tmp_path / f"{group}.sqlite", write=True) as store:
            session = store.begin(suite, [], "fill", {})
            begin = time.perf_counter()
            for start in range(0, ENDED, group):
                seeds = range(start, start + group)
                cells = ((replace(first, seed=seed), outcome) for seed in seeds)
                store.add(session, cells)
            seconds = time.perf_counter() - begin
        report(
            "cells a second", f"{group} at one time", "", "", f"{ENDED / seconds:.0f}", "", "", ""
        )
