"""Runs of all methods: known optima, the orthogonal group, batches, and what is refused."""

import numpy as np
import pytest

import orthobench as ob
from orthobench.api import SolverError
from orthobench.tools.geometry import random_point

N, P = 8, 2
VALUES = np.linspace(0.2, 1.6, N)
Q = random_point(N, N, np.random.default_rng(0))
A = (Q * VALUES) @ Q.T
WEIGHTS = np.arange(P, 0, -1.0) / P
LEAST = float(VALUES[:P] @ WEIGHTS)

METHODS = [
    ("riemannian-gradient", {}),
    ("riemannian-gradient", {"metric": "canonical", "retraction": "cayley"}),
    ("riemannian-gradient", {"retraction": "polar"}),
    ("riemannian-gradient", {"retraction": "newton-schulz"}),
    ("riemannian-gradient", {"retraction": "cholesky-qr"}),
    ("riemannian-gradient", {"steps": "adaptive", "metric": "turning"}),
    ("riemannian-gradient", {"steps": "armijo"}),
    ("riemannian-gradient", {"steps": "constant", "relative": False, "step": 0.4}),
    ("riemannian-gradient", {"steps": "constant", "relative": False, "step": 0.2, "momentum": 0.5}),
    ("wen-yin", {"gtol": 1e-8, "safe_search": True}),
    ("landing", {"relative": False, "step": 0.5}),
    ("pogo", {"relative": False, "step": 0.5}),
    ("pogo", {"relative": False, "step": 0.2, "momentum": 0.5, "best_normal": True}),
    ("random-submanifold", {"relative": False, "step": 0.5}),
    ("random-submanifold", {"relative": False, "step": 0.5, "sampling": "rotation", "size": 6}),
    ("landing-newton", {}),
    ("cdopt", {}),
    ("pymanopt-trust-regions", {}),
]


def cost(X):
    return float(np.vdot(X * WEIGHTS, A @ X))


def gradient(X):
    return 2 * (A @ X) * WEIGHTS


@pytest.mark.parametrize(("name", "settings"), METHODS)
def test_the_known_optimum_is_found(name, settings):
    instance = ob.stiefel(cost, gradient, n=N, p=P, best=LEAST)
    outcome = ob.solve(name, instance, ob.Budget(steps=1500), **settings)
    assert abs(outcome.trace[-1].metrics["objective_gap"]) < 1e-9
    assert outcome.trace[-1].metrics["constraint_violation"] < 1e-12
    assert np.abs(outcome.solution.T @ outcome.solution - np.eye(P)).max() < 1e-12
    assert outcome.work.samples > 0


@pytest.mark.parametrize(("name", "settings"), METHODS)
def test_problems_of_the_orthogonal_group_are_taken(name, settings):
    """Each ends at the best point of a component, or gets closer with constant steps."""
    outcome = ob.solve(name, "procrustes", ob.Budget(steps=60), **(settings | short(settings)))
    first, last = outcome.trace[0].metrics, outcome.trace[-1].metrics
    assert last["component_gap"] < 0.7 * first["component_gap"]
    assert last["constraint_violation"] < 1e-10


def short(settings):
    """Return a step for the scale of the Procrustes problem, if one was given."""
    return {"step": 2e-3} if "step" in settings else {}


def test_square_problems_are_taken_by_givens():
    weights = np.arange(1.0, 5.0)
    instance = ob.stiefel(lambda X: float(np.vdot(X * weights, A[:4, :4] @ X)), n=4, p=4)
    least = np.linalg.eigvalsh(A[:4, :4])[::-1] @ weights
    outcome = ob.solve("givens", instance)
    assert outcome.trace[-1].metrics["objective"] == pytest.approx(least, abs=1e-9)
    with pytest.raises(ob.UsageError, match="as many columns as rows"):
        ob.solve("givens", ob.stiefel(cost, n=N, p=P))


@pytest.mark.parametrize("name", ["riemannian-gradient", "wen-yin", "landing", "pogo"])
def test_a_cost_that_breaks_ends_the_run_with_a_reason(name):
    calls = iter(range(1000))

    def breaking(X):
        return cost(X) if next(calls) < 30 else np.nan

    def breaking_gradient(X):
        return gradient(X) if next(calls) < 60 else np.full_like(X, np.nan)

    with pytest.raises((ob.DataError, SolverError), match=r"cost is nan|gradient is not finite"):
        ob.solve(name, ob.stiefel(breaking, breaking_gradient, n=N, p=P), ob.Budget(steps=50))


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("landing", {"batch": 3}, "needs a cost that is a finite sum"),
        ("pogo", {"batch": 3}, "needs a cost that is a finite sum"),
        ("riemannian-gradient", {"batch": 3, "steps": "constant"}, "finite sum"),
        ("riemannian-gradient", {"momentum": 0.5}, "steps = bb has no momentum"),
        ("random-submanifold", {"batch": 3}, "needs a cost that is a finite sum"),
        ("random-submanifold", {"size": N + 1}, "size = 9 coordinates are more than the 8 rows"),
        ("riemannian-gradient", {"batch": 3}, "needs a cost that is a finite sum"),
    ],
)
def test_settings_that_do_not_fit_are_refused(name, settings, message):
    with pytest.raises(ob.UsageError, match=message):
        ob.solve(name, ob.stiefel(cost, gradient, n=N, p=P), ob.Budget(steps=3), **settings)


def test_pogo_fails_with_a_reason_where_its_step_is_too_long():
    with pytest.raises(SolverError, match="the step is too long"):
        ob.solve("pogo", "nonlinear-eigenvalue", ob.Budget(steps=50), step=1.0, relative=False)
    outcome = ob.solve(
        "pogo",
        "nonlinear-eigenvalue",
        ob.Budget(steps=50),
        step=1.0,
        relative=False,
        safe_step=True,
    )
    assert outcome.stop.reason == "the budget is spent"


@pytest.mark.parametrize(
    ("name", "settings"), [("landing", {}), ("riemannian-gradient", {"steps": "constant"})]
)
def test_a_run_that_may_not_end_needs_a_budget(name, settings):
    with pytest.raises(ob.UsageError, match="give a budget"):
        ob.solve(name, ob.stiefel(cost, gradient, n=N, p=P), **settings)


def test_a_stationary_start_is_converged():
    start = random_point(N, P, np.random.default_rng(1))
    constant = ob.stiefel(lambda X: 3.0, np.zeros_like, n=N, p=P, start=start)
    for name in (
        "riemannian-gradient", "wen-yin", "landing", "pogo", "random-submanifold", "spel",
        "manifold-muon", "landing-newton", "cdopt",
    ):  # fmt: skip
        outcome = ob.solve(name, constant, ob.Budget(steps=100))
        assert outcome.stop.reason.startswith("converged")
        assert np.abs(outcome.solution - start).max() < 1e-15


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("riemannian-gradient", {"retraction": retraction, "steps": "constant", "step": 0.3})
        for retraction in ("qr", "polar", "cayley", "newton-schulz", "cholesky-qr")
    ]
    + [("wen-yin", {"gtol": 0.0, "xtol": 0.0, "ftol": 0.0})]
    + [("random-submanifold", {"step": 0.3, "orthonormalize": 1000})],
)
def test_drift_stays_at_rounding_over_many_steps(name, settings):
    if name != "wen-yin":
        settings = settings | {"tolerance": 0.0}
    instance = ob.stiefel(cost, gradient, n=N, p=P)
    outcome = ob.solve(name, instance, ob.Budget(steps=100_000), curve=True, **settings)
    assert max(m.metrics["orthogonality_defect"] for m in outcome.trace) < 1e-12
