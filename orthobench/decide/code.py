"""Python code that makes the call which a sentence names."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from orthobench.contract.parameters import changed_values
from orthobench.contract.problem import Problem
from orthobench.contract.solver import AnySolver
from orthobench.harness.given import GivenProblem
from orthobench.registry.plugins import catalogue
from orthobench.stats.calls import Stop


def code_of(source: Any, solver: AnySolver, stop: Stop) -> str:
    """Return the lines that compute the answer when they are pasted.

    ``source`` is the problem as the caller gave it: a text, a Problem or an Instance.
    """
    lines = _problem_line(source), solve_line(solver, stop), "print(outcome.solution)"
    return "\n".join(["import orthobench as ob", "", *lines])


def solve_line(solver: AnySolver, stop: Stop) -> str:
    """Return the line that makes a call: ``outcome = ob.solve(NAME, problem, ...)``."""
    values = [f"{name}={value!r}" for name, value in changed_values(solver).items()]
    cls, known = type(solver.single), catalogue().solvers.get(solver.name)
    if known is not None and cls in [one.item for one in known.all]:
        named, settings = repr(solver.name), values
    elif cls.__module__ == "__main__":
        named, settings = f"{cls.__name__}({', '.join(values)})", []
    else:
        named, settings = repr(f"{_file(cls)}:{cls.__name__}"), values
    arguments = filter(None, [named, "problem", stop.argument, *settings])
    return f"outcome = ob.solve({', '.join(arguments)})"


def _problem_line(source: Any) -> str:
    """Return the line that makes the problem; a comment if only the caller can make it."""
    if isinstance(source, str) and ".py:" not in source:
        return f"problem = ob.instance({source!r})"
    known = isinstance(source, Problem) and not isinstance(source, GivenProblem)
    if known and catalogue().problems.get(source.name) is not None:
        made = f"ob.catalogue().problem({source.name!r}, {changed_values(source)!r})"
        return f"problem = ob.instance({made})"
    return "# problem: what this answer is about, which only your program has"


def _file(cls: type) -> Path:
    path = Path(inspect.getfile(cls))
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
