"""Toys that the tests of the core run: a matrix problem and a solver that can misbehave."""

from __future__ import annotations

import gc
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
from _pytest.runner import runtestprotocol
from hypothesis import settings

from orthobench import api
from orthobench.contract import hookimpl
from orthobench.contract.exhibits import Curve, Image
from orthobench.contract.parameters import parameter
from orthobench.contract.problem import Instance, Oracle, Problem, Solution
from orthobench.contract.solver import Solver, State, Status
from orthobench.registry.plugins import Plugin, Registry
from orthobench.registry.suite_file import from_table
from orthobench.testing import check_flops
from orthobench.testing.short_runs import Runner
from orthobench.tools.environment import cores, limited
from orthobench.tools.geometry import orthonormalize

collect_ignore = ["third_party_plugin"]  # a project of its own

# the same examples on every machine, however slow; more by --hypothesis-profile=thorough
for profile, examples in (("repeatable", 20), ("thorough", 200)):
    settings.register_profile(
        profile, max_examples=examples, derandomize=True, deadline=None, database=None
    )
settings.load_profile("repeatable")

with suppress(ImportError):
    # hypothesis would read every source that a process has imported, for constants to try: seconds,
    # and examples that depend on what else was imported
    from hypothesis.internal.conjecture import providers

    providers.is_local_module_file = lambda path: False

pytest_plugins = ["orthobench.testing.pytest_plugin", "browser"]

# some containers set it: each of the many processes that tests start would compile every source
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


# so much is kept that to look for garbage took 18 % of the time in which tests are collected, and
# 8 % of that in which kernels are compiled
gc.set_threshold(100_000, 20, 20)


class Turned(pytest.Dir):
    """A folder of which each worker collects the tests from another place on, once around."""

    def collect(self):
        found = list(super().collect())
        worker = int(os.environ["PYTEST_XDIST_WORKER"].removeprefix("gw"))
        first = len(found) * worker // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
        return found[first:] + found[:first]


def pytest_collect_directory(path, parent):
    """Let no two workers rewrite the assertions of the same file at the same time."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        return Turned.from_parent(parent, path=path)
    return None


def pytest_ignore_collect(collection_path, config):
    """Import nothing of the faults if they are deselected: they load what starts clusters."""
    unwanted = "not faults" in config.option.markexpr and collection_path.name == "faults"
    return True if unwanted else None


def pytest_addoption(parser):
    """Add an option by which hidden dependencies between tests are found."""
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run tests in a random order")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Put the tests into the order of their files, wherever a worker began, or a random one."""
    items.sort(key=lambda item: item.path.parts)
    if (seed := config.option.shuffle) is not None:
        items[:] = [items[i] for i in np.random.default_rng(seed).permutation(len(items))]


def pytest_collection_finish():
    """Keep what was collected out of the garbage collector: it is large, and stays to the end."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Have a worker for each core: one more would collect and import everything once more."""
    return int(os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS", cores()))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give each worker neighbours, which call the same kernels, and let the idle one take more."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.option.dist == "load" else None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """Run a test; a worker of xdist reports the call alone if all passes: half the messages."""
    if not hasattr(item.config, "workerinput"):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


FAULTS = ("none", "raise", "nan", "drift", "stall", "converge")


class MatrixOracle(Oracle):
    def __init__(self, A, k):
        self.A, self.n, self.k = A, len(A), k


@dataclass(frozen=True)
class LeadingSubspace(Problem[MatrixOracle]):
    """Leading subspace of diag(n, ..., 1)."""

    name: ClassVar[str] = "leading-subspace"
    family: ClassVar[str] = "toys"
    offers: ClassVar[type[Oracle]] = MatrixOracle
    primary: ClassVar[str] = "gap"
    tuned_by: ClassVar[str] = "validation_gap"
    n: int = parameter(6, low=2, help="size")
    k: int = parameter(2, low=1, help="columns")

    def build(self, rng):
        A = np.diag(np.arange(self.n, 0, -1.0))
        best = float(np.arange(self.n, 0, -1.0)[: self.k].sum())

        def measure(solution):
            gap = best - float(np.trace(solution.point.T @ A @ solution.point))
            return {"gap": gap, "validation_gap": gap}

        return Instance(MatrixOracle(A, self.k), measure, {"gap": 0.0})


@dataclass(frozen=True)
class Pictured(LeadingSubspace):
    """The same, with pictures of its solutions, or a fault in making them."""

    name: ClassVar[str] = "pictured"
    fault: str = parameter("none", help="what goes wrong", choices=("none", "raise", "alien"))

    def build(self, rng):
        instance = super().build(rng)
        truth = rng.standard_normal((3, 4))

        def exhibits(solution):
            if self.fault == "raise":
                raise ZeroDivisionError("no picture")
            if self.fault == "alien":
                return {"point": solution.point}
            angles = np.linspace(0, 1, 5)
            return {
                "point": Image(solution.point, signed=True),
                "truth": Image(truth, reference=True),
                "curve": Curve(angles, angles**2 + solution.point[0, 0], "angle", "value"),
                "diagonal": Curve(angles, angles, "angle", "value", reference=True),
            }

        return replace(instance, exhibits=exhibits)


@dataclass(kw_only=True, slots=True)
class PowerState(State):
    U: np.ndarray


@dataclass(frozen=True)
class Power(Solver[MatrixOracle, PowerState]):
    """Power iteration, or a fault at step 5."""

    name: ClassVar[str] = "power"
    step_size: float = parameter(1.0, above=0, help="step size", name="step", grid=(0.5, 1.0))
    fault: str = parameter(
        "none",
        help="what goes wrong",
        choices=FAULTS,
    )

    def init(self, oracle, rng):
        return PowerState(U=oracle.start.copy())

    def step(self, oracle, state):
        U = state.U + self.step_size * (oracle.A @ state.U)
        state.U = orthonormalize(U)
        state.work.steps += self.fault != "stall"
        state.work.flops += 100
        if state.work.steps == 5:
            self._go_wrong(state)

    def _go_wrong(self, state):
        if self.fault == "raise":
            raise ZeroDivisionError("toy")
        if self.fault == "nan":
            state.U[0, 0] = np.nan
        if self.fault == "drift":
            state.U *= 1.1
        if self.fault == "converge":
            state.status = Status.CONVERGED

    def solution(self, state):
        return Solution(state.U.copy())


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Small matrices: a second BLAS thread would only wait for the first."""
    with limited(1):
        yield


class ToyPlugin:
    @hookimpl
    def orthobench_solvers(self):
        return [Power]

    @hookimpl
    def orthobench_problems(self):
        return [LeadingSubspace, Pictured]


def _point(run):
    return run.read().point


@pytest.fixture
def flops_agree():
    """A function that checks a solver's flops, and that the plain method counted is the same.

    The observed values of both runs must agree up to signs.
    """

    def check(solver, plain, instance, seen=(_point, _point)):
        check_flops(solver, instance, plain)
        found = []
        for method, look in zip((plain, solver), seen[::-1], strict=True):
            runner = Runner(method, instance, streams_of=solver)
            run = runner.run(found[0][1] if found else runner.steps)
            found.append((np.abs(look(run)), run.state.work.steps))
        (theirs, _), (ours, _) = found
        np.testing.assert_allclose(ours, theirs, atol=1e-8)

    return check


TABLE = {
    "seeds": 2,
    "budget": {"steps": 6},
    "problem": [{"name": "leading-subspace"}],
    "solver": [{"name": "power"}],
}


@pytest.fixture(scope="session")
def toys():
    """The toy classes, and a registry that holds them."""
    registry = Registry()
    registry.add(ToyPlugin(), Plugin("toys", "orthobench-toys", "1.0"))
    return SimpleNamespace(
        Oracle=MatrixOracle, Problem=LeadingSubspace, Pictured=Pictured, Solver=Power,
        State=PowerState, Plugin=ToyPlugin, registry=registry, table=TABLE,
    )  # fmt: skip


@pytest.fixture(scope="session")
def filled(toys, tmp_path_factory):
    """The store of a toy suite, to be copied by those that write."""
    path = tmp_path_factory.mktemp("filled") / "results.sqlite"
    suite = from_table(TABLE, "first", toys.registry)
    api.run(suite, path, executor="inline", quiet=True)
    return path


@pytest.fixture
def store(filled, tmp_path):
    return shutil.copy(filled, tmp_path / "results.sqlite")


@pytest.fixture(scope="module")
def few_objects():
    """Keep what earlier modules left out of the collector, which checks of solvers call."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def own_numbers(request):
    """Let no test depend on which others have drawn from the generator of its module."""
    if rng := getattr(request.module, "RNG", None):
        rng.bit_generator.state = np.random.default_rng(0).bit_generator.state


@pytest.fixture(autouse=True)
def collector_stays_on():
    """Name the test that leaves the garbage collector off, not one that comes after it."""
    yield
    on = gc.isenabled()
    gc.enable()
    assert on
