"""Results of peers against independent answers."""

import numpy as np
import pytest
from features import of_features
from kinds import one_of
from orthobench_kit.geometry import subspace_error
from orthobench_kit.symmetric_tensors import composed

import orthobench as ob
from orthobench.harness.stopping import Budget
from orthobench.registry.plugins import catalogue
from orthobench.tools import environment
from orthobench.tools.geometry import drift, random_point

PCA = (
    "sklearn-pca", "dask-tsqr", "dask-ml-pca", "scipy-svds", "scipy-lobpcg", "pymanopt-pca",
    "torch-eigh",
)  # fmt: skip
LOWRANK = ("torch-svd-lowrank", "torch-pca-lowrank", "dask-svd-compressed")
METHODS = ("steepest-descent", "conjugate-gradient", "trust-regions")
DESCENT = tuple(f"pymanopt-{method}" for method in METHODS)


@pytest.fixture(autouse=True)
def _there(request):
    name = request.getfixturevalue("name") if "name" in request.fixturenames else ""
    packages = catalogue().solver(name, {}).packages if name else ()
    if None in map(environment.version, packages):
        pytest.skip(f"{name}: a library is missing")


def samples(n=100, d=10, seed=0):
    """Samples with a mean that is not zero."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * np.linspace(2, 0.5, d) + rng.standard_normal(d)


def leading(C, k):
    return np.linalg.eigh(C)[1][:, -k:]


@pytest.mark.parametrize("name", one_of(3, PCA))
@pytest.mark.parametrize("k", [1, 4])
def test_batch_peers_find_the_subspace_of_the_uncentred_moment(name, k):
    X = samples()
    found = ob.solve(name, ob.stochastic_pca(X, k=k)).solution
    assert subspace_error(found, leading(X.T @ X, k)) < 1e-8


def test_svds_repeats_its_bits_beyond_an_invariant_subspace():
    """That happens if all samples so far have few directions."""
    problem = catalogue().problem("orthogonal-distribution", {"k": 4, "n": 32, "tau": 1.1})
    first, second = (ob.solve("scipy-svds", problem, Budget(samples=60)) for _ in range(2))
    assert first.solution.tobytes() == second.solution.tobytes()
    assert [mark.work for mark in first.trace] == [mark.work for mark in second.trace]


@pytest.mark.parametrize("name", LOWRANK)
def test_decompositions_of_low_rank_are_exact_where_the_rank_is_low(name):
    rng = np.random.default_rng(0)
    basis = random_point(30, 4, rng)
    X = rng.standard_normal((60, 4)) @ basis.T
    found = ob.solve(name, ob.stochastic_pca(X, k=4)).solution
    assert subspace_error(found, basis) < 1e-10


@pytest.mark.parametrize("name", ["torch-eigh"])
@pytest.mark.parametrize(("on", "digits"), [("torch:cpu", 1e-12), ("torch:cpu/float32", 1e-4)])
def test_torch_finds_the_same_in_both_precisions(name, on, digits):
    instance = ob.stochastic_pca(samples(), k=3)
    found = ob.solve(name, instance, on=on)
    assert subspace_error(found.solution, ob.solve("batch-pca", instance).solution) < digits
    assert found.trace[-1].metrics["transfer_seconds"] > 0


@pytest.mark.parametrize("name", ["tensorly-hosvd", "tensorly-tucker"])
def test_tensorly_finds_the_same_with_torch(name):
    if environment.version("torch") is None:
        pytest.skip("torch is missing")
    instance = ob.symmetric_tucker(samples(d=6), order=3, rank=2)
    numpy, torch = (
        ob.solve(name, instance, Budget(steps=3), backend=backend)
        for backend in ("numpy", "torch:cpu")
    )
    assert subspace_error(numpy.solution, torch.solution) < 1e-10
    assert catalogue().solver(name, {"backend": "torch:cpu"}).packages == ("tensorly", "torch")


@pytest.mark.parametrize("name", one_of(3, PCA))
def test_batch_peers_take_fewer_samples_than_components_and_zeros(name):
    X = np.zeros((6, 5))
    X[2:] = samples(4, 5)
    for count in range(1, 7):
        trace = ob.solve(name, ob.stochastic_pca(X, k=3), ob.Budget(samples=count)).trace
        assert [m.work.samples for m in trace] == [0, count]
        assert max(m.metrics["constraint_violation"] for m in trace) < 1e-12


@pytest.mark.parametrize("name", one_of(3, PCA))
def test_samples_of_a_lower_rank_are_completed(name):
    rng = np.random.default_rng(0)
    basis = random_point(6, 2, rng)
    X = rng.standard_normal((20, 2)) @ basis.T
    found = ob.solve(name, ob.stochastic_pca(X, k=3)).solution
    assert drift(found) < 1e-12
    assert np.linalg.norm(basis - found @ (found.T @ basis)) < 1e-7


@pytest.mark.parametrize("name", ["dask-tsqr", "dask-svd-compressed", "dask-ml-pca"])
def test_chunks_do_not_change_what_dask_finds(name):
    instance = ob.stochastic_pca(samples(20, 6), k=2)
    split, whole = (ob.solve(name, instance, chunk=chunk).solution for chunk in (7, 1000))
    assert subspace_error(split, whole) < 1e-8


@pytest.mark.parametrize("name", ["dask-ml-incremental-pca"])
def test_incremental_pca_of_dask_ml_is_that_of_scikit_learn(name):
    instance = ob.stochastic_pca(samples(120, 8), k=2)
    ours = ob.solve("sklearn-incremental-pca", instance, batch=30).solution
    assert subspace_error(ob.solve(name, instance, batch=30).solution, ours) < 1e-10


@pytest.mark.wide
def test_power_iterations_of_the_randomized_svd_bring_it_nearer():
    X = samples(400, 60)
    found = [
        ob.solve("dask-svd-compressed", ob.stochastic_pca(X, k=2), power=power).solution
        for power in (0, 4)
    ]
    far, near = (subspace_error(U, leading(X.T @ X, 2)) for U in found)
    assert near < far / 10


def test_incremental_pca_is_a_running_decomposition():
    X, k, batch = samples(120, 8), 2, 30
    kept = np.empty((0, 8))
    for begin in range(0, 120, batch):
        rows, mean = X[begin : begin + batch], X[: begin + batch].mean(axis=0)
        moved = X[:begin].mean(axis=0) - rows.mean(axis=0) if begin else np.zeros(8)
        correction = np.sqrt(begin * batch / (begin + batch)) * moved
        together = np.vstack([kept, rows - rows.mean(axis=0), correction])
        _, values, right = np.linalg.svd(together, full_matrices=False)
        kept = values[:k, None] * right[:k]
    right = np.linalg.svd(np.vstack([kept, np.sqrt(120) * mean]), full_matrices=False)[2]
    outcome = ob.solve("sklearn-incremental-pca", ob.stochastic_pca(X, k=k), batch=batch)
    assert subspace_error(outcome.solution, right[:k].T) < 1e-10


def test_a_batch_smaller_than_the_components_is_refused():
    with pytest.raises(ob.UsageError, match="batch must be at least k = 4"):
        ob.solve("sklearn-incremental-pca", ob.stochastic_pca(samples(), k=4), batch=3)


def planted(seed=0):
    """Centred data of two sparse components with disjoint supports, and the supports."""
    rng = np.random.default_rng(seed)
    V = np.zeros((20, 2))
    V[:5, 0] = V[5:10, 1] = 5**-0.5
    A = V @ (np.array([[6.0], [3.0]]) * rng.standard_normal((2, 200)))
    A += 0.1 * rng.standard_normal(A.shape)
    return A - A.mean(axis=1, keepdims=True), V


@pytest.mark.parametrize("name", ["sklearn-sparse-pca", "sklearn-minibatch-sparse-pca"])
def test_sparse_peers_find_the_supports(name):
    A, V = planted()
    Z = ob.solve(name, of_features(A, m=2), Budget(steps=30), gamma=0.2).solution
    order = np.argsort(np.abs(Z[0]) < np.abs(Z[5]))
    np.testing.assert_array_equal(Z[:, order] != 0, V != 0)
    assert np.abs(np.abs(Z[:, order]) - V).max() < 0.1


def test_sparse_pca_without_a_penalty_spans_the_leading_subspace():
    A, _ = planted()
    Z = ob.solve("sklearn-sparse-pca", of_features(A, m=2), Budget(steps=20), gamma=0.0).solution
    assert subspace_error(np.linalg.qr(Z)[0], leading(A @ A.T, 2)) < 1e-3


@pytest.mark.parametrize("name", ["tensorly-power-iteration", "pyttb-cp-als"])
def test_tensor_peers_recover_orthonormal_factors(name):
    U, w = random_point(4, 4, np.random.default_rng(0)), np.array([4.0, 3.0, 2.0, 1.0])
    instance = ob.orthogonal_tensor(composed(U, w), factors=U, weights=w)
    outcome = ob.solve(name, instance, Budget(steps=4))
    assert outcome.trace[-1].metrics["recovery_error"] < 1e-8
    np.testing.assert_allclose(np.sort(outcome.weights)[::-1], w, atol=1e-8)
    assert drift(outcome.solution) < 1e-12


def tucker(order=3, noise=0.3):
    return catalogue().problem(
        "random-symmetric",
        {"n": 9, "order": order, "rank": 2, "true_rank": 2, "noise": noise},
    )


@pytest.mark.parametrize(
    "name", ["tensorly-tucker", "tensorly-hosvd", "pyttb-tucker-als", "pyttb-hosvd"]
)
@pytest.mark.parametrize("order", [3, 4])
def test_tucker_peers_find_the_planted_subspace(name, order):
    metrics = ob.solve(name, tucker(order, 0.0), Budget(steps=3)).trace[-1].metrics
    assert metrics["subspace_error"] < 1e-7


@pytest.mark.parametrize("name", ["tensorly-tucker", "pyttb-tucker-als", *DESCENT])
@pytest.mark.parametrize("order", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_tucker_peers_end_at_the_critical_point_of_hooi(name, order):
    problem = tucker(order)
    ours = ob.solve("hooi", problem)
    found = ob.solve(name, problem, Budget(steps=200))
    assert subspace_error(found.solution, ours.solution) < 1e-5
    assert found.trace[-1].metrics["relative_gradient"] < 1e-5


@pytest.mark.parametrize("name", DESCENT)
def test_descent_of_a_moment_needs_no_tensor(name):
    problem = catalogue().problem(
        "nig-factor", {"n": 10, "rank": 2, "true_rank": 2, "samples": 300, "test": 0}
    )
    ours = ob.solve("trust-region", problem)
    found = ob.solve(name, problem, Budget(steps=200))
    assert subspace_error(found.solution, ours.solution) < 1e-5


@pytest.mark.parametrize(("name", "gap"), zip(DESCENT, (1e-3, 1e-8, 1e-14), strict=True))
def test_descent_solves_the_symmetric_eigenproblem(name, gap):
    problem = catalogue().problem("brockett", {"n": 5})
    outcome = ob.solve(name, problem, Budget(steps=150))
    assert -1e-14 < outcome.trace[-1].metrics["objective_gap"] < gap
    assert drift(outcome.solution) < 1e-12


@pytest.mark.parametrize("name", [*DESCENT, "pymanopt-pca"])
def test_start_is_the_answer_on_a_single_point_manifold(name):
    if name == "pymanopt-pca":
        problem = ob.stochastic_pca(samples(d=4), k=4)
    else:
        problem = ob.symmetric_tucker(samples(n=30, d=4), order=3, rank=4)
    outcome = ob.solve(name, problem, Budget(steps=20))
    assert drift(outcome.solution) < 1e-12
    assert abs(outcome.trace[-1].metrics.get("suboptimality", 0.0)) < 1e-12


@pytest.mark.parametrize("name", DESCENT)
def test_descent_needs_a_gradient(name):
    instance = ob.orthogonal_group(lambda U: float(U[0, 0]), n=3)
    with pytest.raises(ob.UsageError, match="needs the gradient of the cost"):
        ob.solve(name, instance, Budget(steps=2))


TORCH = [  # theirs take steps that are not relative to the gradient
    ("geoopt-sgd", {"step": 0.05}, ("riemannian-gradient", {"steps": "constant"})),
    ("pogo-torch", {"step": 0.1}, ("pogo", {})),
    ("pogo-torch", {"step": 0.03, "base": "vector-adam"}, ("pogo", {"base": "vector-adam"})),
]


@pytest.mark.parametrize(("name", "settings", "own"), TORCH)
def test_optimizers_of_torch_take_the_steps_of_ours(name, settings, own):
    problem = catalogue().problem("stiefel-procrustes", {"n": 8, "p": 3, "rows": 20})
    theirs = ob.solve(name, problem, Budget(steps=25), **settings)
    same = {**own[1], "step": settings["step"], "relative": False}
    ours = ob.solve(own[0], problem, Budget(steps=25), **same)
    assert np.abs(theirs.solution - ours.solution).max() < 1e-9
    assert theirs.work.samples in (ours.work.samples, ours.work.samples - 20)  # that at the start


@pytest.mark.parametrize("name", ["geoopt-sgd", "geoopt-adam", "pogo-torch", "torch-orthogonal"])
def test_optimizers_of_torch_take_batches(name):
    problem = catalogue().problem("stiefel-procrustes", {"n": 8, "p": 3, "rows": 40})
    outcome = ob.solve(name, problem, Budget(samples=200), batch=10, step=0.03)
    assert outcome.work.steps == 20
    assert outcome.work.samples == 200
    with pytest.raises(ob.UsageError, match="finite sum"):
        ob.solve(name, "stiefel-brockett", Budget(steps=2), batch=10)


@pytest.mark.parametrize("name", ["sklearn-fastica", "picard-o"])
@pytest.mark.parametrize("sources", ["uniform", "laplace"])
def test_components_are_those_of_the_least_contrast(name, sources):
    problem = catalogue().problem("ica", {"n": 4, "samples": 3000, "sources": sources})
    outcome = ob.solve(name, problem, tolerance=1e-9)
    last = outcome.trace[-1].metrics
    assert outcome.stop.reason.startswith("converged")
    assert abs(last["objective_gap"]) < 1e-7
    assert last["amari_distance"] < 0.05
