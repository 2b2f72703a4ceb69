"""Short runs that checks compare, and the examples that they run on."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import orthobench as ob
from orthobench.contract.problem import Instance, Oracle, Solution
from orthobench.contract.samples import SampleOracle
from orthobench.contract.solver import Solver, State, Status, Work
from orthobench.testing import NotCheckable, NotConforming
from orthobench.testing import short_runs as module
from orthobench.testing.short_runs import (
    FEWEST,
    STEPS,
    Run,
    Runner,
    require_equal,
)


@dataclass(kw_only=True, slots=True)
class Calls(State):
    U: np.ndarray
    calls: list


@dataclass(frozen=True)
class Recorder(Solver[SampleOracle, Calls]):
    """Records the number of steps of each call, and ends at a step."""

    name: ClassVar[str] = "recorder"
    batch: ClassVar[int] = 3
    end: int = 1000

    def init(self, oracle, rng):
        return Calls(U=oracle.start.copy(), calls=[])

    def advance(self, oracle, state, count):
        state.calls.append(count)
        for _ in range(count):
            state.work.samples += len(oracle.take(min(self.batch, int(oracle.remaining()))))
        state.work.steps += count
        if state.work.steps >= self.end:
            state.status = Status.CONVERGED

    def solution(self, state):
        return Solution(state.U)


def samples(count, d=4):
    return ob.stochastic_pca(np.random.default_rng(0).standard_normal((count, d)), k=2)


def runner(count=3 * STEPS, **settings):
    return Runner(Recorder(**settings), Instance(samples(count + 99).oracle, dict, {}))


class TestRunner:
    def test_does_as_many_steps_as_there_are_samples_for(self):
        def steps(count):
            instance = samples(200)
            instance.oracle.remaining = lambda: count
            return Runner(Recorder(), instance).steps

        assert (steps(3 * STEPS + 3), steps(3 * STEPS - 1)) == (STEPS, STEPS - 1)
        with pytest.raises(NotCheckable, match=f"3 steps of 3; pass at least {3 * FEWEST}"):
            steps(3 * FEWEST - 1)

    def test_begins_each_run_with_the_same_data_start_and_samples(self):
        whole = runner()
        first = whole.start()
        start, taken = whole.oracle.start.copy(), whole.oracle.take
        whole.oracle.prepare(5)
        before = taken(5).copy()
        first.state.U[:] = 0
        whole.start()
        whole.oracle.prepare(5)
        np.testing.assert_array_equal(whole.oracle.start, start)
        np.testing.assert_array_equal(whole.oracle.take(5), before)
        assert not whole.oracle.start.flags.writeable

    def test_does_not_take_an_instance_of_another_kind(self):
        with pytest.raises(NotCheckable, match="SampleOracle"):
            Runner(Recorder(), ob.orthogonal_group(lambda U: 0.0, n=3))


class TestRun:
    def test_goes_on_up_to_where_the_solver_ends(self):
        run = runner(end=5).start()
        run.advance(3)
        run.advance(2)
        run.advance(2)
        assert run.state.calls == [3, 2]

    def test_is_given_no_more_steps_than_there_are_samples_for(self):
        run = Runner(Recorder(), samples(3 * 9)).start()
        left = int(run.oracle.remaining())
        run.advance(1000)
        assert run.state.work.steps == -(-left // 3)
        assert run.state.work.samples == left


class TestRequireEqual:
    def run(self, status=Status.RUNNING, flops=1, at=1.0):
        state = Calls(U=np.full((2, 1), at), calls=[])
        state.status, state.work = status, Work(1, 1, flops)
        return Run(Recorder(), None, state)

    @pytest.mark.parametrize(
        ("other", "said"),
        [
            ({"status": Status.CONVERGED, "flops": 2}, "seen: one is running, the other converged"),
            ({"flops": 2, "at": 2.0}, "seen: their work is .*flops=1.* and .*flops=2"),
            ({"at": 2.0}, r"seen: their point differ by up to 1\. Do it"),
        ],
    )
    def test_names_the_first_difference(self, other, said):
        with pytest.raises(NotConforming, match=said):
            require_equal(self.run(), self.run(**other), "seen", "Do it")


def test_an_example_is_the_first_that_a_solver_does_not_refuse(toys):
    class Wide(Recorder):
        def init(self, oracle, rng):
            if oracle.n < 24:
                raise ob.UsageError("wide data, please")
            return super().init(oracle, rng)

    @dataclass(frozen=True)
    class Any(Wide):
        needs: ClassVar[type[Oracle]] = Oracle
        batch: ClassVar[int] = 0

        def advance(self, oracle, state, count):
            state.work.steps += count

    assert module.example(Any()).oracle.n == 24
    assert module.example(Recorder()).oracle.n == 10
    with pytest.raises(ob.UsageError, match="no example for recorder: wide data, please; pass"):
        module.example(Wide())
