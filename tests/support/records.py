"""Records made of flat values, as tests need them."""

from dataclasses import replace

from orthobench.contract.solver import Work
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.trace import Checkpoint
from orthobench.results.runs import ProblemInfo, Run, SolverInfo

OF_PROBLEM = {
    "problem": "label", "recipe": "name", "settings": "parameters", "family": "family",
    "primary": "primary", "tuned_by": "tuned_by", "levels": "levels",
}  # fmt: skip
OF_SOLVER = {
    "solver": "label", "parameters": "parameters", "tuned": "tuned", "reruns": "reruns",
    "solver_name": "name",
}  # fmt: skip
OF_STOP = {"status": "status", "reason": "reason", "traceback": "traceback"}

EMPTY = Run(
    "",
    ProblemInfo("p", "", {}, "f", "gap", "val"),
    SolverInfo("s"),
    0,
    Termination(RunStatus.DONE, ""),
)


def record(key, **values):
    """Return the record with these values, as `altered` takes them."""
    return altered(EMPTY, key=key, **values)


def altered(record, **values):
    """Return a record with other values, wherever in it they are."""
    parts = {}
    for part, names in (("problem", OF_PROBLEM), ("solver", OF_SOLVER), ("stop", OF_STOP)):
        inside = {names[name]: values.pop(name) for name in names if name in values}
        parts[part] = replace(getattr(record, part), **inside)
    return replace(record, **values, **parts)


def along(points, seed=0, status=RunStatus.DONE, reading=0.0, reason="", **metrics):
    """Return a record with the points (x, gap), where x counts steps, samples and seconds alike."""
    marks = tuple(
        Checkpoint(float(x), reading, Work(x, x, 10 * x), {"gap": y, **metrics}) for x, y in points
    )
    return record(str(seed), seed=seed, status=status, reason=reason, trace=marks)
