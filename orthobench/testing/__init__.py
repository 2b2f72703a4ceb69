"""The conformance suite: checks that solvers and problems keep to the contract.

In the tests of a plugin use `orthobench.testing.pytest_plugin`, or for a single solver::

    from orthobench.testing import check_solver

    def test_conformance():
        check_solver(MySolver(rate=0.1), my_instance())

On the command line: ``orthobench plugin check my-plugin``.
"""

from __future__ import annotations

from orthobench.contract.problem import AnyInstance, AnyProblem
from orthobench.contract.solver import AnySolver
from orthobench.testing import checks_of_problems, checks_of_solvers
from orthobench.testing.check import CheckResults, CheckStatus, NotCheckable, NotConforming, Result
from orthobench.testing.counting_arrays import counted, counting
from orthobench.testing.flop_counting import check_flops
from orthobench.testing.reference import given
from orthobench.testing.short_runs import example

__all__ = [
    "CheckResults",
    "CheckStatus",
    "NotCheckable",
    "NotConforming",
    "Result",
    "check_flops",
    "check_problem",
    "check_solver",
    "counted",
    "counting",
    "example",
    "given",
]


def check_solver(solver: AnySolver, instance: AnyInstance | None = None) -> CheckResults:
    """Make all checks of a solver.

    Parameters
    ----------
    solver : Solver
    instance : Instance, optional
        A small one, for about thirty runs of 40 steps, or 6 with `reruns`; by default an `example`.

    Returns
    -------
    CheckResults
        A tuple of `Result`, which shows a line for each check.

    Raises
    ------
    NotConforming
        If any check fails; names each fault and its remedy.
    UsageError
        If there is neither an instance nor an example.

    Examples
    --------
    >>> import orthobench as ob
    >>> from orthobench.testing import check_solver
    >>> results = check_solver(ob.catalogue().solver("oja"))
    >>> [result.check for result in results if result.status.value != "passed"]
    ['flops']
    """
    small = example(solver) if instance is None else instance
    results = (check.result(solver, small) for check in checks_of_solvers.checks(solver))
    return CheckResults(results).passed(f"solver {solver.name}")


def check_problem(problem: AnyProblem) -> CheckResults:
    """Make all checks of a problem.

    Parameters
    ----------
    problem : Problem
        A small one: it is built about fifteen times.

    Returns
    -------
    CheckResults
        A tuple of `Result`, which shows a line for each check.

    Raises
    ------
    NotConforming
        If any check fails; names each fault and its remedy.
    """
    results = (check.result(problem) for check in checks_of_problems.CHECKS)
    return CheckResults(results).passed(f"problem {problem.name}")
