"""Run a streaming solver on long samples; write how much memory it took, in MB.

Run by test_streaming_memory.py in a process of its own: ``python long_samples.py NAME N R B``
writes the increase of the peak by a run through the harness, and by steps on existing samples.
"""

import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from orthobench_kit.streams import SamplerSource
from orthobench_tucker import MomentStream
from orthobench_tucker.solvers.shoevd import SHOEVD
from orthobench_tucker.solvers.spgd import SPGD

from orthobench.contract.problem import Instance
from orthobench.harness.identity import Streams
from orthobench.harness.run import run
from orthobench.harness.stopping import Budget
from orthobench.tools.geometry import random_point

STEPS = 12


def memory(what):
    status = Path("/proc/self/status").read_text()
    return int(re.search(rf"{what}:\s+(\d+) kB", status)[1]) / 1000


def opened(n, r):
    return MomentStream(SamplerSource(lambda rng, count: rng.random((count, n)), n), 3, r)


def through_the_harness(solver, n, r):
    before = memory("VmRSS")
    instance = Instance(opened(n, r), lambda _: {"nothing": 0.0}, violation=lambda _: 0.0)
    outcome = run(instance, solver, Budget(steps=STEPS), Streams.of("long", solver.name, 0))
    assert outcome.trace[-1].work.steps == STEPS, outcome.stop
    return memory("VmHWM") - before


def by_itself(solver, n, r):
    oracle = opened(n, r)
    oracle.start = random_point(n, r, np.random.default_rng(0))
    oracle.prepare(4 * solver.batch)
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = memory("VmRSS")
    state = solver.init(oracle, np.random.default_rng(0))
    solver.advance(oracle, state, 4)
    solver.solution(state)
    return memory("VmHWM") - before


if __name__ == "__main__":
    n, r, b = map(int, sys.argv[2:])
    solver = {"spgd": SPGD(batch=b, hoevd_steps=2), "shoevd": SHOEVD(batch=b)}[sys.argv[1]]
    through_the_harness(replace(solver, batch=5), 20, 2)  # compiles
    taken = through_the_harness(solver, n, r), by_itself(solver, n, r)
    sys.stdout.write(" ".join(map(str, taken)))
