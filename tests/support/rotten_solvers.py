"""Solvers that return, count, raise and print anything, as hypothesis draws it."""

import pickle

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from orthobench_faults import Cloud, Drawn, Sound

import orthobench as ob
from orthobench.harness.cell import Cell, execute
from orthobench.harness.stopping import Budget
from orthobench.results.results import Results

SAMPLES = 70

NUMBERS = st.one_of(
    st.integers(), st.floats(), st.complex_numbers(), st.booleans(),
    st.sampled_from([10**30, 2**63, 2**63 - 1, -1, 2**70, 1e308, 5e-324]),
    st.integers(-(2**31), 2**31 - 1).map(np.int32), st.floats().map(np.float64),
    st.integers(0, 2**63 - 1).map(np.int64), st.floats(width=32).map(np.float32),
)  # fmt: skip

TEXTS = st.text(st.characters(), max_size=20) | st.sampled_from(["\udcff", "\0", "=1+1", "\x1b[2J"])

ARRAYS = st.builds(
    lambda shape, value, kind: np.full(shape, value).astype(kind),
    st.lists(st.integers(0, 6), max_size=3), st.floats(width=16) | st.integers(0, 9),
    st.sampled_from(["f8", "f4", "f2", "c16", "i4", "O", "U3", "?"]),
)  # fmt: skip

ANYTHING = (
    st.none() | NUMBERS | TEXTS | ARRAYS | st.binary(max_size=9) | st.lists(NUMBERS, max_size=3)
)

FAULTS = st.tuples(
    st.sampled_from(Drawn.PLACES), ANYTHING, st.sampled_from([1, 60]), st.booleans()
).map(lambda fault: pickle.dumps(fault).hex())


def numbers(trace):
    return [(mark.work, dict(mark.metrics)) for mark in trace]


def attack(folder, runs, size):
    """Run `runs` suites of `size` cells, each other of which is sound; return how many cells ran.

    Raises
    ------
    AssertionError
        If a store cannot be read, or a sound cell has other numbers than alone.
    """
    alone = numbers(execute(Cell(Cloud(), Sound(), 0, Budget(samples=SAMPLES))).trace)
    counted = []

    @settings(
        max_examples=runs, derandomize=True, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=[*HealthCheck],
    )  # fmt: skip
    @given(st.lists(FAULTS, min_size=size // 2, max_size=size // 2))
    def one(faults):
        solvers = [
            solver
            for i, fault in enumerate(faults)
            for solver in (Drawn(fault=fault, number=i), Sound(number=i))
        ]
        store = folder / f"{len(counted)}.sqlite"
        ob.run(
            None, store, problems=[Cloud()], solvers=solvers, seeds=1,
            budget=Budget(samples=SAMPLES), quiet=True,
        )  # fmt: skip
        results = Results.read(store)
        assert len([*results.rows()]) >= size
        assert not results.missing
        for record in results.records:
            if record.solver.name == Sound.name:
                assert numbers(record.trace) == alone, record.label
                assert record.ok, record.stop
        counted.append(len(results.records))
        store.unlink()

    one()
    return sum(counted)
