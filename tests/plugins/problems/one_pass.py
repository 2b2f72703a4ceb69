"""Run one pass over a .npy file with a solver that only sums; write the peak memory in MB.

Run by test_memory.py in a process of its own: ``python one_pass.py FILE shuffle|order``.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from orthobench_stochastic_pca.problems.files import NpyPCA

from orthobench.contract.problem import Solution
from orthobench.contract.samples import SampleOracle
from orthobench.contract.solver import Solver, State
from orthobench.harness.identity import Streams
from orthobench.harness.run import run
from orthobench.harness.stopping import Budget
from orthobench.tools.environment import limited


@dataclass(kw_only=True)
class Sum(State):
    start: np.ndarray
    total: float = 0.0


@dataclass(frozen=True)
class Adder(Solver[SampleOracle, Sum]):
    name = "adder"
    batch = 1

    def init(self, oracle, rng):
        return Sum(start=oracle.start)

    def advance(self, oracle, state, count):
        state.total += float(oracle.take(count).sum())
        state.work.steps += count
        state.work.samples += count

    def solution(self, state):
        return Solution(state.start.copy())


def peak() -> float:
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1000


if __name__ == "__main__":
    problem = NpyPCA(path=sys.argv[1], normalization="none", shuffle=sys.argv[2] == "shuffle")
    before = peak()
    with limited(1):
        instance = problem.build(np.random.default_rng(0))
        outcome = run(instance, Adder(), Budget(), Streams.of("npy-stochastic-pca", "adder", 0))
    figures = (outcome.stop.status.value, outcome.work.samples, before, peak())
    sys.stdout.write(" ".join(map(str, figures)))
