"""The memory of solvers: states grow as their pages say."""

import math

import numpy as np

from orthobench.atlas.describe import BLOCK, state_bytes
from orthobench.harness.identity import Streams
from orthobench.registry.plugins import catalogue


def measured(solver, n=200, k=2, **parameters):
    problem = catalogue().problem("spiked-covariance", {"n": n, "k": k})
    instance = problem.build(np.random.default_rng(0))
    return state_bytes(instance, catalogue().solver(solver, parameters), Streams.of("", solver, 0))


def test_a_state_is_as_large_as_its_arrays():
    solution = 8 * 200 * 2
    assert solution <= measured("oja") <= 2 * solution + 4096
    samples = 8 * 200 * BLOCK
    assert samples <= measured("sklearn-pca") <= 2 * samples + 4096


def test_what_fails_has_no_memory(monkeypatch):
    def broken(*_):
        raise ZeroDivisionError

    solver = catalogue().solvers["oja"].item
    monkeypatch.setattr(solver, "init", broken)
    assert math.isnan(measured("oja"))
