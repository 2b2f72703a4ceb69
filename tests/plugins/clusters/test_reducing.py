"""Runs over blocks in this process: the tree, the clock, budgets, and blocks that are unfit."""

import gc
from math import ceil, log2

import block_solvers
import numpy as np
import pytest
from block_solvers import SAMPLES, Blocks, PowerSteps
from orthobench_clusters.passes import run_length
from orthobench_clusters.reduction import Blocks as Task

import orthobench as ob
from orthobench.api import SolverError
from orthobench.contract import BlockOracle
from orthobench.errors import DataError, UsageError
from orthobench.harness.execution import CLOCK
from orthobench.harness.executors.messages import RemoteSource, packed, unpacked
from orthobench.harness.placement import MEMORY, MOVED, READING, WORKER_SECONDS, WORKERS
from orthobench.harness.stopping import RunStatus
from orthobench.tools import machine
from orthobench.tools.collections import reduced
from orthobench.verify.check import verify


def joined(a, b):
    return f"({a}{b})"


def test_the_tree_joins_neighbours_level_by_level():
    for count in range(1, 40):
        level = [*map(str, range(count))]
        while len(level) > 1:
            pairs = [joined(a, b) for a, b in zip(level[::2], level[1::2], strict=False)]
            level = pairs + level[len(pairs) * 2 :]
        assert reduced(map(str, range(count)), joined) == level[0], count
        runs = [map(str, range(begin, min(begin + 4, count))) for begin in range(0, count, 4)]
        assert reduced((reduced(run, joined) for run in runs), joined) == level[0], count


class Item:
    alive = most = 0

    def __init__(self):
        Item.alive += 1
        Item.most = max(Item.most, Item.alive)

    def __del__(self):
        Item.alive -= 1


def test_the_tree_holds_few_items():
    gc.disable()
    try:
        reduced((Item() for _ in range(1000)), lambda a, b: Item())
    finally:
        gc.enable()
    assert Item.most <= ceil(log2(1000)) + 2


def test_tasks_are_few_but_enough_for_all_workers():
    for workers in (1, 2, 4, 100):
        for blocks in (1, 7, 64, 100, 10**5):
            length = run_length(blocks, workers)
            assert length & (length - 1) == 0, (workers, blocks)
            tasks = ceil(blocks / length)
            assert min(blocks, 16 * workers) <= tasks <= 32 * workers, (workers, blocks)
    assert [run_length(blocks, 2) for blocks in (63, 64, 127, 128)] == [1, 2, 2, 4]


def solved(budget=None, source=None, **parameters):
    solver = PowerSteps(on="blocks", **parameters)
    return ob.solve(
        solver, ob.stochastic_pca(source or Blocks(), k=2, covariance=np.eye(6)), budget, curve=True
    )


def test_each_pass_is_a_step_and_a_mark():
    outcome = ob.solve(
        PowerSteps(on="blocks", turns=4), ob.stochastic_pca(Blocks(), k=2), curve=True
    )
    assert [mark.work.steps for mark in outcome.trace] == [0, 1, 2, 3, 4]
    assert [mark.work.samples for mark in outcome.trace] == [0, 3000, 6000, 9000, 12000]
    assert outcome.work.flops == 4 * 4 * SAMPLES.size * 2
    gaps = [mark.metrics["suboptimality"] for mark in outcome.trace]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 0.5 * gaps[0]
    assert outcome.stop.status is RunStatus.DONE


def test_costs_of_workers_are_measured_beside_the_clock():
    first, last = (solved(turns=3).trace[i].metrics for i in (0, -1))
    assert first[WORKER_SECONDS] == first[MOVED] == last[MOVED] == 0
    assert last[WORKER_SECONDS] > 0
    assert last[WORKERS] == 1
    assert 10 * 2**20 < last[MEMORY] < 2**40
    assert first.keys() == last.keys()


@pytest.mark.parametrize(("timed", "seconds"), [(True, 47.0), (False, 0.0)])
def test_reading_is_on_the_clock_where_the_source_says_so(timed, seconds):
    now = [0]

    class Slow(Blocks):
        def block(self, index):
            now[0] += 10**9
            return super().block(index)

    source = Slow()
    source.timed = timed
    token = CLOCK.set(lambda: now[0])
    try:
        last = solved(source=source).trace[-1]
    finally:
        CLOCK.reset(token)
    assert last.seconds == last.metrics[WORKER_SECONDS] == seconds
    assert last.metrics[READING] == 47.0


def test_a_budget_in_samples_cuts_the_rows_exactly():
    for samples in (1, 64, 100, 128, 2999):
        cut = solved(ob.Budget(samples=samples))
        assert cut.work.samples == samples, samples
        assert np.array_equal(cut.solution, solved(source=Blocks(SAMPLES[:samples])).solution), (
            samples
        )
        twice = solved(ob.Budget(samples=2 * samples), turns=2)
        assert [mark.work.samples for mark in twice.trace] == [0, samples, 2 * samples], samples


def test_a_budget_ends_a_run_after_a_pass():
    assert solved(ob.Budget(steps=2), turns=5).work.steps == 2
    assert solved(ob.Budget(steps=2), turns=5).stop.status is RunStatus.BUDGET
    with pytest.raises(UsageError, match="power-steps reads the samples 3 times"):
        solved(ob.Budget(samples=2), turns=3)


def test_a_solver_ends_its_run_by_sharing_nothing():
    outcome = solved(turns=5, wrong="converges")
    assert outcome.stop.reason == "converged after 1 step"


def test_blocks_that_are_unfit_are_named():
    with pytest.raises(DataError, match=r"block 5 \(rows 320 to 383\) cannot be read: .*Input/out"):
        solved(source=Blocks(bad=5))
    where = r"block 46 \(rows 2944 to 2999\): sample 3 .* is not finite: feature 2"
    with pytest.raises(DataError, match=where):
        solved(source=Blocks(bad=46, how="nan"))
    with pytest.raises(SolverError, match=r"block 1 \(rows 64 to 127\): ArithmeticError"):
        solved(wrong="raises")


def test_errors_of_a_warm_up_are_raised_in_the_pass(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "FORGET", tmp_path / "forget")
    oracle = BlockOracle((6, 2), np.eye(6)[:, :2], 3000, np.random.SeedSequence(0))
    solver = PowerSteps(on="blocks")
    unread = Task(solver, Blocks(bad=0), 3000)
    unread.warm_up(oracle)
    assert (tmp_path / "forget").read_text() == "5"  # memory of earlier runs does not count
    with pytest.raises(DataError, match="block 0"):
        unread.part(oracle, 0)

    class Full(Blocks):
        def block(self, index):
            raise MemoryError

    class Unfit(PowerSteps):
        def summarize(self, oracle, block):
            raise UsageError("too few columns")

    with pytest.raises(MemoryError):
        Task(solver, Full(), 3000).part(oracle, 0)
    with pytest.raises(UsageError, match=r"^too few columns$"):
        Task(Unfit(on="blocks"), Blocks(), 3000).part(oracle, 0)
    with pytest.raises(ValueError, match="the blocks have 3000 rows in all, not 3001"):
        _ = Task(solver, Blocks(), 3001).ends


def test_blocks_of_another_shape_are_refused():
    for how, shape in (
        ("narrow", r"\(64, 5\)"), ("wide", r"\(64, 7\)"), ("flat", r"\(64,\)"),
        ("short", r"\(63, 6\)"), ("long", r"\(65, 6\)"),
    ):  # fmt: skip
        said = rf" has shape {shape}, not \(64, 6\)"
        with pytest.raises(DataError, match=rf"block 5 \(rows 320 to 383\){said}"):
            solved(source=Blocks(bad=5, how=how))


def test_a_summary_that_forgets_rows_is_refused():
    with pytest.raises(SolverError, match=r"counts 64 rows, and it had 3000"):
        solved(wrong="forgets")


@pytest.mark.skipif(machine.process_peak() is None, reason="Linux")
def test_unknown_peak_memory_is_left_out(tmp_path, monkeypatch):
    assert solved().trace[-1].metrics[MEMORY] > 0
    monkeypatch.setattr(machine, "STATUS", tmp_path / "none")  # as on macOS
    assert all(MEMORY not in point.metrics for point in solved().trace)


def test_samples_without_blocks_are_refused():
    instance = ob.stochastic_pca(iter(SAMPLES), k=2, covariance=np.eye(6))
    with pytest.raises(UsageError, match="its samples are not blocks"):
        ob.solve(PowerSteps(on="blocks"), instance)


def test_a_block_is_summarized_once_a_pass(tmp_path):
    solved(turns=2, log=str(tmp_path / "log"))
    numbers = [number for _, _, number in block_solvers.said(tmp_path / "log")]
    assert sorted(map(numbers.count, set(numbers))) == [2] * 46 + [3]  # one is the warm-up


def test_process_of_a_solver_gets_the_source_of_blocks():
    oracle = ob.stochastic_pca(Blocks(), k=2).oracle
    whole, left = packed(oracle, "p", whole=True)
    assert not left
    there = unpacked(whole, None).source
    assert np.array_equal(there.block(46), Blocks().block(46))
    asking, kept = packed(oracle, "p")
    assert kept == [oracle.source]
    assert isinstance(unpacked(asking, None).source, RemoteSource)


@pytest.mark.slow
def test_a_guarded_run_gives_the_same_bits_and_is_verified(tmp_path):
    suite = {
        "seeds": 1, "budget": {"samples": 700}, "problem": [{"name": "digits", "k": 2}],
        "solver": [{"name": "batch-pca", "on": "blocks"}],
    }  # fmt: skip
    guarded, own = (
        ob.run(suite, tmp_path / f"{how}.sqlite", executor=how, quiet=True)
        for how in ("local", "inline")
    )
    ours, theirs = (results.records[0].trace[-1] for results in (own, guarded))
    assert ours.work == theirs.work
    differ = {name for name in ours.metrics if ours.metrics[name] != theirs.metrics[name]}
    assert differ <= {WORKER_SECONDS, MEMORY, READING}
    found = verify(guarded.path, ob.catalogue(), share=1.0, quiet=True)
    assert (found.exact, list(found.mismatches)) == (1, [])
