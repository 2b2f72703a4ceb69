"""Evidence of constructed runs: of the problems, solvers and seeds of a paper's suites."""

from pathlib import Path
from types import SimpleNamespace

from orthobench_papers.reproduce.runs import Evidence

from orthobench.contract.parameters import values_of
from orthobench.contract.solver import Work
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.trace import Checkpoint
from orthobench.results.runs import ProblemInfo, Run, SolverInfo
from orthobench.results.tuning import choose

COSTS = ("steps", "samples", "flops")


class Constructed(Evidence):
    """Constructed runs of a paper's suites; of a grid of trials there is the first.

    Parameters
    ----------
    paper : Paper
    make : callable
        Returns metrics and costs by name from a place with `suite`, `problem`, `solver` and
        `seed`: the objects that the suite makes. A tuple has a value for each checkpoint, of
        which all have as many; a number is the same at all of them, and a cost is zero before.
        ``"load"`` is how busy the machine was.
    size : str
    """

    def __init__(self, paper, make=lambda at: {}, size="full"):
        super().__init__(paper, Path("nowhere"), size, quiet=True)
        self.make = make

    def run(self, name):
        """Return the results of a suite."""
        if name not in self.results:
            suite = self._suite(name)
            first_trials = {s.label: s for s in reversed(suite.solvers)}.values()
            runs = [
                run_of(p, s, seed, self.make(SimpleNamespace(
                    suite=name, problem=p.problem, solver=s.solver, seed=seed)))
                for p in suite.problems for s in first_trials for seed in suite.seeds
            ]  # fmt: skip
            self.results[name] = SimpleNamespace(entries=choose(runs, suite.score))
        return self.results[name]


def run_of(p, s, seed, values):
    """Return the run of a problem and a solver of a suite."""
    known = {
        p.problem.primary: 1.0,
        p.problem.tuned_by: 1.0,
        **{one.metric: 0.0 for one in p.levels},
    }
    problem = ProblemInfo(
        p.label, p.problem.name, values_of(p.problem), p.problem.family, p.problem.primary,
        p.problem.tuned_by, p.levels,
    )  # fmt: skip
    solver = SolverInfo(s.label, values_of(s.solver), s.tuned, name=s.solver.name)
    key = f"{p.label} {s.label} {s.tuned} {seed}"
    values = known | values
    load, done = values.pop("load", None), Termination(RunStatus.DONE, "")
    return Run(key, problem, solver, seed, done, trace_of(values), load=load)


def trace_of(values):
    """Return checkpoints with these metrics and costs."""
    count = max([2, *(len(value) for value in values.values() if isinstance(value, tuple))])
    rows = {
        name: value if isinstance(value, tuple)
        else (0.0,) * (count - 1) + (value,) if name in (*COSTS, "seconds") else (value,) * count
        for name, value in values.items()
    }  # fmt: skip
    marks = []
    for i in range(count):
        work = Work(**{"steps": i} | {name: rows[name][i] for name in COSTS if name in rows})
        metrics = {n: float(row[i]) for n, row in rows.items() if n not in (*COSTS, "seconds")}
        marks.append(Checkpoint(rows.get("seconds", (0.0,) * count)[i], 0.0, work, metrics))
    return tuple(marks)


def best(k):
    """Return the share of the variance in the first k directions of the orthogonal distribution."""
    return (1 - 1.1**-k) / (1 - 1.1**-32)


def gap(k):
    """Return what the best k directions have more than the next best k."""
    return (1 - 1 / 1.1) / (1 - 1.1**-32) * (1.1 ** (1 - k) - 1.1**-k)
