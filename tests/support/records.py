"""Records made of flat values, as tests need them."""

from dataclasses import replace

from orthobench.harness.stopping import RunStatus, Termination
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
