"""Solvers of tensors with an exact decomposition, against TensorLy and each other.

Run with ``pytest benchmarks/test_tensor_power.py``; TensorLy comes with the extra ``peers``. All
run to the end, from random starts, and must end within 1e-8 of the optimum. The report has
decompositions per second; opponents take turns, and the best of each counts.
"""

from __future__ import annotations

from functools import cache
from time import perf_counter

import numpy as np
import pytest
from clock import spent
from orthobench_givens.solvers.tensor import GivensTensor
from orthobench_kit.symmetric_tensors import composed
from orthobench_orthogonal_tensor import orthogonal_tensor
from orthobench_orthogonal_tensor.judge import recovery_error
from orthobench_orthogonal_tensor.solvers.randomized_joint_diagonalization import (
    RandomizedJointDiagonalization,
)
from orthobench_tensor_power.solvers.polar_power import PolarPower
from orthobench_tensor_power.solvers.tensor_power import TensorPower
from peers import imported
from smoke import usually

from orthobench.contract.problem import Solution
from orthobench.contract.solver import Status
from orthobench.tools.geometry import random_point

GAP, EXACT = 1e-8, 1e-10
ROUNDS = usually({20: 15, 50: 9, 100: 5, 200: 3}, smoke={6: 1})
POWER_ROUNDS = usually({20: 5, 50: 3, 100: 2, 200: 1}, smoke={6: 1})
TENSORLY_ROUNDS = usually({20: 3, 50: 2}, smoke={6: 1})
LARGEST = usually(200, smoke=6)
CONFIGURED = {
    "tensor-power": TensorPower(),
    # what TensorLy does: 10 restarts, 10 times 3 iterations each, none of them left out
    "tensor-power, TensorLy's counts": TensorPower(restarts=10, iterations=30, tolerance=0.0),
    "polar-power": PolarPower(),
    "givens-tensor": GivensTensor(),
}
TARGETS = {("tensor-power", 50): 15.0, ("givens-tensor", 50): 100.0}


@cache
def instance(d):
    rng = np.random.default_rng(d)
    V, weights = random_point(d, d, rng), rng.uniform(0.5, 1.5, d)
    made = orthogonal_tensor(composed(V, weights), factors=V, weights=weights)
    made.oracle.start = random_point(d, d, rng)
    return made


def solve(solver, d):
    oracle = instance(d).oracle
    state = solver.init(oracle, np.random.default_rng(0))
    solver.advance(oracle, state, 1_000_000)
    assert state.status in (Status.CONVERGED, Status.COMPLETE)
    return solver.solution(state)


def seconds(call):
    begin = perf_counter()
    result = call()
    return perf_counter() - begin, result


def gap(solution, d):
    return abs(instance(d).measure(solution)["objective_gap"])


@pytest.mark.parametrize("d", TENSORLY_ROUNDS)
@pytest.mark.parametrize("name", CONFIGURED)
def test_against_tensorly(benchmark, beside, report, name, d):
    peer = imported("tensorly.decomposition")
    solver, opponent = CONFIGURED[name], []
    T = np.array(instance(d).oracle.T)

    def take_turns():
        if len(opponent) < TENSORLY_ROUNDS[d]:
            np.random.seed(0)  # noqa: NPY002 - TensorLy draws from there
            decompose = peer.symmetric_parafac_power_iteration
            opponent.append(seconds(lambda: decompose(T, d, n_repeat=10, n_iteration=10)))
        return (solver, d), {}

    benchmark.group = f"TensorLy d={d}"
    solution = benchmark.pedantic(solve, setup=take_turns, rounds=ROUNDS[d], warmup_rounds=1)
    beside({"TensorLy": [spent for spent, _ in opponent]})
    slow, (_, factors) = min(opponent, key=lambda run: run[0])
    fast = benchmark.stats.stats.min
    assert gap(solution, d) <= GAP
    assert gap(Solution(factors), d) <= GAP
    target = TARGETS.get((name, d))
    report(f"{name} : TensorLy", d, d, *rates(slow, fast), verdict(slow / fast, target), "")


@pytest.mark.parametrize("d", ROUNDS)
def test_polar_power_against_tensor_power(benchmark, beside, report, d):
    power, opponent = TensorPower(), []
    solve(TensorPower(restarts=1), min(ROUNDS))

    def take_turns():
        if len(opponent) < POWER_ROUNDS[d]:
            opponent.append(seconds(lambda: solve(power, d)))
        return (PolarPower(), d), {}

    benchmark.group = f"polar-power d={d}"
    solution = benchmark.pedantic(solve, setup=take_turns, rounds=ROUNDS[d], warmup_rounds=1)
    beside({"tensor-power": [spent for spent, _ in opponent]})
    (slow, other), fast = min(opponent, key=lambda run: run[0]), benchmark.stats.stats.min
    assert gap(solution, d) <= GAP
    assert gap(other, d) <= GAP
    within = f"2 s {'met' if fast <= 2 else 'MISSED'}" if d == 200 else ""
    report(
        f"polar-power : tensor-power, {1e3 * fast:.1f} : {1e3 * slow:.0f} ms",
        d,
        d,
        *rates(slow, fast),
        within,
        "",
    )


@pytest.mark.parametrize("d", [LARGEST])
def test_joint_diagonalization_against_rotations(benchmark, beside, report, d):
    """In CPU seconds."""
    solvers = {"ours": RandomizedJointDiagonalization(), "givens-tensor": GivensTensor()}
    taken = {name: [] for name in solvers}
    for solver in solvers.values():
        solve(solver, d)

    def run(name):
        taken[name].append(spent(lambda: solve(solvers[name], d)))

    benchmark.group = f"randomized-joint-diagonalization d={d}"
    benchmark.pedantic(run, args=("ours",), setup=lambda: run("givens-tensor"), rounds=ROUNDS[d])
    beside({"givens-tensor": [each for each, _ in taken["givens-tensor"]]})
    fast, slow = (min(each for each, _ in runs) for runs in taken.values())
    solution = taken["ours"][-1][1]
    assert recovery_error(solution.point, instance(d).measure.factors) <= EXACT
    what = "randomized-joint-diagonalization : givens-tensor"
    report(what, d, d, *rates(slow, fast), verdict(slow / fast, 10.0), "")


def rates(slow, fast):
    """Return decompositions per second of both, and the ratio."""
    return f"{1 / slow:.3g}", f"{1 / fast:.3g}", f"{slow / fast:.1f}"


def verdict(ratio, target):
    if target is None:
        return ""
    return f"{target:g} {'met' if ratio >= target else 'MISSED'}"
