"""Verdicts, calls and the answer, recomputed with numpy and scipy: no shared code."""

import math

import numpy as np
import pytest
from recomputed import decided, grid
from records import record

from orthobench.contract.solver import Work
from orthobench.decide.answer import answer
from orthobench.decide.comparisons import compare
from orthobench.harness.stopping import RunStatus
from orthobench.harness.trace import Checkpoint
from orthobench.results.tuning import choose

TOLERANCE = 0.01
STEPS = np.array([0, *grid(40)])
ENDINGS = {"own": RunStatus.DONE, "budget": RunStatus.BUDGET, "clock": RunStatus.BUDGET}


@pytest.fixture(scope="module", params=[5, 9, 14])
def problems(request):
    """The runs of four solvers on eight problems, and what `recomputed` finds."""
    seeds, found = request.param, {}
    for problem in range(8):
        rng = np.random.default_rng([seeds, problem])
        shifts = np.array([0.0, 0.002, 0.008, 0.3]) * rng.permutation([1.0, 1.0, 3.0, 1.0])
        noise, fails = rng.choice([1e-6, 3e-3]), rng.choice([0.0, 0.15])
        endings = rng.permutation(["own", "own", "budget", "clock"])
        found[f"p{problem}"] = {
            solver: [
                None if rng.random() < fails else made_run(rng, seed, 0.5 + shift, noise, ending)
                for seed in range(seeds)
            ]
            for solver, shift, ending in zip("abcd", shifts, endings, strict=True)
        }
    return found, {name: decided(own, TOLERANCE) for name, own in found.items()}


def made_run(rng, seed, level, noise, ending):
    """Return a run that falls to a level, is there sooner or later, and ends sooner or later."""
    last = len(STEPS) if ending == "budget" else int(rng.integers(len(STEPS) - 3, len(STEPS)))
    n = STEPS[:last]
    values = level + noise * rng.standard_normal(last) + 0.7 * np.exp(-n / rng.choice([0.3, 3.0]))
    values[0] = 2.0 + 0.1 * seed
    return n, values, np.cumsum(rng.random(last)) + rng.random(last), ending


def made(problems):
    return [
        record(
            f"{problem} {solver} {seed}", problem=problem, recipe=f"data{int(problem[1:]) // 2}",
            family="f", solver=solver, solver_name=solver, seed=seed,
            status=ENDINGS[run[3]] if run else RunStatus.ERROR,
            budget={"seconds": 9.0} if run and run[3] == "clock" else {"steps": int(STEPS[-1])},
            trace=tuple(
                Checkpoint(0.75 * cost, 0.25 * cost, Work(int(n), int(n), int(n)), {"gap": value})
                for n, value, cost in zip(*run[:3], strict=True)
            ) if run else (),
        )
        for problem, solvers in problems.items()
        for solver, runs in solvers.items()
        for seed, run in enumerate(runs)
    ]  # fmt: skip


def test_verdicts_stops_and_costs_are_what_scipy_finds(problems):
    runs, expected = problems
    seen = set()
    for comparison in compare(choose(made(runs))):
        for d in comparison.decisions:
            verdict, call = expected[comparison.problem][d.solver]
            if verdict == "as good" and call is None:  # the clock cut all that would do
                verdict = "undecided"
            assert d.verdict.value == verdict
            seen.add(verdict)
            if call is not None:
                cost, misses, own, steps = call
                assert (d.cost, d.call.misses) == (pytest.approx(cost), misses)
                assert dict(d.call.stop.limits) == ({} if own else {"steps": steps})
                seen |= {misses > 0, "own" if own else "steps"}
    assert seen >= {"as good", "worse", False, "own", "steps"}


def test_the_answer_is_the_least_mean_factor_over_blocks(problems):
    runs, expected = problems
    found = answer(compare(choose(made(runs))))
    logs = {name: {} for name in "abcd"}
    for problem, known in expected.items():
        calls = {name: call for name, (_, call) in known.items() if call}
        if not calls:
            continue
        cheap = min(calls.values())
        sure = min((call for call in calls.values() if not call[1]), default=cheap)
        named = sure if sure[0] <= 2 * cheap[0] else cheap
        for name, of_block in logs.items():
            factor = max(1, calls[name][0] / named[0]) if name in calls else 10.0
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
