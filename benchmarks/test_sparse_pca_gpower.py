"""gpower against plain numpy and scikit-learn, on the size of the prostate data.

Run with ``pytest benchmarks``; with ``ORTHOBENCH_DATA`` also on the prostate data themselves.
scikit-learn's penalty, and gpower's at the same number of non-zeros, were found beforehand.
"""

from __future__ import annotations

from functools import cache
from time import perf_counter

import numpy as np
import pytest
import smoke
from expression import many_factors, prostate, standardised
from orthobench_gpower.reference import ascended, greedy
from orthobench_gpower.solvers.gpower import GPower
from orthobench_sparse_pca import SparsePCAOracle
from orthobench_sparse_pca.judge import adjusted_variance
from orthobench_sparse_pca.loadings import solve_for_z
from smoke import usually

from orthobench.contract.solver import Status

DATA = {"synthetic": many_factors} | usually({"prostate": prostate}, smoke={})
ROUNDS = usually(7, smoke=1)
PLAIN_ROUNDS = usually(3, smoke=1)

PEERS = usually(
    [  # data, m, class, gamma at the same number of non-zeros, least ratio of times
        ("synthetic", 5, "SparsePCA", 0.4676, 50.0),
        ("synthetic", 5, "MiniBatchSparsePCA", 0.4824, 5.0),
        ("synthetic", 10, "SparsePCA", 0.4082, 50.0),
        ("synthetic", 10, "MiniBatchSparsePCA", 0.4230, 5.0),
        ("prostate", 5, "SparsePCA", 0.3859, 50.0),
        ("prostate", 5, "MiniBatchSparsePCA", 0.4527, 5.0),
        ("prostate", 10, "SparsePCA", 0.3711, 50.0),
        ("prostate", 10, "MiniBatchSparsePCA", 0.4156, 5.0),
    ],
    smoke=[("synthetic", 2, peer, 0.3, 0.0) for peer in ("SparsePCA", "MiniBatchSparsePCA")],
)
SETTINGS = {  # SparsePCA takes ten times as many iterations to its own tolerance
    "SparsePCA": {"alpha": 5, "max_iter": 20},
    "MiniBatchSparsePCA": {"alpha": 5},
}

RUNS = usually(
    [  # m, parameters, least ratio to plain numpy
        (102, {}, 3.0),
        (5, {"block": True}, 1.2),
        (10, {"block": True}, 1.2),
        (102, {"block": True}, 1.2),
    ],
    smoke=[(4, {}, 0.0), (4, {"block": True}, 0.0)],
)


@cache
def standardized(name):
    return standardised(DATA[name]())


@cache
def oracle_of(name, m):
    return SparsePCAOracle(standardized(name), m)


def seconds(call):
    begin = perf_counter()
    result = call()
    return perf_counter() - begin, result


def solve(solver, oracle, steps=1_000_000):
    state = solver.init(oracle, np.random.default_rng(0))
    solver.advance(oracle, state, steps)
    return state, solver.solution(state) if state.status is Status.CONVERGED else None


def explained(name, Z):
    """Return the share of adjusted explained variance, and non-zeros a component."""
    A = standardized(name)
    norms = np.linalg.norm(Z, axis=0)
    share = adjusted_variance(A, Z / np.where(norms > 0, norms, 1.0)) / np.linalg.norm(A) ** 2
    return share, np.count_nonzero(Z) / Z.shape[1]


@pytest.mark.parametrize(("name", "m", "peer", "gamma", "target"), PEERS)
def test_against_scikit_learn(benchmark, beside, report, name, m, peer, gamma, target):
    decomposition = pytest.importorskip("sklearn.decomposition")
    A, solver, slow = standardized(name), GPower(gamma=gamma), []
    model = getattr(decomposition, peer)(n_components=m, random_state=0, **SETTINGS[peer])
    rounds = 1 if peer == "SparsePCA" else PLAIN_ROUNDS
    solve(solver, oracle_of(name, m))

    def take_turns():
        if len(slow) < rounds:
            slow.append(seconds(lambda: model.fit(A.T))[0])
        return (solver, oracle_of(name, m)), {}

    benchmark.group = f"gpower {name} m={m}, as sparse as {peer}"
    _, solution = benchmark.pedantic(solve, setup=take_turns, rounds=ROUNDS)
    beside({f"scikit-learn {peer}": slow})
    ratio = min(slow) / benchmark.stats.stats.min
    ours, nonzeros = explained(name, solution.point)
    theirs, peers_nonzeros = explained(name, model.components_.T)
    report(
        f"gpower : {peer}, {name}, {nonzeros:.0f} : {peers_nonzeros:.0f} non-zeros",
        "12600 x 102",
        m,
        f"{1 / min(slow):.3f}",
        f"{ratio / min(slow):.1f}",
        f"{ratio:.0f}",
        f"{target:g} {'met' if ratio >= target else 'MISSED'}",
        f"variance {ours:.3f} : {theirs:.3f}",
    )
    assert smoke.ON or nonzeros == pytest.approx(peers_nonzeros, rel=0.03)
    assert smoke.ON or ours > theirs
    assert ratio >= target


@pytest.mark.parametrize(("m", "more", "target"), RUNS)
@pytest.mark.parametrize("name", DATA)
def test_against_plain_numpy(benchmark, beside, report, name, m, more, target):
    """The same iterations from the same start; in a block without filling the pattern."""
    A, block = np.ascontiguousarray(standardized(name)), "block" in more
    oracle, solver, slow = oracle_of(name, m), GPower(gamma=0.25, **more), []
    start = solver.init(oracle, np.random.default_rng(0)).ascent.X.T.copy()
    bound = solver.gamma * np.linalg.norm(A, axis=1).max()
    steps = solve(solver, oracle)[0].work.steps

    def plain():
        if block:
            return ascended(A, start, bound, solver.tolerance)[2]
        return greedy(A, m, solver.gamma, solver.tolerance, solve_for_z)[1]

    def take_turns():
        if len(slow) < PLAIN_ROUNDS:
            slow.append(seconds(plain))
        return (solver, oracle, steps - block), {}

    benchmark.group = f"gpower {name} m={m} block={block}"
    benchmark.pedantic(solve, setup=take_turns, rounds=ROUNDS)
    beside({"plain numpy": [spent / count * (steps - block) for spent, count in slow]})
    (spent, count), fast = min(slow), benchmark.stats.stats.min
    ratio = spent / count / (fast / (steps - block))
    report(
        f"gpower {'block' if block else 'greedy'}, {name}, iterations",
        "12600 x 102",
        m,
        f"{count / spent:.0f}",
        f"{(steps - block) / fast:.0f}",
        f"{ratio:.1f}",
        f"{target:g} {'met' if ratio >= target else 'MISSED'}",
        "",
    )
    assert abs(count - steps) <= 0.02 * steps + 1
