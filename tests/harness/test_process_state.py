"""Changes of a process by a solver are found, and nothing else."""

import os
import sys
import threading

import numpy as np

from orthobench.harness.execution import CLOCK, Execution
from orthobench.harness.executors.solving import ProcessState


def test_a_process_that_only_computed_is_as_it_was():
    before = ProcessState()
    np.linalg.qr(np.random.default_rng(0).standard_normal((50, 5)))
    with np.errstate(all="raise"):
        pass
    thread = threading.Thread(target=len, args=["a"])
    thread.start()
    thread.join()
    assert not before.changed()


def test_change_of_the_process_is_found(monkeypatch, tmp_path):
    before = ProcessState()
    over = threading.Event()

    def goes_on():
        thread = threading.Thread(target=over.wait)
        thread.start()
        return lambda: (over.set(), thread.join())

    def errors():
        old = np.seterr(all="raise")
        return lambda: np.seterr(**old)

    def folder():
        old = os.getcwd()  # noqa: PTH109
        os.chdir(tmp_path)
        return lambda: os.chdir(old)

    def clock():
        token = CLOCK.set(lambda: 0)
        return lambda: CLOCK.reset(token)

    def recursion():
        old = sys.getrecursionlimit()
        sys.setrecursionlimit(old + 1)
        return lambda: sys.setrecursionlimit(old)

    def patched(owner, name):
        old = getattr(owner, name)
        setattr(owner, name, lambda *_: None)
        return lambda: setattr(owner, name, old)

    faults = [goes_on, errors, folder, clock, recursion, lambda: patched(Execution, "read"),
              lambda: patched(np.linalg, "qr"), lambda: patched(np, "einsum")]  # fmt: skip
    for fault in faults:
        undo = fault()
        try:
            assert before.changed(), fault
        finally:
            undo()
        assert not before.changed(), fault
