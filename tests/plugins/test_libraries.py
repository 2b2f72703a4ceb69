"""Each solver that takes arrays of any library, on those that are installed."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from gpu_places import marked
from orthobench_gpower.solvers.gpower import GPower
from orthobench_kit import ending
from orthobench_polar.problems.spectra import GaussianPolar
from orthobench_stiefel import FiniteSumOracle
from orthobench_stiefel.solvers.landing import Landing
from orthobench_stiefel.solvers.pogo import POGO
from orthobench_stiefel.solvers.random_submanifold import RandomSubmanifold
from orthobench_stiefel.solvers.riemannian_gradient import RiemannianGradient
from orthobench_tensor_power.solvers.polar_power import PolarPower
from orthobench_tucker.solvers.hoevd import HOEVD
from orthobench_tucker.solvers.pgd import PGD

from orthobench.contract import ArraySolver, SampleOracle, Solution, State, copied, namespace
from orthobench.harness.identity import Streams
from orthobench.harness.run import run
from orthobench.harness.stopping import Budget
from orthobench.registry.plugins import catalogue
from orthobench.testing.check import NotConforming
from orthobench.testing.check_of_libraries import REFERENCE, begun, check_libraries
from orthobench.testing.short_runs import example
from orthobench.tools.places import place_of

SETTINGS: dict[str, dict[str, Any]] = {
    # long steps along geodesics turn by many radians, which makes rounding grow
    "grassmannian-sgd": {"step": 0.1},
    "gpower": {"block": True, "gamma": 0.01},  # every column has active rows
}
"""Parameters of solvers that cannot be compared with their defaults."""

SOLVERS = [
    catalogue().solver(name, SETTINGS.get(name, {}))
    for name, p in catalogue().solvers.items()
    if issubclass(p.item, ArraySolver) and p.item.on == "numpy"
] + [
    *(
        RiemannianGradient(retraction=r, steps="armijo", metric=m)
        for r, m in (("polar", "canonical"), ("cayley", "turning"), ("cholesky-qr", "euclidean"))
    ),
    RiemannianGradient(steps="lbfgs", metric="turning"),
    RiemannianGradient(steps="constant", retraction="newton-schulz", momentum=0.5, batch=5),
    Landing(batch=5),
    POGO(base="vector-adam", safe_step=True),
    RandomSubmanifold(sampling="rotation", orthonormalize=7),
    *(PolarPower(start=start) for start in ("identity", "contraction")),
    GPower(block=True, penalty="l0", mu="distinct", loadings="thresholded"),
    HOEVD(form="explicit"),
    PGD(form="explicit", start="random"),
    *(PGD(rule=rule, start="random") for rule in ("adagrad", "constant")),
]

PROBLEMS = {
    "stiefel-brockett": {"n": 12, "p": 3},
    "stiefel-procrustes": {"n": 10, "p": 3, "rows": 30},
    "stiefel-procrustes-batch": {"matrices": 4, "n": 10, "p": 3, "rows": 30},
    "quadratic-assignment": {"n": 6},
    "joint-diagonalization": {"n": 5, "matrices": 4},
    "nonlinear-eigenvalue": {"n": 20, "p": 3},
    "weight-rotation": {"n": 8, "rows": 30},
}
"""Problems whose oracles take arrays of any library."""

SINGLE = {"numpy/float32", "torch:cpu/float32", "torch:cuda/float32"}
"""Places of a precision in which a run differs by rounding that its steps amplify."""

ROUNDED = 2e-3
"""Largest difference there, relative to the largest value of a metric: 2e4 rounding units."""

AMPLIFIED = 0.1
"""The same with Barzilai-Borwein steps and BFGS, which have ratios of small differences."""


def small(solver):
    return example(solver, (GaussianPolar,))


def needed(*places):
    """Return the available ones of some places; skip the test if there are none."""
    missing = {on: place_of(on).missing() for on in places}
    if all(missing.values()):
        pytest.skip("; ".join(dict.fromkeys(missing.values())))
    return [on for on, why in missing.items() if not why]


@pytest.mark.parametrize("solver", SOLVERS, ids=[f"{s.name}-{i}" for i, s in enumerate(SOLVERS)])
@pytest.mark.parametrize(
    "places",
    [
        ("torch:cpu", "torch:cpu/float32"),
        pytest.param(("torch:cuda", "cupy", "torch:cuda/float32"), marks=pytest.mark.cuda),
        # kernels are compiled for float32 here alone
        pytest.param(("numpy/float32",), marks=pytest.mark.wide),
        # it compiles for each length of a chunk
        pytest.param(("jax:cpu",), marks=pytest.mark.slow),
        pytest.param(("jax:cuda",), marks=[pytest.mark.slow, pytest.mark.cuda]),
    ],
    ids=" ".join,
)
def test_runs_are_those_of_numpy(solver, places):
    steps = getattr(solver, "steps", "")
    # overlaps of loadings are of first order in rounding; roots square the condition
    amplified = steps in ("bb", "lbfgs") or solver.name in ("gpower", "coupled-newton-schulz")
    rounded = AMPLIFIED if amplified else ROUNDED
    # a line search near its end compares costs that differ by rounding
    exact = 1e-9 if steps in ("armijo", "bb", "lbfgs") else 1e-10
    for on in needed(*places):
        if solver.name in ("zolotarev", "rational-power") and on in SINGLE:
            continue  # their functions have a lower degree there
        check_libraries(solver, small(solver), on, rounded if on in SINGLE else exact)


@pytest.mark.parametrize("on", marked(REFERENCE, "torch:cpu", "torch:cuda"))
def test_oracles_compute_there_what_they_compute_in_numpy(on):
    needed(on)
    for name in PROBLEMS:
        compare_oracles(name, on)


def compare_oracles(name, on):
    oracle = catalogue().problem(name, PROBLEMS[name]).build(np.random.default_rng(0)).oracle
    moved, place = oracle.to(place_of(on)), place_of(on)
    X = np.random.default_rng(1).standard_normal((oracle.n, oracle.k))
    X = X.reshape(*oracle.stack, -1, oracle.k)
    there, rows = place.array(X), np.array([0, 2])
    both, both_there = oracle.value_and_gradient(X), moved.value_and_gradient(there)
    pairs = [
        *zip(both, both_there, strict=True),
        (oracle.value(X), moved.value(there)),
        (oracle.gradient(X), moved.gradient(there)),
        (oracle.gradient_rows(X, rows), moved.gradient_rows(there, place.array(rows))),
    ]
    if isinstance(oracle, FiniteSumOracle):
        for each in (oracle, moved):
            each.rewind(np.random.default_rng(2))
        moved.prepare(5)
        for batch in (2, oracle.terms):  # more than were prepared
            ours, theirs = (
                each.stochastic_gradient(at, batch) for each, at in ((oracle, X), (moved, there))
            )
            pairs.append((ours, theirs))
            assert moved.taken == oracle.taken
    for ours, theirs in pairs:
        found = place.to_numpy(theirs)
        np.testing.assert_allclose(found, ours, rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize(
    "solver",
    [
        Landing(step_size=0.3, relative=False, tolerance=0.02),
        POGO(step_size=0.3, relative=False, tolerance=0.02, base="sgd"),
        RandomSubmanifold(step_size=0.3, size=24, relative=False, tolerance=0.02),
        RiemannianGradient(tolerance=0.02),
        PolarPower(),
        GPower(block=True),
    ],
    ids=lambda s: s.name,
)
def test_a_run_that_converges_within_a_chunk_ends_at_the_same_step(solver):
    places = "numpy", *needed(REFERENCE, "torch:cpu")
    ours, *others = (
        run(small(solver), type(solver)(**{**vars(solver), "on": place}), Budget(steps=500),
            Streams.of("converging", solver.name, 0))
        for place in places
    )  # fmt: skip
    last = ours.trace[-1].work.steps
    assert ours.stop.reason.startswith(f"converged after {last} steps")
    for on, theirs in zip(places[1:], others, strict=True):
        assert theirs.stop.reason.startswith(f"converged after {last} steps"), on
        assert [p.work for p in theirs.trace] == [p.work for p in ours.trace], on


@pytest.mark.parametrize("on", [REFERENCE, "torch:cpu"])
def test_a_run_that_diverges_says_why(on):
    needed(on)
    solver = Landing(step_size=1e200, safe_step=False, on=on)
    outcome = run(small(solver), solver, Budget(steps=50), Streams.of("x", solver.name, 0))
    assert "the gradient is not finite at step" in outcome.stop.reason


STAYING = ("batch-pca", "grassmannian-sgd", "landing", "oja", "pogo", "shoevd", "spgd")
"""Solvers whose steps need nothing of the host: no factorization is checked, nothing drawn."""


@pytest.mark.cuda
@pytest.mark.parametrize("name", STAYING)
def test_steps_do_not_wait_for_the_gpu(name, monkeypatch):
    needed("torch:cuda")
    import torch

    solver = catalogue().solver(name, SETTINGS.get(name, {}))
    advance = begun(solver, small(solver), 20, "torch:cuda")
    monkeypatch.setattr(ending, "read_end", lambda oracle, state: None)  # once for all steps
    torch.cuda.set_sync_debug_mode("error")
    try:
        advance()
    finally:
        torch.cuda.set_sync_debug_mode("default")


@pytest.mark.parametrize("name", [*STAYING, "gpower", "polar-power"])
def test_steps_take_nothing_from_tensors_and_bring_nothing(name, monkeypatch):
    """The same without a GPU: PyTorch reports each value that comes from or to Python."""
    needed("torch:cpu")
    from torch.utils._python_dispatch import TorchDispatchMode

    class Told(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            told.append(str(function))
            return function(*args, **(kwargs or {}))

    told: list[str] = []
    solver = catalogue().solver(name, SETTINGS.get(name, {}))
    advance = begun(solver, small(solver), 20, "torch:cpu")
    monkeypatch.setattr(ending, "read_end", lambda oracle, state: None)
    with Told():
        advance()
    assert told
    crossing = ("aten._local_scalar", "aten.nonzero", "aten.lift_fresh")
    assert not [one for one in told if one.startswith(crossing)]


@dataclass(slots=True, kw_only=True)
class Basis(State):
    U: Any


@dataclass(frozen=True)
class Curious(ArraySolver[SampleOracle, Basis]):
    """Looks at each sample before it goes on."""

    name: ClassVar[str] = "curious"
    batch = 1

    def init(self, oracle, rng):
        return Basis(U=copied(oracle.start))

    def step(self, oracle, state):
        x = oracle.take(1)
        if namespace(x).sum(x) > 0:
            state.work.samples += 1
        else:
            state.work.samples += 1
        state.work.steps += 1

    def solution(self, state):
        return Solution(copied(state.U))


def test_solver_that_waits_at_each_step_does_not_conform():
    solver = Curious()
    with pytest.raises(NotConforming, match="40 steps bring 40 values back to the host"):
        check_libraries(solver, small(solver))
