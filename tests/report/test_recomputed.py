"""Mean ranks and their tests, recomputed with numpy alone."""

import itertools
import math

import numpy as np
import pytest
from records import altered

from orthobench.contract.solver import Work
from orthobench.harness.stopping import RunStatus
from orthobench.harness.trace import Checkpoint
from orthobench.report.families import conclusions
from orthobench.report.ranking import rank
from orthobench.results.tuning import choose

START, SEEDS = 100.0, 9


def values(problem):
    """Return the final values of five solvers: lognormal, with a tie, failures and a late seed."""
    rng = np.random.default_rng(problem)
    instance = rng.normal(size=SEEDS)
    shifts = rng.permutation([0.0, 0.4, 0.9, 2.0, 3.0])
    noise = rng.normal(0, 0.5, (5, SEEDS))
    table = np.exp(instance + shifts[:, None] + noise)
    table[1, :2] = table[0, :2]
    table[3, problem % SEEDS] = math.inf
    table[4, -1] = math.nan
    return dict(zip("abcde", table.tolist(), strict=True))


@pytest.fixture(scope="module")
def tables():
    return {f"p{i} k={k}": values(10 * i + k) for i in range(6) for k in (1, 3)}


@pytest.fixture(scope="module")
def records(tables, record):
    def ended(problem, solver, seed, value):
        marks = [
            Checkpoint(0.0, 0.0, Work(), {"gap": START}),
            Checkpoint(1.0, 0.0, Work(9, 9, 9), {"gap": value}),
        ]
        one = altered(
            record(solver, seed, 1.0, problem=problem),
            recipe=problem.split()[0],
            trace=tuple(marks),
        )
        if math.isnan(value):
            return altered(one, status=RunStatus.MISSING, trace=())
        return altered(one, status=RunStatus.DIVERGED) if math.isinf(value) else one

    return [
        ended(problem, solver, seed, value)
        for problem, table in tables.items()
        for solver, row in table.items()
        for seed, value in enumerate(row)
    ]


def test_mean_ranks_of_blocks_are_what_numpy_finds(tables, records):
    (family,) = conclusions(rank(choose(records)))
    blocks = {}
    for problem, table in tables.items():
        medians = [np.median([v for v in row if not math.isnan(v)]) for row in table.values()]
        blocks.setdefault(problem.split()[0], []).append(np.argsort(np.argsort(medians)) + 1.0)
    ranks = np.array([np.mean(own, axis=0) for own in blocks.values()])
    mean = dict(zip("abcde", ranks.mean(axis=0), strict=True))
    assert {s.solver: s.rank for s in family.standings} == pytest.approx(mean)
    assert [s.solver for s in family.standings] == sorted(mean, key=mean.get)
    k, n = 5, len(ranks)
    scatter = ((ranks - 3) ** 2).sum() / (n * (k - 1))
    assert family.ranks.statistic == pytest.approx(
        n * ((ranks.mean(axis=0) - 3) ** 2).sum() / scatter
    )
    assert family.ranks.problems == 6
    limit = 2.728 * math.sqrt(k * (k + 1) / (6 * n)) if family.ranks.p < 0.05 else math.inf
    for a, b in itertools.combinations(mean, 2):  # 2.728: Demšar 2006, table 5a
        joined = any({a, b} <= set(group) for group in family.ranks.alike)
        assert joined == (abs(mean[a] - mean[b]) <= limit)
