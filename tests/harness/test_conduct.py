"""Faults of a solver that a run notices."""

import random
import threading
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest

from orthobench.harness.executors import solving
from orthobench.harness.executors.solving import GROWTH, Conduct


@pytest.fixture
def oracle():
    return SimpleNamespace(X=np.ones((100, 3)))


@pytest.fixture
def output(tmp_path):
    with (tmp_path / "output").open("wb") as file:
        yield file


@pytest.mark.parametrize("fault", [None, "random", "output", "inputs", "threads"])
def test_fault_is_found_and_no_other(oracle, output, fault):
    run, over = Conduct(oracle, output.fileno()), threading.Event()
    for steps in range(5):
        run.point(steps)
    {
        None: lambda: np.random.default_rng().random(),
        "random": random.random,
        "output": lambda: output.write(b"step") and output.flush(),
        "inputs": lambda: oracle.X.fill(2.0),
        "threads": threading.Thread(target=over.wait, daemon=True).start,
    }[fault]()
    found = run.faults()
    over.set()
    assert found == ([fault] if fault else [])


@pytest.mark.parametrize(("bytes_a_step", "faults"), [(0, []), (GROWTH + 1, ["memory"])])
def test_memory_that_grows_with_steps_is_a_fault(oracle, output, monkeypatch, bytes_a_step, faults):
    sizes = count(10**9, bytes_a_step)
    monkeypatch.setattr(solving, "resident", lambda: next(sizes))
    run = Conduct(oracle, output.fileno())
    for steps in (0, 1, 2, 4, 8):
        run.point(steps)
    assert run.faults() == faults
