"""Verdicts, costs and the answer, recomputed with numpy and scipy: no shared code."""

import math

import numpy as np
import pytest
from recomputed import decided
from records import record

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


def curves(problem):
    """Return the values and the times with readings of all runs of a problem, by solver."""
    return {name: [(v, at + reading) for v, at, reading in runs] for name, runs in problem.items()}


def test_every_verdict_and_cost_is_what_scipy_finds(problems):
    seen = set()
    for comparison in compare(choose(made(problems))):
        expected = decided(curves(problems[comparison.problem]), TOLERANCE)
        for d in comparison.decisions:
            assert (d.verdict.value, pytest.approx(d.cost), d.misses) == expected[d.solver]
            seen.add(d.verdict.value)
    assert seen >= {"as good", "worse"}


def test_the_answer_is_the_least_mean_factor_over_blocks(problems):
    found = answer(compare(choose(made(problems))))
    logs = {name: {} for name in "abcd"}
    for problem, solvers in problems.items():
        known = decided(curves(solvers), TOLERANCE)
        costs = {name: cost for name, (verdict, cost, _) in known.items() if verdict == "as good"}
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
