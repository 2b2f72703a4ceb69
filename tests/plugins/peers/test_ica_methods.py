"""Independent components by other libraries: what they find, and what is counted."""

from types import SimpleNamespace

import numpy as np
import pytest
from orthobench_stiefel.solvers.ica_methods import PicardO, SklearnFastICA

import orthobench as ob
from orthobench.harness.stopping import Budget
from orthobench.registry.plugins import catalogue
from orthobench.tools.flops import eigh
from orthobench.tools.geometry import drift

PACKAGES = ("scikit-learn", "python-picard")

N, SAMPLES = 4, 400

both = pytest.mark.parametrize("solver", [SklearnFastICA(), PicardO()])


def problem(samples=SAMPLES):
    return catalogue().problem("ica", {"n": N, "samples": samples})


@both
@pytest.mark.parametrize("steps", [1, 2])
def test_iterations_are_counted_as_two_products_and_a_decomposition(solver, steps):
    work = ob.solve(solver, problem(), Budget(steps=steps)).work
    assert (work.steps, work.samples) == (steps, steps)
    assert work.flops == steps * (4 * SAMPLES * N**2 + 4 * SAMPLES * N + eigh(N))


@both
def test_it_ends_where_little_changes_at_a_point_of_least_contrast(solver):
    outcome = ob.solve(solver, problem(2000), Budget(steps=500))
    assert outcome.stop.reason.startswith("converged")
    assert outcome.work.steps < 100
    assert drift(outcome.solution) < 1e-12
    assert outcome.trace[-1].metrics["objective_gap"] == pytest.approx(0, abs=1e-6)
    assert outcome.trace[0].metrics["objective_gap"] > 1e-3


@both
@pytest.mark.parametrize("samples", [1, 2])
def test_components_take_two_samples_or_more(solver, samples):
    oracle = SimpleNamespace(Z=np.eye(samples, 2), start=np.eye(2)[::-1])
    if samples < 2:
        with pytest.raises(ob.DataError, match="one sample has no components"):
            solver.prepare(oracle)
    else:
        start, first, spent = solver.prepare(oracle)
        np.testing.assert_array_equal(start, first.point.T)
        assert spent == 0
