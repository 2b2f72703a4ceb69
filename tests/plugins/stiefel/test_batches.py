"""Batches of matrices: a method treats each as if it were alone, but for what they share."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from gpu_places import marked
from kinds import one_of
from orthobench_givens.solvers.coordinate_descent import Givens
from orthobench_stiefel import projected
from orthobench_stiefel._kernels.retractions import RETRACTIONS
from orthobench_stiefel.problems.procrustes import LeastSquaresOracle, StiefelProcrustesBatch
from orthobench_stiefel.solvers.landing import Landing
from orthobench_stiefel.solvers.pogo import POGO
from orthobench_stiefel.solvers.random_submanifold import RandomSubmanifold
from orthobench_stiefel.solvers.riemannian_gradient import RiemannianGradient
from orthobench_stiefel.solvers.torch_optimizers import GeooptAdam
from orthobench_stiefel.solvers.wen_yin import WenYin

import orthobench as ob
from orthobench.harness.execution import ready_oracle
from orthobench.harness.identity import Streams
from orthobench.testing.check_of_libraries import check_libraries
from orthobench.tools.geometry import drift, orthonormalize
from orthobench.tools.places import place_of

PROBLEM = StiefelProcrustesBatch(matrices=5, n=8, p=3, rows=12)
STREAMS = Streams.of("batches", "any", 0)

SEPARABLE = [
    Landing(),
    Landing(step_size=0.02, safe_step=False, batch=0),
    POGO(),
    POGO(momentum=0.5),
    POGO(base="vector-adam"),
    RandomSubmanifold(),
    RandomSubmanifold(sampling="rotation", size=5, orthonormalize=3),
    *(RiemannianGradient(steps="constant", retraction=r, step_size=0.05) for r in RETRACTIONS),
    RiemannianGradient(steps="constant", metric="canonical", momentum=0.5),
]
SEPARABLE = [replace(solver, relative=False) for solver in SEPARABLE]
"""Solvers whose step length does not depend on the point."""

SHARING = [
    Landing(step_size=3.0, relative=False),
    POGO(step_size=0.3, safe_step=True, relative=False),
    RiemannianGradient(),
    RiemannianGradient(retraction="polar", steps="armijo"),
    RiemannianGradient(retraction="newton-schulz", steps="adaptive", metric="turning"),
    RiemannianGradient(retraction="cayley", steps="bb"),
]
"""Solvers whose matrices share a step length that depends on all of them."""


def built(problem=PROBLEM):
    return problem.build(np.random.default_rng(0))


def advanced(solver, oracle, steps=30):
    state = solver.init(oracle, np.random.default_rng(STREAMS.solver))
    solver.advance(oracle, state, steps)
    return state


def singles(batch):
    """The oracles of the matrices of a batch, each alone, with its start."""
    for A, B, start in zip(batch.A, batch.B, batch.start, strict=True):
        single = LeastSquaresOracle(A, B)
        single.start = start
        yield single


@pytest.mark.parametrize("solver", SEPARABLE, ids=repr)
def test_a_batch_is_as_many_runs_of_a_single_matrix(solver):
    batch, _ = ready_oracle(built().oracle, solver, STREAMS)
    state = advanced(solver, batch)
    alone = [advanced(solver, single) for single in singles(batch)]
    assert np.abs(state.X - [each.X for each in alone]).max() < 1e-12
    assert np.abs(state.X - batch.start).max() > 1e-3
    assert solver.solution(state).point.shape == (batch.n, batch.k)
    # iterations end by themselves, and what is drawn is orthonormalized once for all matrices
    if "newton-schulz" not in repr(solver) and "rotation" not in repr(solver):
        assert state.work.flops == pytest.approx(sum(each.work.flops for each in alone), rel=1e-3)


@pytest.mark.parametrize("solver", [*SEPARABLE, *SHARING], ids=repr)
def test_a_batch_of_one_matrix_is_that_matrix(solver):
    batch, _ = ready_oracle(built(replace(PROBLEM, matrices=1)).oracle, solver, STREAMS)
    (single,) = singles(batch)
    state, alone = advanced(solver, batch, 10), advanced(solver, single, 10)
    assert np.abs(state.X[0] - alone.X).max() < 1e-10


@pytest.mark.parametrize("solver", SHARING, ids=repr)
def test_methods_with_a_step_for_all_matrices_reach_the_optimum(solver):
    outcome = ob.solve(solver, built(), ob.Budget(steps=500))
    assert outcome.trace[-1].metrics["objective_gap"] < 1e-4
    assert outcome.solution.shape == (5, 8, 3)
    assert max(map(drift, outcome.solution)) < 1e-12


def test_retractions_of_a_stack_are_those_of_its_matrices():
    for case in product([(5, 40, 6), (3, 8, 8), (2, 33, 33)], RETRACTIONS):
        shape, name = case
        rng = np.random.default_rng(0)
        X = np.stack([orthonormalize(x) for x in rng.standard_normal(shape)])
        D = projected(X, rng.standard_normal(shape))
        D = (
            D
            / np.linalg.norm(D, axis=(1, 2))[:, None, None]
            * np.arange(1, shape[0] + 1)[:, None, None]
        )
        alone = [RETRACTIONS[name](x, d)[0] for x, d in zip(X, D, strict=True)]
        assert np.abs(RETRACTIONS[name](X, D)[0] - alone).max() < 1e-12, case


@pytest.mark.parametrize("solver", [WenYin(), Givens(), GeooptAdam()], ids=lambda s: s.name)
def test_solvers_of_one_matrix_refuse_a_batch_in_a_sentence(solver):
    assert solver.refuses(replace(PROBLEM, p=8)) == (
        "needs a StiefelOracle, stiefel-procrustes-batch offers StackedLeastSquaresOracle"
    )


@pytest.mark.parametrize(
    "on",
    [
        *marked("array-api-strict", "torch:cpu", "torch:cuda", "cupy", "numpy/float32"),
        pytest.param("jax:cpu", marks=pytest.mark.slow),  # it compiles for each length of a chunk
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "solver",
    one_of(4, [
        Landing(), POGO(base="vector-adam"), RandomSubmanifold(sampling="rotation", size=5),
        RandomSubmanifold(),
        RiemannianGradient(steps="constant", retraction="newton-schulz"), POGO(safe_step=True),
        RiemannianGradient(), RiemannianGradient(retraction="cayley", steps="armijo"),
    ]),
    ids=repr,
)  # fmt: skip
def test_runs_on_other_libraries_are_those_of_numpy(solver, on):
    if why := place_of(on).missing():
        pytest.skip(why)
    rounded = 0.1 if getattr(solver, "steps", "") in ("bb", "adaptive") else 2e-3
    check_libraries(solver, built(), on, rounded if "float32" in on else 1e-10)
