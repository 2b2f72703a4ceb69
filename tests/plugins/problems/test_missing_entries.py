"""The problem missing-entries: its geodesic, its samples, and a judge that moves with them."""

import numpy as np
import pytest
from orthobench_kit.geometry import subspace_error
from orthobench_stochastic_pca.problems.missing_entries import MissingEntries
from orthobench_stochastic_pca.solvers.rotating import GrassmannianSGD

import orthobench as ob
from orthobench.contract.problem import Solution
from orthobench.tools.geometry import drift


def built(**parameters):
    return MissingEntries(**{"n": 20, "k": 2, **parameters}).build(np.random.default_rng(0))


def samples(instance, count):
    instance.oracle.rewind(np.random.default_rng(1))
    instance.oracle.prepare(count)
    return instance.oracle.take(count)


def test_the_subspace_moves_along_a_geodesic():
    subspaces = built(drift=3.0).measure.subspaces
    for t in (0, 1, 100, 1000):
        basis = subspaces.at(t)
        assert drift(basis) < 1e-13
        cosines = np.linalg.svd(subspaces.at(0).T @ basis, compute_uv=False)
        np.testing.assert_allclose(cosines, abs(np.cos(0.003 * t)), atol=1e-12)


@pytest.mark.parametrize("drift_", [0.0, 5.0])
def test_samples_without_noise_lie_in_the_subspace_of_their_time(drift_):
    instance = built(drift=drift_, observed=1.0, noise=0.0)
    for t, x in enumerate(samples(instance, 600)):
        basis = instance.measure.subspaces.at(t)
        np.testing.assert_allclose(basis @ (basis.T @ x), x, atol=1e-13)


def test_share_of_entries_and_length_of_noise_are_as_asked_for():
    instance = built(n=50, observed=0.3, noise=0.5)
    rows = samples(instance, 4000)
    assert instance.oracle.observed(rows).mean() == pytest.approx(0.3, abs=0.01)
    whole = samples(built(n=50, observed=1.0, noise=0.5), 4000)
    U = built(n=50).measure.subspaces.U
    inside = np.mean(np.sum((whole @ U) ** 2, axis=1))
    outside = np.mean(np.sum(whole**2, axis=1)) - inside
    assert outside == pytest.approx(0.25 * 48 / 50, rel=0.03)
    assert inside == pytest.approx(1 + 0.25 * 2 / 50, rel=0.05)


def test_a_run_is_judged_by_the_subspace_of_the_last_sample():
    instance = built(drift=1.0, observed=0.6)
    solver = GrassmannianSGD(relative=False, schedule="constant")
    outcome = ob.solve(solver, instance, budget=ob.Budget(samples=300), seed=0)
    subspaces, last = instance.measure.subspaces, outcome.trace[-1]
    assert last.work.samples == 300
    expected = subspace_error(outcome.solution, subspaces.at(299))
    assert last.metrics["subspace_error"] == pytest.approx(expected, rel=1e-12)
    assert subspace_error(outcome.solution, subspaces.at(0)) > 3 * expected
    again = instance.measure_after(Solution(outcome.solution), 300)
    assert again["subspace_error"] == last.metrics["subspace_error"]
