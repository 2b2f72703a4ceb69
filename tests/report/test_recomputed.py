"""The numbers behind decisions, recomputed with numpy alone: nothing is from orthobench.stats.

Medians, p-values by enumeration of all signs, Holm's procedure step by step, simultaneous intervals
as the set of ratios that no test rejects, marks, and mean ranks of blocks.
"""

import itertools
import math

import numpy as np
import pytest
from records import altered

from orthobench.contract.solver import Work
from orthobench.harness.stopping import Ending
from orthobench.harness.trace import Mark
from orthobench.report.families import conclusions
from orthobench.report.ranking import rank
from orthobench.report.terminal.table import rows
from orthobench.results.tuning import choose

LEVEL, START, SEEDS = 0.05, 100.0, 9
ROUNDING = 1e-12 * START
SIGNS = np.array(list(itertools.product((-1, 1), repeat=SEEDS)))


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
            Mark(0.0, 0.0, Work(), {"gap": START}),
            Mark(1.0, 0.0, Work(9, 9, 9), {"gap": value}),
        ]
        one = altered(
            record(solver, seed, 1.0, problem=problem),
            recipe=problem.split()[0],
            trace=tuple(marks),
        )
        if math.isnan(value):
            return altered(one, status=Ending.MISSING, trace=())
        return altered(one, status=Ending.DIVERGED) if math.isinf(value) else one

    return [
        ended(problem, solver, seed, value)
        for problem, table in tables.items()
        for solver, row in table.items()
        for seed, value in enumerate(row)
    ]


def logs(first, second):
    """Return the logarithms of ratios on common seeds, with infinity for failures."""
    found = []
    for a, b in zip(first, second, strict=True):
        if math.isnan(a) or math.isnan(b):
            continue
        if math.isinf(a) or math.isinf(b):
            found.append(0.0 if a == b else math.inf * (1 if math.isinf(b) else -1))
        else:
            found.append(0.0 if abs(b - a) <= ROUNDING else math.log(b / a))
    return np.array(found)


def p_of(d):
    """Return the share of all signs with a rank sum as far from zero, and the rank sum."""
    d = d[d != 0]
    size = np.abs(d)
    ranks = np.array([(size < s).sum() + ((size == s).sum() + 1) / 2 for s in size])
    sums = SIGNS[:, : len(d)] @ ranks
    seen = float(np.sign(d) @ ranks)
    return float((np.abs(sums) >= abs(seen) - 1e-9).mean()), seen


def holm(p):
    """Return adjusted p-values, by the procedure: the smallest is multiplied by their number."""
    adjusted, largest = [0.0] * len(p), 0.0
    for step, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        largest = max(largest, min(1.0, (len(p) - step) * p[i]))
        adjusted[i] = largest
    return adjusted


def corrected(p, ahead):
    """Return adjusted p-values: those of Holm, or the largest where all favour the best."""
    adjusted = dict(zip(p, holm(list(p.values())), strict=True))
    return adjusted if ahead else {s: min(adjusted[s], max(p.values())) for s in p}


def kept(d, level):
    """Return the ends of the set of shifts that the test does not reject, found by looking."""
    with np.errstate(invalid="ignore"):
        edges = np.unique([(x + y) / 2 for x, y in itertools.combinations_with_replacement(d, 2)])
    edges = edges[np.isfinite(edges)]
    middles = [edges[0] - 1, *((edges[1:] + edges[:-1]) / 2), edges[-1] + 1]
    inside = [i for i, at in enumerate(middles) if p_of(d - at)[0] > level]
    low = -math.inf if inside[0] == 0 else edges[inside[0] - 1]
    return low, math.inf if inside[-1] == len(edges) else edges[inside[-1]]


def expected(table):
    """Return mark, effect, interval, p and adjusted p of every solver but the best one."""
    medians = {s: np.median([v for v in row if not math.isnan(v)]) for s, row in table.items()}
    sound = {s: m for s, m in medians.items() if not np.isinf(table[s]).any()}
    best = min(sound, key=sound.get)
    others = [s for s in table if s != best]
    paired = {s: logs(table[best], table[s]) for s in others}
    p = {s: p_of(paired[s])[0] for s in others}
    ahead = [s for s in others if p_of(paired[s])[1] <= 0 or np.median(paired[s]) < 0]
    adjusted = corrected(p, ahead)
    smallest = {s: 2 / 2 ** np.count_nonzero(paired[s]) for s in others}
    attainable = {
        s: corrected({**p, s: smallest[s]}, [a for a in ahead if a != s])[s] for s in others
    }
    may_be_best = [best, *(s for s in others if s in ahead or p[s] * len(others) >= LEVEL)]
    found = {best: ("best", None, None, None, None)}
    for s in others:
        effect = float(np.median(paired[s]))
        ends = [kept(logs(table[i], table[s]), LEVEL / len(others)) for i in may_be_best if i != s]
        ends += [(0.0, 0.0)] if s in may_be_best else []
        low = min(max(0.0, min(a for a, _ in ends)), effect)
        high = max(*(b for _, b in ends), effect)
        agree = p_of(paired[s])[1] * effect >= 0
        undecided = "undecided" if attainable[s] >= LEVEL else "close"
        mark = "" if adjusted[s] < LEVEL and agree else undecided
        mark = "failed" if np.isinf(table[s]).any() else mark
        found[s] = (mark, math.exp(effect), (math.exp(low), math.exp(high)), p[s], adjusted[s])
    return found


def test_every_number_of_a_decision_is_what_numpy_finds(tables, records):
    found = {(row["problem"], row["solver"]): row for row in rows(choose(records))}
    marks = set()
    for problem, table in tables.items():
        for solver, (mark, effect, interval, p, adjusted) in expected(table).items():
            row = found[problem, solver]
            known = [v for v in table[solver] if not math.isnan(v)]
            assert row["median"] == pytest.approx(np.median(known), rel=1e-12)
            assert row["runs"] == {
                "planned": SEEDS, "ok": int(np.isfinite(known).sum()),
                "failed": int(np.isinf(known).sum()), "missing": SEEDS - len(known),
            }  # fmt: skip
            assert row["mark"] == mark
            marks.add(mark)
            against = row["against_best"]
            assert (against is None) == (mark == "best")
            if against:
                assert against["effect"] == pytest.approx(effect, rel=1e-12)
                ends = [None if math.isinf(end) else pytest.approx(end) for end in interval]
                assert against["interval"] == ends
                assert against["p"] == pytest.approx(p, rel=1e-12)
                assert against["adjusted"] == pytest.approx(adjusted, rel=1e-12)
    assert marks == {"best", "", "close", "failed", "undecided"}


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
