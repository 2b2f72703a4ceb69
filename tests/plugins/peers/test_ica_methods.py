"""Independent components by other libraries: what they find, and what is counted."""

import pytest
from orthobench_stiefel.solvers.ica_methods import PicardO, SklearnFastICA

import orthobench as ob
from orthobench.harness.stopping import Budget
from orthobench.registry.plugins import catalogue
from orthobench.tools.geometry import drift

PACKAGES = ("scikit-learn", "python-picard")

N, SAMPLES = 4, 400

both = pytest.mark.parametrize("solver", [SklearnFastICA(), PicardO()])


def problem(samples=SAMPLES):
    return catalogue().problem("ica", {"n": N, "samples": samples})


@both
def test_it_ends_where_little_changes_at_a_point_of_least_contrast(solver):
    outcome = ob.solve(solver, problem(2000), Budget(steps=500))
    assert outcome.stop.reason.startswith("converged")
    assert outcome.work.steps < 100
    assert drift(outcome.solution) < 1e-12
    assert outcome.trace[-1].metrics["objective_gap"] == pytest.approx(0, abs=1e-6)
    assert outcome.trace[0].metrics["objective_gap"] > 1e-3
