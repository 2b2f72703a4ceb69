"""Each check of a solver, against a solver that fails it and nothing else."""

import ctypes
import os
import platform
import sys
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from orthobench_stiefel.orthogonal_group import OrthogonalGroupOracle
from scipy import linalg

import orthobench as ob
from orthobench.contract.parameters import parameter
from orthobench.contract.problem import Oracle, Solution
from orthobench.contract.samples import SampleOracle
from orthobench.contract.solver import Solver, State
from orthobench.errors import UsageError
from orthobench.testing import (
    CheckStatus,
    NotConforming,
    check_solver,
    checks_of_solvers,
)
from orthobench.tools.flops import qr
from orthobench.tools.geometry import orthonormalize


@dataclass(kw_only=True, slots=True)
class PlainState(State):
    U: np.ndarray
    calls: int = 0


@dataclass(frozen=True)
class PlainOja(Solver[SampleOracle, PlainState]):
    """U <- orth(U + eta x x'U), in plain NumPy: it passes."""

    name: ClassVar[str] = "plain-oja"
    batch = 1
    eta: float = parameter(0.1, above=0, help="step size")

    def init(self, oracle, rng):
        return PlainState(U=oracle.start.copy())

    def step(self, oracle, state):
        x = self.seen(oracle.take(1)[0])
        state.U[:] = orthonormalize(state.U + np.outer(self.eta * x, x @ state.U))
        self.count(oracle, state)

    def seen(self, x):
        return x

    def count(self, oracle, state):
        d, k = oracle.n, oracle.k
        state.work.steps += 1
        state.work.samples += 1
        state.work.flops += 5 * d * k + d + qr(d, k)

    def solution(self, state):
        return Solution(state.U.copy())


class Raises(PlainOja):
    def step(self, oracle, state):
        super().step(oracle, state)
        if state.work.steps == 3:
            raise ZeroDivisionError("at step 3")


class WritesIntoStart(PlainOja):
    def init(self, oracle, rng):
        oracle.start[0, 0] = 0.0
        return super().init(oracle, rng)


class Drifts(PlainOja):
    def solution(self, state):
        return Solution(state.U * (1 + 1e-7))


class Shares(PlainOja):
    def solution(self, state):
        return Solution(state.U)


class SharesUntilNextStep(PlainOja):
    """A solution stays, but shares memory with the state until the next step."""

    def step(self, oracle, state):
        state.U = state.U.copy()
        super().step(oracle, state)

    def solution(self, state):
        return Solution(state.U)


class DrawsUnseeded(PlainOja):
    def init(self, oracle, rng):
        return PlainState(U=orthonormalize(np.random.default_rng().random((oracle.n, oracle.k))))


class TurnsEachCall(PlainOja):
    def advance(self, oracle, state, count):
        super().advance(oracle, state, count)
        state.U = np.roll(state.U, 1, axis=0)


class TurnsAtTheFifthCall(PlainOja):
    def advance(self, oracle, state, count):
        super().advance(oracle, state, count)
        state.calls += 1
        if state.calls == 5:
            state.U = np.roll(state.U, 1, axis=0)


class TurnsWhenRead(PlainOja):
    def solution(self, state):
        state.U = np.roll(state.U, 1, axis=0)
        return super().solution(state)


@dataclass(kw_only=True, slots=True)
class Unpicklable(PlainState):
    rate: Callable[[int], float]


class KeepsFunction(PlainOja):
    def init(self, oracle, rng):
        return Unpicklable(U=oracle.start.copy(), rate=lambda t: 1 / t)


@dataclass(kw_only=True)
class Forgetful(PlainState):
    decays: bool = False

    def __reduce__(self):
        return Forgetful._again, (self.U, self.work)

    @staticmethod
    def _again(U, work):
        return Forgetful(U=U, work=work, decays=True)


class Forgets(PlainOja):
    def init(self, oracle, rng):
        return Forgetful(U=oracle.start.copy())

    def step(self, oracle, state):
        solver = replace(self, eta=self.eta / 2) if state.decays else self
        PlainOja.step(solver, oracle, state)


class ScalesSamples(PlainOja):
    def seen(self, x):
        x *= 0.5
        return x


class ScalesData(PlainOja):
    def step(self, oracle, state):
        super().step(oracle, state)
        oracle.source.rows.flags.writeable = True
        oracle.source.rows[-1] *= 0.5


class Seeds(PlainOja):
    def init(self, oracle, rng):
        np.random.seed(0)  # noqa: NPY002 - the fault
        return super().init(oracle, rng)


class Prints(PlainOja):
    def step(self, oracle, state):
        super().step(oracle, state)
        if state.work.steps == 7:
            print("step 7")  # noqa: T201 - the fault


class PrintsBelowPython(PlainOja):
    def step(self, oracle, state):
        super().step(oracle, state)
        os.write(2, b"from a library\n")


def set_mode(flags):
    """Set the mode of the processor's arithmetic on x86-64, in what C libraries call an fenv_t."""
    environment = (ctypes.c_uint32 * 8)()
    library = ctypes.CDLL(None)
    library.fegetenv(environment)
    environment[7] = flags
    library.fesetenv(environment)


DEFAULT_MODE, FLUSH_TO_ZERO = 0x1F80, 0x9FC0


class FlushesToZero(PlainOja):
    def init(self, oracle, rng):
        set_mode(FLUSH_TO_ZERO)
        return super().init(oracle, rng)


class Warns(PlainOja):
    def step(self, oracle, state):
        super().step(oracle, state)
        warnings.warn("slow", RuntimeWarning, stacklevel=1)


class CountsStepsTwice(PlainOja):
    def count(self, oracle, state):
        super().count(oracle, state)
        state.work.steps += 1


class CountsNoSamples(PlainOja):
    def count(self, oracle, state):
        super().count(oracle, state)
        state.work.samples = 0


class CountsNoFlops(PlainOja):
    def count(self, oracle, state):
        super().count(oracle, state)
        state.work.flops = 0


class CountsInFloats(PlainOja):
    def count(self, oracle, state):
        super().count(oracle, state)
        state.work.flops = float(state.work.flops)


class CountsBackwards(PlainOja):
    def count(self, oracle, state):
        super().count(oracle, state)
        if state.work.steps == 13:
            state.work.flops = 10


class CountsSixPercentMore(PlainOja):
    def count(self, oracle, state):
        before = state.work.flops
        super().count(oracle, state)
        state.work.flops += 6 * (state.work.flops - before) // 100


class CountsSixPercentLess(PlainOja):
    def count(self, oracle, state):
        before = state.work.flops
        super().count(oracle, state)
        state.work.flops -= 6 * (state.work.flops - before) // 100


class PassesOverNaN(PlainOja):
    def seen(self, x):
        return x if np.isfinite(x).all() else np.zeros(len(x))


class RunsOn(PlainOja):
    converges: ClassVar[bool] = True


class TakesAnything(PlainOja):
    def __post_init__(self):
        pass


@dataclass(frozen=True)
class SaysNothing(PlainOja):
    shift: float = 0.0


@dataclass(frozen=True)
class NamesNothing(PlainOja):
    def __post_init__(self):
        try:
            super().__post_init__()
        except UsageError:
            raise UsageError("something is wrong") from None


@dataclass(frozen=True, eq=False)
class EqualsNothing(PlainOja):
    __hash__ = object.__hash__


class LeavesThreads(PlainOja):
    def init(self, oracle, rng):
        threading.Thread(target=time.sleep, args=(2.0,), daemon=True).start()
        return super().init(oracle, rng)


class Leaks(PlainOja):
    left: ClassVar[list[np.ndarray]] = []

    def step(self, oracle, state):
        super().step(oracle, state)
        self.left.append(np.ones(2**19))


class Ascends(PlainOja):
    """It subtracts the update."""

    def step(self, oracle, state):
        x = oracle.take(1)[0]
        state.U[:] = orthonormalize(state.U - np.outer(self.eta * x, x @ state.U))
        self.count(oracle, state)


class CountsMoreBesideAPackage(CountsSixPercentMore):
    packages = ("scikit-learn",)


class Twofold(Prints, Shares):
    pass


COUNTEREXAMPLES = {
    "threads": (LeavesThreads,),
    "runs": (Raises, WritesIntoStart),
    "memory": (Leaks,),
    "orthonormal": (Drifts,),
    "fresh": (Shares, SharesUntilNextStep),
    "repeats": (DrawsUnseeded,),
    "chunking": (TurnsEachCall,),
    "reading": (TurnsWhenRead,),
    "budgets": (TurnsAtTheFifthCall,),
    "resumes": (KeepsFunction, Forgets),
    "inputs": (ScalesSamples, ScalesData),
    "random": (Seeds,),
    "silent": (Prints, PrintsBelowPython, Warns),
    "subnormal": (FlushesToZero,),
    "work": (
        CountsStepsTwice, CountsNoSamples, CountsInFloats, CountsBackwards,
    ),
    "progress": (Ascends,),
    "flops": (CountsSixPercentMore, CountsSixPercentLess, CountsMoreBesideAPackage),
    "nan": (PassesOverNaN,),
    "ending": (RunsOn,),
    "parameters": (TakesAnything, SaysNothing, NamesNothing),
    "recipe": (EqualsNothing,),
}  # fmt: skip


@pytest.fixture(scope="module")
def instance():
    samples = np.random.default_rng(0).standard_normal((100, 6)) * np.linspace(2, 0.5, 6)
    return ob.stochastic_pca(samples, k=2)


def test_a_right_solver_passes_every_check(instance):
    results = check_solver(PlainOja(), instance)
    assert [result.check for result in results] == [
        check.name for check in checks_of_solvers.CHECKS
    ]
    assert {result.status for result in results} == {CheckStatus.PASSED}


def test_every_check_has_a_counterexample():
    assert list(COUNTEREXAMPLES) == [check.name for check in checks_of_solvers.CHECKS]


@pytest.fixture
def settable(check):
    if check == "subnormal" and not (sys.platform == "linux" and platform.machine() == "x86_64"):
        pytest.skip("only the mode of x86-64 is set here")
    yield
    if check == "subnormal":
        set_mode(DEFAULT_MODE)


@pytest.mark.usefixtures("impatient", "settable")
@pytest.mark.parametrize("check", COUNTEREXAMPLES)
def test_a_counterexample_fails_its_check(check, instance):
    (own,) = (c for c in checks_of_solvers.CHECKS if c.name == check)
    for cls in COUNTEREXAMPLES[check]:
        assert own.result(cls(), instance).status is CheckStatus.FAILED, cls


@pytest.mark.wide
@pytest.mark.usefixtures("impatient", "settable")
@pytest.mark.parametrize("check", COUNTEREXAMPLES)
def test_a_counterexample_fails_no_other_check(check, instance):
    others = [c for c in checks_of_solvers.CHECKS if c.name != check]
    needed = {p.name for c in others for p in c.prerequisites}
    for cls in COUNTEREXAMPLES[check]:
        results = {c.name: c.result(cls(), instance) for c in others}
        found = {result.status for result in results.values()}
        assert CheckStatus.FAILED not in found, (cls, results)
        assert check in needed or found == {CheckStatus.PASSED}, (cls, results)


def test_a_solver_may_count_no_flops(instance, impatient):
    results = {c.name: c.result(CountsNoFlops(), instance) for c in checks_of_solvers.CHECKS}
    flops = results.pop("flops")
    assert flops.status is CheckStatus.NOT_CHECKABLE
    assert "it counts no flops" in flops.message
    assert {result.status for result in results.values()} == {CheckStatus.PASSED}


class ByScipy(PlainOja):
    def step(self, oracle, state):
        x = oracle.take(1)[0]
        state.U[:] = linalg.qr(state.U + np.outer(self.eta * x, x @ state.U), mode="economic")[0]
        self.count(oracle, state)


def test_flops_that_scipy_does_are_not_checkable(instance):
    (flops,) = (c for c in checks_of_solvers.CHECKS if c.name == "flops")
    result = flops.result(ByScipy(), instance)
    assert result.status is CheckStatus.NOT_CHECKABLE
    assert "its arithmetic is done in scipy" in result.message


@dataclass(frozen=True)
class Descent(Solver[OrthogonalGroupOracle, PlainState]):
    """Gradient steps of a fixed size, which a method with a line search may refuse."""

    name: ClassVar[str] = "descent"
    step_size: float = 0.1
    searches: bool = False

    def init(self, oracle, rng):
        return PlainState(U=oracle.start.copy())

    def step(self, oracle, state):
        state.work.steps += 1
        trial = orthonormalize(state.U - self.step_size * oracle.gradient(state.U))
        if not self.searches or oracle.value(trial) < oracle.value(state.U):
            state.U = trial

    def solution(self, state):
        return Solution(state.U.copy())


def test_wrong_sign_is_found_where_no_optimum_is_known():
    goal = np.diag([3.0, 2.0, 1.0])
    instance = ob.orthogonal_group(lambda U: -float(np.sum(goal * U)), lambda U: -goal, n=3)
    (progress,) = (c for c in checks_of_solvers.CHECKS if c.name == "progress")
    assert progress.result(Descent(), instance).status is CheckStatus.PASSED
    for wrong in (Descent(-0.1), Descent(-0.1, searches=True)):
        result = progress.result(wrong, instance)
        assert result.status is CheckStatus.FAILED
        assert "it ends no better than its start: objective is" in result.message


def test_all_failures_are_reported_at_once_with_what_to_do(instance):
    with pytest.raises(NotConforming) as found:
        check_solver(Twofold(), instance)
    text = str(found.value)
    assert f"fails 2 of {len(checks_of_solvers.CHECKS)} checks" in text
    assert "fresh: a solution changes when the solver advances" in text
    assert "Return copies: Solution(state.U.copy())" in text
    assert "silent: it prints 'step 7'" in text


def test_a_family_of_ones_own_needs_an_instance():
    class Own(Oracle):
        pass

    class ForOwn(PlainOja):
        needs: ClassVar[type[Oracle]] = Own

    with pytest.raises(UsageError, match="no installed family or problem offers the Own"):
        check_solver(ForOwn())
