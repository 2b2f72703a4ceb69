"""Functions as solvers: what they see, how often they are called, and how they end."""

import pickle

import numpy as np
import pytest

import orthobench as ob
from orthobench.contract import Oracle, black_box, skip
from orthobench.errors import UsageError
from orthobench.harness.stopping import RunStatus

X = np.random.default_rng(0).standard_normal((300, 12)) * np.linspace(3, 1, 12) + 2
BEST = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:3].T


def power(problem, steps, rng, shift=0.0):
    """Do subspace iterations."""
    A, U = problem.X - problem.X.mean(axis=0), problem.start
    for _ in range(steps):
        U = np.linalg.qr(A.T @ (A @ U) + shift * U)[0]
    return U


def exact(problem):
    A = problem.X - problem.X.mean(axis=0)
    return np.linalg.svd(A, full_matrices=False)[2][: problem.k].T


def noise(problem, steps, rng):
    return np.linalg.qr(rng.standard_normal((problem.n, problem.k)) + steps)[0]


def stream(problem, steps, rng):
    assert problem.X.shape == (steps, problem.n)
    rows = np.vstack([problem.X, 1e-9 * problem.start.T])
    return np.linalg.svd(rows, full_matrices=False)[2][: problem.k].T


def descent(problem, steps, rng):
    U = problem.start
    for _ in range(steps):
        U = np.linalg.qr(U - 0.1 * problem.gradient(U))[0]
    assert problem.cost(U) < problem.cost(problem.start)
    return U


def refusing(problem, steps, rng):
    skip("only for wide matrices")


def returning(found):
    def box(problem):
        return found

    return box


def distance(U, V=BEST):
    return np.linalg.norm(U - V @ (V.T @ U))


def test_a_function_that_reads_no_steps_is_called_once():
    outcome = ob.solve(exact, ob.pca(X, k=3))
    assert distance(outcome.solution) < 1e-12
    assert outcome.work.steps == 1
    assert outcome.stop.reason == "complete after 1 step"


def test_a_function_is_called_for_growing_steps_until_nothing_changes():
    outcome = ob.solve(power, ob.pca(X, k=3), ob.Budget(steps=10**6), curve=True)
    assert distance(outcome.solution) < 1e-10
    assert outcome.stop.converged
    assert [mark.work.steps for mark in outcome.trace][:3] == [0, 1, 4]


def test_steps_on_a_stream_are_samples():
    outcome = ob.solve(stream, ob.stochastic_pca(X, k=3))
    own = np.linalg.svd(X, full_matrices=False)[2][:3].T
    assert distance(outcome.solution, own) < 1e-6
    assert outcome.work.samples == len(X)


def test_functions_on_manifolds_are_cost_and_gradient():
    A = X.T @ X / len(X)
    instance = ob.stiefel(lambda U: -np.trace(U.T @ A @ U) / 2, lambda U: -A @ U, n=12, p=2)
    outcome = ob.solve(descent, instance, ob.Budget(steps=500))
    assert distance(outcome.solution, np.linalg.eigh(A)[1][:, -2:]) < 1e-6


def test_hidden_attributes_are_refused_with_the_known_ones():
    def wrong(problem, steps, rng):
        return problem.covariance

    with pytest.raises(Exception, match=r"no 'covariance'; it has n, k, start, X, center, scale"):
        ob.solve(wrong, ob.pca(X, k=3), ob.Budget(steps=2))


def test_all_families_show_attributes_that_their_oracles_have():
    shown = set()
    for name, provided in ob.catalogue().problems.items():
        offers = provided.item.offers
        assert isinstance(offers.shows, dict), name
        shown |= {provided.item.family} if offers.shows else set()
    families = {provided.item.family for provided in ob.catalogue().problems.values()}
    assert families - shown == {"stochastic PCA", "training", "eigenbasis stream"}
    for instance in (
        ob.pca(X, k=2), ob.sparse_pca(X, 2), ob.cca(X[:, :5], X[:, 5:], 2), ob.polar(X),
        ob.stiefel(lambda U: 0.0, lambda U: 0 * U, n=4, p=2),
    ):  # fmt: skip
        for name in type(instance.oracle).shows:
            assert hasattr(instance.oracle, name)


def test_a_function_may_skip_a_problem(tmp_path):
    with pytest.raises(UsageError, match="only for wide matrices"):
        ob.solve(refusing, ob.pca(X, k=3), ob.Budget(steps=2))
    for executor in ("inline", "local"):
        results = ob.run(
            None, tmp_path / f"{executor}.sqlite", problems=[ob.pca(X, k=3)],
            solvers=[refusing, exact], seeds=1, quiet=True, executor=executor,
        )  # fmt: skip
        stops = {run.solver.name: run.stop for run in results.records}
        assert stops["refusing"].status is RunStatus.REFUSED
        assert stops["refusing"].reason == "only for wide matrices"
        assert stops["exact"].status.ok
        assert not results.failures


def test_a_wrong_point_is_refused_by_its_shape():
    for found, said in ((BEST.T, r"an array \(3, 12\)"), (None, "a NoneType")):
        with pytest.raises(UsageError, match=rf"returned {said}: return the point"):
            ob.solve(returning(found), ob.pca(X, k=3))


def test_further_arguments_are_parameters_and_others_are_refused():
    solver = black_box(power)(shift_=2.0)
    assert pickle.loads(pickle.dumps(solver)) == solver  # noqa: S301 - pickled here
    plain, shifted = (
        ob.solve(power, ob.pca(X, k=3), ob.Budget(steps=3), **own).solution
        for own in ({}, {"shift": 500.0})
    )
    assert distance(plain) < distance(shifted)
    with pytest.raises(UsageError, match="unknown parameter of solver power: 'shit'"):
        ob.solve(power, ob.pca(X, k=3), ob.Budget(steps=3), shit=1.0)
    for wrong in (lambda problem, tolerance: None, lambda problem, tolerance=(): None):
        with pytest.raises(UsageError, match="has the argument 'tolerance': write run"):
            black_box(wrong)


FILE = """
import numpy as np

packages = {packages}
install = "conda install it"

def run(problem, steps, rng):
    return problem.start
"""


def test_a_file_names_its_solver_and_what_to_install(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    for number, packages in enumerate(((), ("no-such-package",))):
        file = tmp_path / f"my_box_{number}.py"
        file.write_text(FILE.format(packages=packages))
        results = ob.run(
            None, tmp_path / f"{number}.sqlite", problems=[ob.pca(X, k=3)], quiet=True,
            solvers=[f"{file}:run", exact], seeds=1, budget=ob.Budget(steps=5),
            executor="inline" if packages else "local",
        )  # fmt: skip
        stop = next(r.stop for r in results.records if r.solver.name == f"my-box-{number}")
        assert stop.status is (RunStatus.REFUSED if packages else RunStatus.DONE)
    assert stop.reason == "needs no-such-package: conda install it"


def test_no_black_box_takes_an_oracle_that_shows_nothing():
    class Hidden(Oracle):
        pass

    whole = black_box(power)
    both = (whole, *whole.others)
    assert not any(issubclass(Hidden, cls.needs) for cls in both)
    for instance in (ob.pca(X, k=2), ob.stochastic_pca(X, k=2)):
        assert sum(isinstance(instance.oracle, cls.needs) for cls in both) == 1
