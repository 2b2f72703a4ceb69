"""Solvers that count, say and leave behind what they should not, each in one way."""

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

import numpy as np
from orthobench_faults import Walk

from orthobench.contract.problem import Solution
from orthobench.contract.solver import Work
from orthobench.harness.trace import Checkpoint


def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


class Counting(Walk):
    """Counts flops as its class says."""

    def step(self, oracle, state):
        super().step(oracle, state)
        state.work.flops = self.flops


@dataclass(frozen=True)
class CountsOfNumpy(Counting):
    name = "counts-of-numpy"
    flops = np.int64(7)


@dataclass(frozen=True)
class CountsFractions(Counting):
    name = "counts-fractions"
    flops = 1.5


@dataclass(frozen=True)
class CountsNothing(Walk):
    name = "counts-nothing"

    def fail(self, oracle, state):
        state.work = None


class UnprintableError(Exception):
    def __repr__(self):
        raise ArithmeticError


class Raising(Walk):
    """Raises what its class says."""

    def fail(self, oracle, state):
        raise self.error


@dataclass(frozen=True)
class RaisesSurrogates(Raising):
    name = "raises-surrogates"
    error = ValueError("bad \udcff and \0")


@dataclass(frozen=True)
class RaisesUnprintable(Raising):
    name = "raises-unprintable"
    error = UnprintableError()


@dataclass(frozen=True)
class Exits(Raising):
    name = "exits"
    error = SystemExit(0)


@dataclass(frozen=True)
class Interrupts(Raising):
    name = "interrupts"
    error = KeyboardInterrupt("me")


@dataclass(frozen=True)
class ReturnsAVector(Walk):
    name = "returns-a-vector"

    def solution(self, state):
        return Solution(state.U[:, 0].copy())


@dataclass(frozen=True)
class ChangesErrors(Walk):
    name = "changes-errors"

    def fail(self, oracle, state):
        np.seterr(all="raise")


@dataclass(frozen=True)
class ChangesFolder(Walk):
    name = "changes-folder"

    def fail(self, oracle, state):
        os.chdir("/")


@dataclass(frozen=True)
class GoesOn(Walk):
    name = "goes-on"

    def fail(self, oracle, state):
        threading.Thread(target=spin, args=[60], daemon=True).start()


@dataclass(frozen=True)
class PatchesTheHarness(Walk):
    """Stops the clock, and has the harness read what it says for every solver in its process."""

    name = "patches-the-harness"

    def init(self, oracle, rng):
        from orthobench.harness.execution import Execution

        read = Execution.read

        def lie(execution):
            mark, solution = read(execution)
            extra = {"suboptimality": -7.0, "constraint_violation": 0.0, "warm_up_seconds": 99.0}
            return Checkpoint(mark.seconds, 0.0, mark.work, extra_metrics=extra), solution

        Execution.read = lie
        return super().init(oracle, rng)


@dataclass(frozen=True)
class SendsNonsense(Walk):
    """Has the harness send points that are none."""

    name = "sends-nonsense"

    def init(self, oracle, rng):
        from orthobench.harness import run

        run.checked = lambda mark: Checkpoint(float("nan"), "soon", Work(-1, None, "many"))
        return super().init(oracle, rng)


@dataclass(frozen=True)
class SaysNothing(Walk):
    """Does its work in a warm-up whose end it does not tell."""

    name = "says-nothing"

    def init(self, oracle, rng):
        Channel = sys.modules["__main__"].Channel  # the program of the process has it

        send = Channel.send
        Channel.send = lambda self, message: None if message == "begun" else send(self, message)
        return super().init(oracle, rng)


@dataclass(frozen=True)
class Daemon(Walk):
    """Leaves a process of a session of its own, whose parent has ended."""

    name = "daemon"

    def fail(self, oracle, state):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(600)
            os._exit(0)
        os.wait()


@dataclass(frozen=True)
class Pauses(Walk):
    """Is stopped for some seconds, as by a debugger."""

    name = "pauses"

    def fail(self, oracle, state):
        waking = f"import os, time; time.sleep(2.5); os.kill({os.getpid()}, {int(signal.SIGCONT)})"
        wakes = subprocess.Popen([sys.executable, "-c", waking])
        os.kill(os.getpid(), signal.SIGSTOP)
        wakes.wait()


@dataclass(frozen=True)
class EndlessStep(Walk):
    name = "endless-step"

    def fail(self, oracle, state):
        while True:
            pass


@dataclass(frozen=True)
class EndlessWarmUp(EndlessStep):
    name = "endless-warm-up"
    fails_at = 3


@dataclass(frozen=True)
class Cycles(Walk):
    """Says that it converges, and does not."""

    name = "cycles"
    batch = 0
    converges = True

    def step(self, oracle, state):
        state.U = state.U[:, ::-1].copy()
        state.work.steps += 1
