"""Every peer keeps the contract: orthonormal, repeatable, and re-runs are single runs."""

import re

import numpy as np
import pytest
from orthobench_kit.peer import Peer

import orthobench as ob
from orthobench import api
from orthobench.harness.cell import Cell, execute, instance_of
from orthobench.harness.stopping import Budget, RunStatus
from orthobench.registry.plugins import catalogue
from orthobench.tools import environment

PCA = ("digits", {"k": 3})
SPARSE = ("planted-sparse", {"d": 40, "samples": 30, "m": 2, "nonzeros": 8})
TENSOR = ("odeco", {"d": 5, "noise": 0.1})
TUCKER = ("random-symmetric", {"n": 8, "rank": 2, "true_rank": 2})
GROUP = ("brockett", {"n": 5})
STIEFEL = ("stiefel-procrustes", {"n": 12, "p": 3})
COMPONENTS = ("ica", {"n": 4, "samples": 400})
PEERS = {
    name: (problem, steps)
    for problem, steps, names in (
        (PCA, 30, "sklearn-pca dask-tsqr dask-svd-compressed dask-ml-pca scipy-svds scipy-lobpcg"),
        (PCA, 30, "pymanopt-pca torch-eigh torch-svd-lowrank torch-pca-lowrank cuml-pca"),
        (PCA, 2, "sklearn-incremental-pca dask-ml-incremental-pca cuml-incremental-pca"),
        (SPARSE, 5, "sklearn-sparse-pca sklearn-minibatch-sparse-pca"),
        (TENSOR, 3, "tensorly-power-iteration"),
        (TENSOR, 5, "pyttb-cp-als"),
        (TUCKER, 5, "tensorly-tucker pyttb-tucker-als"),
        (TUCKER, 1, "tensorly-hosvd pyttb-hosvd"),
        (GROUP, 7, "pymanopt-steepest-descent pymanopt-conjugate-gradient"),
        (GROUP, 4, "pymanopt-trust-regions"),
        (STIEFEL, 6, "geoopt-sgd geoopt-adam pogo-torch torch-orthogonal"),
        (COMPONENTS, 4, "sklearn-fastica picard-o"),
    )
    for name in names.split()
}
"""A problem for each peer, and steps that it takes on it."""
MORE = {name: (TUCKER, 3) for name in PEERS if name.startswith("pymanopt-") and "pca" not in name}
CASES = [*PEERS.items(), *MORE.items()]
EXTRAS = (
    "dask-ml", "tensorly", "pyttb", "pymanopt", "python-picard", "geoopt", "pogo-torch", "torch",
)  # fmt: skip


def installed(name):
    solver = catalogue().solver(name, {})
    return all(environment.version(package) for package in solver.packages)


def solver_for(name, problem):
    """The solver with a name that takes a problem: families share some names."""
    return catalogue().solver(name, {}, type(catalogue().problem(*problem)).offers)


def cases():
    for name, (problem, steps) in CASES:
        missing = pytest.mark.skipif(not installed(name), reason=f"{name}: a library is missing")
        yield pytest.param(name, problem, steps, id=f"{name}-{problem[0]}", marks=missing)


def on_tensors_and_drawing():
    """Cases beyond conformance: the second family of some peers, and random ones."""
    drawing = ("sparse-pca", "tensorly-power", "pyttb-cp", "pyttb-tucker")
    for case in cases():
        quick = case.values[0] in MORE and case.values[1] is TUCKER
        quick |= any(part in case.values[0] for part in drawing)
        marks = [*case.marks, *([] if quick else [pytest.mark.slow])]
        yield pytest.param(*case.values, id=case.id, marks=marks)


every_peer = pytest.mark.parametrize(("name", "problem", "steps"), tuple(cases()))
some_peers = pytest.mark.parametrize(("name", "problem", "steps"), tuple(on_tensors_and_drawing()))


def test_every_peer_is_among_them():
    ours = {
        name
        for name, provided in catalogue().solvers.items()
        if any(issubclass(one.item, Peer) for one in provided.all)
    }
    assert ours == set(PEERS)


@some_peers
def test_equal_seeds_give_equal_bits_and_feasible_points(name, problem, steps):
    recipe = catalogue().problem(*problem)
    runs = []
    for other in (1, 2):
        np.random.seed(other)  # noqa: NPY002 - numpy's own stream is none of a peer's
        runs.append(execute(Cell(recipe, solver_for(name, problem), 5, Budget(steps=steps))))
    assert not runs[0].stop.status.failed, runs[0].stop
    first, second = (
        [(m.work, {n: v for n, v in m.metrics.items() if "seconds" not in n}) for m in run.trace]
        for run in runs
    )
    assert first == second
    assert max(m.metrics["constraint_violation"] for m in runs[0].trace) < 1e-12
    flops = [m.work.flops for m in runs[0].trace]
    assert flops[-1] > 0
    if not solver_for(name, problem).batch:  # how long a fit iterates depends on its samples
        assert flops == sorted(flops)


@every_peer
def test_without_its_library_it_refuses_and_says_what_to_install(name, problem, steps, monkeypatch):
    known = environment.version
    solver, recipe = solver_for(name, problem), catalogue().problem(*problem)
    assert solver.refuses(recipe) is None
    monkeypatch.setattr(
        "orthobench.contract.solver.version", lambda n: None if n in solver.packages else known(n)
    )
    unavailable = f"unavailable: install orthobench[{solver.extra}]"
    assert solver.refuses(recipe) == unavailable
    assert execute(Cell(recipe, solver, 0, Budget(steps=1))).stop.status is RunStatus.REFUSED
    with pytest.raises(ob.UsageError, match=re.escape(unavailable)):
        ob.solve(solver, instance_of(recipe, 0), budget=Budget(steps=1))


def test_a_problem_of_another_kind_is_refused_for_that():
    odeco = catalogue().problem(*TENSOR)
    assert "needs a SampleOracle" in solver_for("sklearn-pca", PCA).refuses(odeco)


@pytest.mark.parametrize("name", ["tensorly-tucker", "pymanopt-trust-regions"])
def test_streams_and_tensors_that_do_not_fit_are_refused(name):
    solver = catalogue().solver(name, {})
    if not installed(name):
        pytest.skip("orthobench[peers] is missing")
    endless = catalogue().problem("nig-factor", {"samples": 0})
    assert "only stream" in solver.refuses(endless)
    large = catalogue().problem("random-symmetric", {"n": 3000})
    assert "does not fit" in solver.refuses(large) or "memory" in solver.refuses(large)


SUITE = {
    "seeds": 1,
    "budget": {"steps": 2, "samples": 20},
    "problem": [{"name": PCA[0]}, {"name": TENSOR[0], **TENSOR[1]}],
    "solver": [
        "batch-pca", "sklearn-pca", "pymanopt-pca", "polar-power", "pyttb-cp-als",
        "tensorly-power-iteration",
    ],
}  # fmt: skip


def test_without_the_extra_the_rest_of_a_suite_runs(tmp_path, monkeypatch):
    def version(name):
        return None if name in EXTRAS else known(name)

    known = environment.version
    monkeypatch.setattr("orthobench.contract.solver.version", version)
    monkeypatch.setattr("orthobench.harness.suite.version", version)
    store = tmp_path / "results.sqlite"
    results = api.run(SUITE, store, executor="inline", quiet=True)
    assert results.failures == []
    assert {(r.solver.label, r.stop.reason) for r in results.refused} == {
        (name, "unavailable: install orthobench[peers]")
        for name in ("pymanopt-pca", "pyttb-cp-als", "tensorly-power-iteration")
    }
    assert {r.solver.label for r in results.records if r.trace} == {
        "batch-pca", "sklearn-pca", "polar-power",
    }  # fmt: skip
    assert {r.solver.label for r in results.records if r.solver.reruns} >= {
        "sklearn-pca",
        "pyttb-cp-als",
    }
    if not all(map(known, EXTRAS)):
        return
    monkeypatch.undo()
    again = api.run(SUITE, store, executor="inline", quiet=True)
    assert again.refused == []  # once installed, they run
