"""Costs of `orthobench run`: the first time, with kernels compiled, and with nothing to do.

The opponent is ``import scipy.stats, matplotlib.pyplot`` in the same test. Targets on two quiet
cores: the first table in 15 s and all in 60 s, compilation included, 25 s with kernels compiled;
CPU seconds of a call with nothing to do: 2 with figures, 1 without.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from calls import PLOTTING, TINY, called
from smoke import usually

from orthobench.harness.stopping import RunStatus
from orthobench.results.results import Results

ROUNDS = usually(6, smoke=1)
RUN = ("-P", "-m", "orthobench", "run", *usually(("quickstart",), smoke=("tiny.toml",)), "-q")
DISTURBED = usually("digits k=4 *", smoke="*")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "tiny.toml").write_text(TINY)
    return tmp_path


@pytest.fixture
def plotting(tmp_path):
    """The cost of the opponent, its files in the system's cache."""
    return min((called(PLOTTING, tmp_path) for _ in range(ROUNDS)), key=lambda call: call.cpu)


def test_quickstart(report, folder, plotting):
    def row(what, seconds, opponent, target):
        numbers = (f"{opponent:.2f} s", f"{seconds:.2f} s", f"{seconds / opponent:.1f}")
        report(what, "", "", *numbers, target, "")

    kernels = folder / "kernels"
    for name, targets in (("cold", ("15 s", "60 s")), ("warm", ("", "25 s"))):
        call = called((*RUN, "--store", f"{name}.sqlite", "--no-figures"), folder, kernels)
        for what, seconds, target in zip(
            ("first table", "whole"), (call.first, call.whole), targets, strict=True
        ):
            row(f"quickstart {name}: {what}", seconds, plotting.whole, target)
        row(f"quickstart {name}: CPU", call.cpu, plotting.cpu, "")
    for figures, target in (("--figures", "2 s"), ("--no-figures", "1 s")):
        words = (*RUN, "--store", "warm.sqlite", figures)
        best = min(called(words, folder, kernels).cpu for _ in range(ROUNDS))
        row(f"nothing to do, {figures}: CPU", best, plotting.cpu, target)


def test_times_beside_another_worker(report, folder):
    """The seconds of runs, two at a time over one at a time, by turns; medians over the rounds."""
    seconds = {1: [], 2: []}
    for turn, workers in itertools.product(range(ROUNDS), seconds):
        store = f"{workers}-{turn}.sqlite"
        words = ("--store", store, "--no-figures", "-w", str(workers), "--only", DISTURBED)
        called((*RUN, *words), folder)
        seconds[workers].append(_seconds(folder / store))
    alone, beside = (
        {key: np.median([turn[key] for turn in turns]) for key in turns[0]}
        for turns in seconds.values()
    )
    ratios = [beside[key] / alone[key] for key in alone]
    told = " ".join(f"{q:.2f}" for q in np.quantile(ratios, [0.1, 0.5, 0.9]))
    report("seconds, 2 workers over 1 (10, 50, 90 %)", "", "", "", "", told, "", "")


def _seconds(path: Path) -> dict[str, float]:
    records = Results.read(path).records
    ran = [record for record in records if record.stop.status is not RunStatus.MISSING]
    assert all(record.stop.status in (RunStatus.BUDGET, RunStatus.DONE) for record in ran)
    return {record.key: record.trace[-1].seconds for record in ran}
