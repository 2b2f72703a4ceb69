"""quasi-newton and trust-region, in both forms, against Pymanopt's trust regions.

Run with ``pytest benchmarks/test_second_order_tucker.py``; Pymanopt comes with the extra ``peers``.
All run from the HOEVD basis to a relative gradient of 1e-12, on the third moment of 5n samples of a
skewed factor model with five factors, and must end at the same objective. Opponents take turns,
and the best of each counts. All get the start free, and the explicit form the tensor: what these
cost is timed apart. Pymanopt is timed on the explicit tensor, with contractions by tensordot, and
on the functions of trust-region in the implicit form, if only the methods differ.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from time import perf_counter

import numpy as np
import pytest
import smoke
from orthobench_tucker import MomentOracle, SampleMoment
from orthobench_tucker._kernels.partial_cores import partial_cores
from orthobench_tucker.objective import evaluate, hessian
from orthobench_tucker.solvers.quasi_newton import QuasiNewton
from orthobench_tucker.solvers.trust_region import TrustRegion
from orthobench_tucker.whole_tensor import hoevd_basis
from peers import imported
from plain_tucker import on_grassmann
from smoke import usually

from orthobench.contract.solver import Status
from orthobench.tools.geometry import random_point

ROUNDS = usually({30: 9, 60: 7, 100: 5}, smoke={12: 1})
SIZES = tuple(ROUNDS)
ORDER, RANK = 3, 5
SOLVERS = {
    "quasi-newton": QuasiNewton(start="random"),
    "quasi-newton, bfgs": QuasiNewton(method="bfgs", start="random"),
    "quasi-newton, as published": QuasiNewton(preconditioned=False, start="random"),
    "quasi-newton, bfgs as published": QuasiNewton(
        method="bfgs", preconditioned=False, start="random"
    ),
    "trust-region": TrustRegion(start="random"),
    "trust-region, as published": TrustRegion(preconditioned=False, start="random"),
}


@cache
def oracle(n):
    rng = np.random.default_rng(n)
    B = rng.standard_normal((n, RANK))
    noise = 0.5 * np.linalg.norm(B) / np.sqrt(n) * rng.standard_normal((5 * n, n))
    made = MomentOracle((rng.exponential(size=(5 * n, RANK)) - 1) @ B.T + noise, ORDER, RANK)
    made.start = random_point(n, RANK, rng)
    made.start = hoevd_basis(made, "implicit")
    return made


def solve(solver, n):
    state = solver.init(oracle(n), np.random.default_rng(0))
    solver.advance(oracle(n), state, 1000)
    assert state.status is Status.CONVERGED
    return solver.solution(state).point, state.work.steps


def forming(n):
    """Form the tensor anew."""
    oracle(n).rewind(np.random.default_rng(0))
    return oracle(n).T


def pymanopt_problem(n, form):
    pymanopt = imported("pymanopt")
    manifold = pymanopt.manifolds.Grassmann(n, RANK)
    cores, Q = partial_cores(oracle(n), "implicit"), oracle(n).start
    unit = evaluate(cores, Q).unit
    wrap = pymanopt.function.numpy(manifold)
    if form == "implicit":
        functions = {
            "riemannian_gradient": wrap(lambda Q: -evaluate(cores, Q, unit).gradient),
            "riemannian_hessian": wrap(lambda Q, V: -hessian(cores, evaluate(cores, Q, unit), V)),
        }
        cost = wrap(lambda Q: -evaluate(cores, Q, unit).value)
        return pymanopt, pymanopt.Problem(manifold, cost, **functions), Q
    return pymanopt, on_grassmann(oracle(n).T / unit, RANK), Q


def seconds(call):
    begin = perf_counter()
    result = call()
    return perf_counter() - begin, result


@pytest.fixture
def in_turns(benchmark, beside, report):
    return partial(_in_turns, benchmark, beside, report)


def _in_turns(benchmark, beside, report, group, n, calls):
    """Let all take turns, hold them to one objective, and return the best time of each."""
    times, steps, values = {name: [] for name in calls}, {}, []
    judge, (ours, *others) = SampleMoment(oracle(n).X, ORDER), calls
    oracle(n).T  # noqa: B018 - formed

    def turn(name):
        spent, (Q, steps[name]) = seconds(calls[name])
        times[name].append(spent)
        if steps[name] is not None:
            values.append(judge.objective(Q))

    def take_turns():
        for name in others:
            turn(name)

    turn(ours)
    benchmark.group, benchmark.name = group, ours
    benchmark.pedantic(calls[ours], setup=take_turns, rounds=ROUNDS[n])
    beside({name: times[name] for name in others})
    best = {name: min(spent) for name, spent in times.items()} | {ours: benchmark.stats.stats.min}
    for name, spent in best.items():
        counted = name if steps[name] is None else f"{name}, {steps[name]} steps"
        report(counted, n, RANK, "", f"{1 / spent:.4g}", "", "", "")
    np.testing.assert_allclose(values, values[0], rtol=1e-9)
    return best


@pytest.mark.parametrize("n", SIZES)
def test_both_forms_side_by_side(in_turns, n):
    calls = {}
    for form in ("implicit", "explicit"):
        for name, solver in SOLVERS.items():
            calls[f"{name}, {form}"] = partial(solve, replace(solver, form=form), n)
    calls["the start, implicit"] = lambda: (hoevd_basis(oracle(n), "implicit"), None)
    calls["the start, explicit"] = lambda: (hoevd_basis(oracle(n), "explicit"), None)
    calls["forming the tensor"] = lambda: (forming(n), None)
    in_turns(f"second-order Tucker n={n}", n, calls)


@pytest.mark.parametrize("form", ["implicit", "explicit"])
@pytest.mark.parametrize("n", SIZES)
def test_pymanopt(in_turns, n, form):
    pymanopt, problem, Q = pymanopt_problem(n, form)
    optimizer = pymanopt.optimizers.TrustRegions(
        verbosity=0, min_gradient_norm=1e-12, max_iterations=50
    )

    def other():
        found = optimizer.run(problem, initial_point=Q)
        return found.point, found.iterations

    names = ("trust-region", "trust-region, as published", "quasi-newton")
    ours = {name: partial(solve, replace(SOLVERS[name], form=form), n) for name in names}
    times = in_turns(f"second-order Tucker n={n}, {form}", n, {**ours, "Pymanopt": other})
    assert smoke.ON or times["Pymanopt"] > 2 * times["trust-region"]
