"""Evidence that is written down, so that what a check makes of it can be computed by hand."""

import numpy as np
from records import record

from orthobench.contract.solver import Work
from orthobench.harness.trace import Checkpoint


class Written:
    """Final values and runs by their labels; what was asked for is kept in `asked`.

    Parameters
    ----------
    finals : callable, optional
        Returns the final values, a number or one a seed, from suite, problem, solver and name.
    records : callable, optional
        Returns the runs from suite, problem and solver.
    exhibits : callable, optional
        Returns the exhibits from the same.
    """

    def __init__(self, finals=None, records=None, exhibits=None, quick=True, seeds=range(2)):
        self._finals, self._records, self._exhibits = finals, records, exhibits
        self.quick, self.seeds, self.asked = quick, seeds, set()

    def finals(self, suite, problem, solver, value):
        self.asked.add((suite, problem, solver))
        found = self._finals(suite, problem, solver, value)
        return np.array(found, dtype=float) * np.ones(len(self.seeds))

    def records(self, suite, problem, solver):
        self.asked.add((suite, problem, solver))
        return self._records(suite, problem, solver)

    def exhibits(self, suite, problem, solver):
        return self._exhibits(suite, problem, solver)


def run_of(at=(0, 10), cost="samples", **values):
    """Return a run with checkpoints at these costs, and a metric's value at each of them.

    What is no metric but describes a record is set there: `solver`, `seed`, `parameters`, ...
    """
    metrics = {name: values.pop(name) for name in [*values] if isinstance(values[name], tuple)}
    marks = []
    for i, now in enumerate(at):
        spent = Work(**{"steps": i} | ({} if cost == "seconds" else {cost: now}))
        found = {name: row[i] for name, row in metrics.items()}
        marks.append(Checkpoint(float(now) if cost == "seconds" else 0.0, 0.0, spent, found))
    return record("", trace=tuple(marks), **values)
