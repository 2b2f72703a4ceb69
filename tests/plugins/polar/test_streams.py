"""Bases of a Gram matrix that changes: exact ones, power steps, rotations, and their ages."""

import tracemalloc

import numpy as np
import pytest
from orthobench_polar.gram_stream import BasisSolution
from orthobench_polar.solvers.eigenbases import rotate, rounds

import orthobench as ob
from orthobench.errors import DataError, UsageError
from orthobench.registry.plugins import catalogue

RNG = np.random.default_rng(0)
GRADIENTS = RNG.standard_normal((23, 6, 4)) * np.geomspace(1, 0.1, 6)[:, None]


def matrices(decay=0.9):
    found, S = [], np.zeros((6, 6))
    for G in GRADIENTS:
        S = decay * S + (1 - decay) * G @ G.T
        found.append(S)
    return found


def off_diagonal(S, Q):
    D = Q.T @ S @ Q
    return np.linalg.norm(D - np.diag(np.diag(D))) / np.linalg.norm(S)


def solved(solver, **parameters):
    return ob.solve(solver, ob.gram_stream(GRADIENTS, decay=0.9), **parameters)


def test_an_exact_basis_ages_as_long_as_it_serves():
    outcome = solved("basis-eigh", every=5)
    S = matrices()
    served = [off_diagonal(M, np.linalg.eigh(S[20])[1]) for M in S[20:]]
    found = outcome.trace[-1].metrics
    assert outcome.work.steps == 23
    assert found["off_diagonal"] == pytest.approx(np.mean(served))
    assert found["stale"] == pytest.approx(served[-1])
    assert found["stale"] > 0.01
    assert found["fresh"] < 1e-14


def test_a_qr_step_is_that_of_soap():
    Q = np.eye(6)
    for t, S in enumerate(matrices()):
        if t == 0:
            Q = np.linalg.eigh(S)[1]
        elif t % 3 == 0:
            order = np.argsort(-np.diag(Q.T @ S @ Q), kind="stable")
            Q = np.linalg.qr(S @ Q[:, order])[0]
    np.testing.assert_allclose(solved("basis-qr", every=3).solution, Q, atol=1e-10)


def test_a_round_of_rotations_is_a_similarity_with_zeros():
    M = RNG.standard_normal((7, 7))
    M = M + M.T
    Q, turned = np.eye(7), M.copy()
    p, q = rounds(7)[2]
    rotate(turned, Q, p, q)
    np.testing.assert_allclose(Q.T @ M @ Q, turned, atol=1e-13)
    np.testing.assert_allclose(Q.T @ Q, np.eye(7), atol=1e-14)
    np.testing.assert_allclose(turned[p, q], 0, atol=1e-14)


def test_sweeps_converge_to_the_eigenvectors_quadratically():
    errors = [
        solved("basis-jacobi", every=22, sweeps=sweeps).trace[-1].metrics["fresh"]
        for sweeps in (1, 2, 3, 8)
    ]
    assert errors[0] < 0.3
    assert errors[2] < errors[1] ** 1.5 < errors[0] ** 2
    assert errors[3] < 1e-14


def test_a_basis_is_judged_by_its_steps_and_those_undone():
    Q = np.linalg.qr(RNG.standard_normal((6, 6)))[0]
    found = ob.gram_stream(GRADIENTS, 0.9).measure(BasisSolution(Q, since=4, every=3))
    errors = [off_diagonal(S, Q) for S in matrices()[4:7]]
    mean = (7 * np.mean(errors) + 16) / 23
    assert found == pytest.approx({"off_diagonal": mean, "fresh": errors[0], "stale": errors[2]})


def test_a_race_on_a_stream_names_a_call_for_all_of_it():
    race = ob.race(ob.gram_stream(GRADIENTS, decay=0.9), within=5.0)
    assert "with" not in race.sentence.partition(":")[0]


@pytest.mark.parametrize(
    ("gradients", "decay", "error"),
    [
        (GRADIENTS, 1.0, UsageError),
        (GRADIENTS[0], 0.9, DataError),
        (np.full((2, 3, 3), np.nan), 0.9, DataError),
        (np.zeros((2, 3, 3)), 0.9, DataError),
    ],
)
def test_unfit_gradients_are_refused(gradients, decay, error):
    with pytest.raises(error, match=r"decay|gradients"):
        ob.gram_stream(gradients, decay)


def test_bases_can_be_judged_in_any_order():
    instance = ob.gram_stream(GRADIENTS, decay=0.9)
    served, Q = matrices(), np.linalg.qr(RNG.standard_normal((6, 6)))[0]
    for since, every in ((10, 5), (12, 5), (12, 2), (12, 9), (20, 7), (0, 3), (22, 1), (22, 1)):
        found = instance.measure(BasisSolution(Q, since=since, every=every))
        expected = [off_diagonal(S, Q) for S in served[since : since + every]]
        done = (since + len(expected)) / 23
        assert found["off_diagonal"] == pytest.approx(done * np.mean(expected) + 1 - done)
        assert found["stale"] == pytest.approx(expected[-1])


def test_a_stream_is_built_and_judged_in_the_memory_of_its_gradients():
    problem = catalogue().problems["rotating-gradients"].item(n=40, m=40, steps=200)
    tracemalloc.start()
    instance = problem.build(np.random.default_rng(0))
    for since in range(0, 200, 10):
        instance.measure(BasisSolution(np.eye(40), since=since, every=10))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.3 * instance.oracle.gradients.nbytes
