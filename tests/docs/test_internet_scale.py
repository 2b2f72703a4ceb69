"""The page of simulated passes: its tables are those of the command, and it fits what was run."""

from pathlib import Path

import pytest
from reduction_times import fitted, simulated
from scaling import BYTES, LATENCY, RUNS, check, costs, duration, in_file, measured, table

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "internet-scale.md"
NEAR = 1.7


@pytest.mark.parametrize("lines", [table, check])
def test_the_tables_are_those_that_the_command_prints(lines):
    assert "\n".join(lines()) + "\n" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("solver", BYTES)
def test_recorded_passes_are_near_the_simulated_ones(solver):
    assert {run.workers for run in RUNS[solver]} == {1, 2, 4}
    for run in RUNS[solver]:
        found = simulated(costs(solver), run.blocks, run.workers, run.cores).wall_seconds
        assert 1 / NEAR < run.wall_seconds / found < NEAR


def test_durations_are_for_people():
    shown = [duration(s) for s in (0.04, 9.94, 61, 120, 7199, 86400, 3e6)]
    assert shown == ["0.0 s", "9.9 s", "61 s", "2 min", "120 min", "24 h", "35 d"]


@pytest.mark.slow
def test_a_pass_of_four_workers_is_near_what_one_and_two_of_them_tell(tmp_path):
    source = in_file(2**15, tmp_path)
    solver = "batch-pca"
    runs = {workers: measured(solver, source, workers, rounds=1) for workers in (1, 2, 4)}
    known = fitted([runs[1], runs[2]], costs(solver))
    assert known.latency == LATENCY
    found = simulated(known, runs[4].blocks, 4, runs[4].cores).wall_seconds
    assert 0.1 < runs[4].wall_seconds / found < 10
