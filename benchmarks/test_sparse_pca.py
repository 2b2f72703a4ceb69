"""Sparse PCA by Givens rotations against plain numpy, and against streaming the columns once.

Run with ``pytest benchmarks``. Solver and opponent rotate the same random pairs of the same AU;
they take turns, and the best of each counts. If ``ORTHOBENCH_DATA`` has singh.RData, the
prostate data are rotated too.
"""

from __future__ import annotations

from functools import cache
from time import perf_counter

import numpy as np
import pytest
import smoke
from expression import SAMPLES, centred, few_factors, prostate, standardised
from orthobench_givens._kernels.pairs import uniform_pairs
from orthobench_givens._kernels.sparse_columns import Columns, empty_columns
from orthobench_givens.reference import rotate_columns
from orthobench_givens.solvers.sparse_pca import GivensSparsePCA
from orthobench_kit.compiled import summed
from orthobench_sparse_pca import SparsePCAOracle
from smoke import usually

PAIRS = SAMPLES * (SAMPLES - 1) // 2
PLAIN_PAIRS = usually(200, smoke=20)
ROUNDS = usually(30, smoke=1)
PLAIN_ROUNDS = usually(6, smoke=1)
EXACT = 1e-8  # as good as a search on values can be; the solver finds angles to 1e-10
WARM_PASSES = 2  # the first rotations of the raw data are the slowest, and soon over

# name: standardised or centred, gamma, least ratio to plain numpy, most stream reads
CASES = {
    "standardised": (0.25, 80.0, 4.0),
    "centred": (0.02, 500.0, None),
}


class Whole(GivensSparsePCA):
    """Without dropping rows that can never count."""

    screens = False


DATA = {"synthetic": few_factors} | usually({"prostate": prostate}, smoke={})
SCALINGS = {"standardised": standardised, "centred": centred}


@cache
def prepared(source: str, kind: str) -> np.ndarray:
    return SCALINGS[kind](DATA[source]())


def rotated(source: str, kind: str, screens: bool) -> Columns:
    """Return AU after some passes, as the solver keeps it."""
    cls = GivensSparsePCA if screens else Whole
    solver = cls(gamma=CASES[kind][0])
    oracle = SparsePCAOracle(prepared(source, kind), SAMPLES)
    state = solver.init(oracle, np.random.default_rng(0))
    solver.advance(oracle, state, WARM_PASSES * PAIRS)
    return state.columns


def copied(columns: Columns) -> Columns:
    array = empty_columns(*columns.array.shape)[:, : columns.array.shape[1]]
    array[:] = columns.array
    return Columns(array, columns.features, columns.d, columns.gamma)


@summed
def squares(array, pairs):
    """Read both columns of each pair once."""
    sum_ = 0.0
    for k in range(len(pairs)):
        x, y = array[pairs[k, 0]], array[pairs[k, 1]]
        for r in range(len(x)):
            sum_ += x[r] * x[r] + y[r] * y[r]
    return sum_


def seconds(call) -> float:
    begin = perf_counter()
    call()
    return perf_counter() - begin


@pytest.mark.parametrize("screens", [False, True], ids=["all-rows", "screened"])
@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("source", DATA)
def test_givens_against_plain_numpy(benchmark, beside, report, source, kind, screens):
    gamma, target, most_reads = CASES[kind]
    whole, columns = rotated(source, kind, False), rotated(source, kind, screens)
    pairs = uniform_pairs(SAMPLES, PAIRS, np.random.default_rng(1))
    plain, exact, reads, ended = [], [], [], []
    squares(columns.array, pairs)

    def take_turns():
        if len(plain) < PLAIN_ROUNDS:
            AU = np.asfortranarray(whole.AU)
            plain.append(seconds(lambda: rotate_columns(AU, pairs[:PLAIN_PAIRS], whole.gamma)))
            ended.append(AU)
            AU = np.asfortranarray(whole.AU)
            exact.append(
                seconds(lambda: rotate_columns(AU, pairs[:PLAIN_PAIRS], whole.gamma, EXACT))
            )
        reads.append(seconds(lambda: squares(columns.array, pairs)))
        return (copied(columns),), {}

    benchmark.group = f"givens-sparse-pca {source} {kind}"
    benchmark.pedantic(lambda work: work.rotate(pairs), setup=take_turns, rounds=ROUNDS)
    beside({"plain numpy": [spent * PAIRS / PLAIN_PAIRS for spent in plain]})
    check = copied(columns)
    check.rotate(pairs[:PLAIN_PAIRS])
    reached = Columns(np.ascontiguousarray(ended[0].T), whole.features, whole.d, whole.gamma)
    assert smoke.ON or check.objective >= reached.objective * (1 - 1e-6)
    slow, fast = min(plain) / PLAIN_PAIRS, benchmark.stats.stats.min / PAIRS
    stream = fast * PAIRS / min(reads)
    kept = len(columns.features)
    benchmark.extra_info.update(ratio=slow / fast, stream_reads=stream, rows=kept)
    alike = min(exact) / PLAIN_PAIRS / fast
    counts = screens if kind == "centred" else not screens
    report(
        f"givens-sparse-pca, {source} {kind}, {gamma:g}",
        f"{kept} x {SAMPLES}",
        "-",
        f"{1 / slow:.0f}",
        f"{1 / fast:.0f}",
        f"{slow / fast:.0f}",
        verdict(slow / fast, target) if counts else "",
        f"{stream:.2f} stream reads{bound(stream, most_reads) if counts else ''}; "
        f"{alike:.0f} to the angle at {EXACT:g}",
    )


def verdict(ratio: float, target: float) -> str:
    return f"{target:g} {'met' if ratio >= target else 'MISSED'}"


def bound(reads: float, most: float | None) -> str:
    return "" if most is None else f", {most:g} {'met' if reads <= most else 'MISSED'}"
