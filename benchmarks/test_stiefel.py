"""The Stiefel methods: steps against their flop bound, and runs against Pymanopt's.

A retraction is to cost what its formula says: its rate of flops is compared with that of the
product of an (n, p) and a (p, p) matrix on the same machine. Runs on stiefel-brockett begin at the
same point and end at a Riemannian gradient of 1e-6, relative to the matrix of partial derivatives
at the start; evaluations of the cost are reported beside. They take minutes each.
"""

from __future__ import annotations

from functools import cache
from time import perf_counter

import numpy as np
import pytest
from orthobench_pymanopt.solvers.optimizers import PymanoptConjugateGradient, PymanoptTrustRegions
from orthobench_stiefel import projected
from orthobench_stiefel._kernels.retractions import RETRACTIONS
from orthobench_stiefel.problems.brockett import StiefelBrockett
from orthobench_stiefel.solvers.riemannian_gradient import RiemannianGradient
from orthobench_stiefel.solvers.wen_yin import WenYin
from peers import imported
from smoke import usually

from orthobench.tools.geometry import random_point

TOLERANCE = 1e-6
ROUNDS = usually(5, smoke=1)
SHAPES = usually([(1000, 50), (1000, 500)], smoke=[(20, 3)])
RUNS = usually([(2000, 10), (1000, 100)], smoke=[(20, 3)])
FASTER = usually(5.0, smoke=0.0)
MOST = usually(100_000, smoke=100)
BOUND = usually(4.0, smoke=1e9)
"""Most times that a retraction may take as long as a product of as many flops."""


def seconds(call):
    begin = perf_counter()
    result = call()
    return perf_counter() - begin, result


@cache
def flop_rate(n, p):
    """Return the flops a second of the product of an (n, p) and a (p, p) matrix."""
    rng = np.random.default_rng(0)
    X, S = rng.standard_normal((n, p)), rng.standard_normal((p, p))
    return 2 * n * p * p / min(seconds(lambda: X @ S)[0] for _ in range(3 * ROUNDS))


@pytest.mark.parametrize("name", RETRACTIONS)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_retraction_against_its_flop_bound(benchmark, report, name, shape):
    X = random_point(*shape, np.random.default_rng(0))
    D = projected(X, np.random.default_rng(1).standard_normal(shape))
    D *= 0.1 / np.linalg.norm(D)
    benchmark.group = f"retraction {shape}"
    _, flops = benchmark.pedantic(RETRACTIONS[name], args=(X, D), rounds=ROUNDS, warmup_rounds=1)
    spent = benchmark.stats.stats.min
    ratio = spent * flop_rate(*shape) / flops
    target = f"< {BOUND:g} {'met' if ratio < BOUND else 'MISSED'}"
    report(
        f"{name}: retraction",
        shape[0],
        shape[1],
        "",
        f"{1 / spent:.1f}",
        "",
        target,
        f"{ratio:.1f}",
    )


@cache
def oracle(n, p):
    found = StiefelBrockett(n=n, p=p).build(np.random.default_rng(0)).oracle
    found.start = random_point(n, p, np.random.default_rng(1))
    found.start.flags.writeable = False
    return found


def solved(solver, n, p):
    """Return the state where a solver ends by its tolerance."""
    state = solver.init(oracle(n, p), np.random.default_rng(2))
    solver.advance(oracle(n, p), state, MOST)
    return state


@cache
def opponent(name, n, p):
    imported("pymanopt")
    solver = {"CG": PymanoptConjugateGradient, "TR": PymanoptTrustRegions}[name]
    spent, state = seconds(lambda: solved(solver(tolerance=TOLERANCE), n, p))
    return spent, state.work.samples


@pytest.mark.parametrize("name", ["riemannian-gradient", "adaptive", "lbfgs", "wen-yin"])
@pytest.mark.parametrize("shape", RUNS)
def test_runs_against_pymanopt(benchmark, beside, report, name, shape):
    unit = float(np.linalg.norm(oracle(*shape).gradient(oracle(*shape).start)))
    solver = {
        "riemannian-gradient": RiemannianGradient(tolerance=TOLERANCE),
        "adaptive": RiemannianGradient(
            metric="turning", retraction="cholesky-qr", steps="adaptive", tolerance=TOLERANCE
        ),
        "lbfgs": RiemannianGradient(
            metric="turning", retraction="cholesky-qr", steps="lbfgs", tolerance=TOLERANCE
        ),
        "wen-yin": WenYin(gtol=TOLERANCE * unit, xtol=0.0, ftol=0.0),
    }[name]
    benchmark.group = f"stiefel-brockett {shape}"
    state = benchmark.pedantic(solved, args=(solver, *shape), rounds=1)
    fast = benchmark.stats.stats.min
    for other in ("CG", "TR"):
        slow, calls = opponent(other, *shape)
        beside({f"Pymanopt {other}": [slow]})
        met = f">= {FASTER:g} {'met' if slow / fast >= FASTER else 'MISSED'}"
        what = f"{name}, {state.work.samples} evaluations: Pymanopt {other}, {calls}"
        report(
            what,
            shape[0],
            shape[1],
            f"{1 / slow:.3f}",
            f"{1 / fast:.3f}",
            f"{slow / fast:.1f}",
            met,
            "",
        )
