"""Verdicts, ends, costs and the answer, recomputed with numpy and scipy: no shared code."""

import math

import numpy as np
import pytest
from records import record
from scipy.stats import binom, t, wilcoxon

from orthobench.contract.solver import Work
from orthobench.decide.answer import answer
from orthobench.decide.comparisons import compare
from orthobench.harness.stopping import RunStatus
from orthobench.harness.trace import Checkpoint
from orthobench.results.tuning import choose

TOLERANCE = 0.01


@pytest.fixture(scope="module", params=[5, 9, 14])
def problems(request):
    """Traces of four solvers on six problems: (start, values, seconds, readings) of each run."""
    seeds, found = request.param, {}
    for problem in range(6):
        rng = np.random.default_rng([seeds, problem])
        shifts = np.array([0.0, 0.002, 0.008, 0.3]) * rng.permutation([1.0, 1.0, 3.0, 1.0])
        noise = rng.choice([1e-6, 3e-3])
        found[f"p{problem}"] = {
            solver: [
                (np.append(2.0 + 0.1 * seed, final + np.array([0.7, 0.02, 0.001, 0])),
                 np.cumsum(rng.random(5)), rng.random(5))
                for seed in range(seeds)
                for final in [0.5 + shift + noise * rng.standard_normal()]
            ]
            for solver, shift in zip("abcd", shifts, strict=True)
        }  # fmt: skip
    return found


def made(problems):
    return [
        record(
            f"{problem} {solver} {seed}", problem=problem, recipe=f"data{int(problem[1:]) // 2}",
            family="f", solver=solver, solver_name=solver, seed=seed, status=RunStatus.DONE,
            trace=tuple(
                Checkpoint(at, reading, Work(i, i, i), {"gap": value})
                for i, (value, at, reading) in enumerate(zip(*run, strict=True))
            ),
        )
        for problem, solvers in problems.items()
        for solver, runs in solvers.items()
        for seed, run in enumerate(runs)
    ]  # fmt: skip


def upper(d, level):
    """Return the smallest end such that the sign test rejects every larger median."""
    d, n = np.maximum(d, 0), len(d)
    beyond = [k for k in range(n) if binom.cdf(k, n, 0.5) <= level]
    if beyond:
        return np.sort(d)[::-1][beyond[-1]]
    return max(d.max(), d.mean() + t.ppf(1 - level, n - 1) * d.std(ddof=1) / math.sqrt(n))


def above(d, bound, level):
    """Return whether the centre is shown to be above a bound."""
    n = len(d)
    if 0.5**n <= level:
        return wilcoxon(d - bound, alternative="greater", method="exact").pvalue <= level
    return min(d.min(), d.mean() - t.ppf(1 - level, n - 1) * d.std(ddof=1) / math.sqrt(n)) > bound


def decided(solvers):
    """Return the verdict and the cost of each solver of a problem."""
    names = list(solvers)
    values = {name: np.array([run[0] for run in solvers[name]]) for name in names}
    start = values[names[0]][:, 0]
    seen = np.min([v.min(axis=1) for v in values.values()], axis=0)
    ends = {name: v[:, -1] for name, v in values.items()}
    gap = start - seen
    left = {name: (end - seen) / gap for name, end in ends.items()}
    best = min(names, key=lambda n: (np.median(left[n]), left[n].mean()))
    target = np.maximum(ends[best], seen) + TOLERANCE * gap
    found, level = {}, 0.05 / (len(names) - 1)
    pairs = {(a, b): (ends[a] - ends[b]) / gap for a in names for b in names if a != b}
    not_best = {a for a, b in pairs if above(pairs[a, b], 0.0, level)}
    for name in names:
        others = [other for other in names if other != name]
        tail = 0.1 if name == best else level
        verdict = "undecided"
        if max(upper(pairs[name, other], tail) for other in others) <= TOLERANCE:
            verdict = "as good"
        elif name in not_best and all(
            above(pairs[name, o], TOLERANCE, level) for o in others if o not in not_best
        ):
            verdict = "worse"
        spent = [
            min((at + reading for value, at, reading in zip(*run, strict=True) if value <= to),
                default=math.inf)
            for run, to in zip(solvers[name], target, strict=True)
        ]  # fmt: skip
        found[name] = verdict, float(np.median(spent))
    return found


def test_every_verdict_and_cost_is_what_scipy_finds(problems):
    seen = set()
    for comparison in compare(choose(made(problems))):
        expected = decided(problems[comparison.problem])
        for d in comparison.decisions:
            assert (d.verdict.value, pytest.approx(d.cost)) == expected[d.solver]
            seen.add(d.verdict.value)
    assert seen >= {"as good", "worse"}


def test_the_answer_is_the_least_mean_factor_over_blocks(problems):
    found = answer(compare(choose(made(problems))))
    logs = {name: {} for name in "abcd"}
    for problem, solvers in problems.items():
        known = decided(solvers)
        costs = {name: cost for name, (verdict, cost) in known.items() if verdict == "as good"}
        if not costs:
            continue
        for name, of_block in logs.items():
            factor = costs[name] / min(costs.values()) if name in costs else 10.0
            of_block.setdefault(int(problem[1:]) // 2, []).append(math.log(factor))
    means = {
        name: math.exp(np.mean([np.mean(own) for own in of_block.values()]))
        for name, of_block in logs.items()
    }
    assert found.use == min(means, key=means.get)
    assert found.mean_factor == pytest.approx(means[found.use])
    assert {s.solver: s.factor for s in found.alternatives} == pytest.approx(
        {name: mean for name, mean in means.items() if name != found.use}
    )
