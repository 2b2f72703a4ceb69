"""Passes over blocks: what a second worker gains, and against scikit-learn's IncrementalPCA.

Run with ``pytest benchmarks/test_summaries.py`` on a machine with two idle cores: workers are
processes, and what they gain is wall time. The blocks are those of one memory-mapped file of 2 GB,
so that reading them, which is not on the clock, is a copy.
"""

from __future__ import annotations

from functools import partial
from time import perf_counter

import numpy as np
import pytest
from orthobench_kit.sources import ArraySource
from orthobench_stochastic_pca.solvers.batch_pca import BatchPCA
from orthobench_stochastic_pca.solvers.frequent_directions import FrequentDirections
from orthobench_stochastic_pca.solvers.incremental import IncrementalPCA
from orthobench_tucker import MomentStream
from orthobench_tucker.solvers.khatri_rao_sketch import KhatriRaoSketch
from smoke import usually

from orthobench.contract import SampleOracle
from orthobench.harness.execution import Execution
from orthobench.harness.identity import Streams
from orthobench.harness.stopping import Budget
from orthobench.tools.geometry import random_point

D, K = usually(512, smoke=30), usually(10, smoke=3)
ROWS = usually(1_000_000, smoke=5000)
ROUNDS = usually(3, smoke=1)
EFFICIENCY, FASTER = usually(0.8, smoke=0.0), usually(5.0, smoke=0.0)
SHARPNESS = 1e-3
"""The share of the captured variance by which two methods may differ at equal error."""

SAMPLED = {BatchPCA: SampleOracle, FrequentDirections: SampleOracle}
SOLVERS = usually(SAMPLED, smoke={}) | {KhatriRaoSketch: partial(MomentStream, order=3)}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Samples of a few spikes, in a file."""
    path = tmp_path_factory.mktemp("blocks") / "X.npy"
    file = np.lib.format.open_memmap(path, "w+", np.float32, (ROWS, D))
    rng = np.random.default_rng(0)
    spikes = (random_point(D, K, rng) * np.linspace(3, 1, K)).astype(np.float32)
    for part in np.array_split(np.arange(ROWS), 20):
        file[part] = rng.standard_normal((len(part), D), dtype=np.float32)
        file[part] += rng.standard_normal((len(part), K), dtype=np.float32) @ spikes.T
    file.flush()
    return ArraySource(np.load(path, mmap_mode="r"))


def a_pass(solver, oracle):
    """Return the seconds of a pass on the harness's clock, and its solution."""
    oracle.start = random_point(oracle.n, oracle.k, np.random.default_rng(0))
    run = Execution(oracle, solver, Budget(), Streams.of("blocks", solver.name, 0))
    try:
        run.advance(1)
        mark, solution = run.read()
    finally:
        run.close()
    return mark.seconds, solution.point


@pytest.mark.parametrize("cls", SOLVERS, ids=lambda cls: cls.name)
def test_a_second_worker(report, source, cls):
    seconds = {}
    for workers in (1, 2) * ROUNDS:
        oracle = SOLVERS[cls](source, **({"rank": K} if cls is KhatriRaoSketch else {"k": K}))
        spent, _ = a_pass(cls(on=f"dask:{workers}"), oracle)
        seconds[workers] = min(spent, seconds.get(workers, np.inf))
    efficiency = seconds[1] / (2 * seconds[2])
    report(
        f"{cls.name}, 2 workers : 1", f"{ROWS} x {D}", K, f"{1 / seconds[1]:.3g}",
        f"{1 / seconds[2]:.3g}", f"{2 * efficiency:.2f}",
        f"{2 * EFFICIENCY:g} {'met' if efficiency >= EFFICIENCY else 'MISSED'}", "",
    )  # fmt: skip


def test_incremental_pca_against_scikit_learn(report, source):
    from sklearn.decomposition import IncrementalPCA as ScikitLearns

    spent, ours = a_pass(IncrementalPCA(on="blocks"), SampleOracle(source, K))
    moment, slow, theirs = np.zeros((D, D)), 0.0, ScikitLearns(n_components=K)
    for index in range(source.count):
        block = source.block(index)
        moment += block.T @ block
        begin = perf_counter()
        theirs.partial_fit(block)
        slow += perf_counter() - begin
    captured = [float(np.vdot(U, moment @ U)) for U in (ours, theirs.components_.T)]
    assert captured[0] >= (1 - SHARPNESS) * captured[1]
    report(
        "incremental-pca : scikit-learn", f"{ROWS} x {D}", K, f"{1 / slow:.3g}",
        f"{1 / spent:.3g}", f"{slow / spent:.1f}",
        f"{FASTER:g} {'met' if slow >= FASTER * spent else 'MISSED'}", "",
    )  # fmt: skip
