"""The conformance suite: what every solver and every problem must keep to, as checks to run.

In the tests of a plugin::

    # conftest.py
    pytest_plugins = ["orthobench.testing.pytest_plugin"]

    # test_conformance.py
    @pytest.mark.conformance("my-plugin")
    def test_conformance(conformance):
        conformance()

or, for one solver with parameters of its own::

    from orthobench.testing import check_solver

    def test_conformance():
        check_solver(MySolver(rate=0.1), my_instance())

or on the command line: ``orthobench plugin check my-plugin``.
"""

from __future__ import annotations

from orthobench.contract.problem import AnyInstance, AnyProblem
from orthobench.contract.solver import AnySolver
from orthobench.testing import of_problems, of_solvers
from orthobench.testing.counted import counted, counting
from orthobench.testing.counting import check_flops
from orthobench.testing.examples import example
from orthobench.testing.findings import (
    Check,
    NotCheckable,
    NotConforming,
    Outcome,
    Result,
    raise_failed,
)

__all__ = [
    "Check",
    "NotCheckable",
    "NotConforming",
    "Outcome",
    "Result",
    "check_flops",
    "check_problem",
    "check_solver",
    "counted",
    "counting",
    "example",
    "problem_checks",
    "solver_checks",
]


def solver_checks() -> tuple[Check, ...]:
    """Return the checks of a solver: functions ``check(solver, instance)`` with names."""
    return of_solvers.CHECKS


def problem_checks() -> tuple[Check, ...]:
    """Return the checks of a problem: functions ``check(problem)`` with names."""
    return of_problems.CHECKS


def check_solver(
    solver: AnySolver, instance: AnyInstance | None = None, *, plain: AnySolver | None = None
) -> tuple[Result, ...]:
    """Make all checks of a solver.

    Parameters
    ----------
    solver : Solver
    instance : Instance, optional
        Small: it is run on some thirty times, for 40 steps, or 6 where
        it has `reruns`. Without one it is `example`.
    plain : Solver, optional
        The same method in plain NumPy, to count the operations of (`check_flops`).

    Returns
    -------
    tuple of Result
        What came of each check; one that is not checkable here says why, and has not passed.

    Raises
    ------
    NotConforming
        Where any fails: says of each what was seen, and what to do.
    UsageError
        Where no instance is given and there is no example.

    Examples
    --------
    >>> import orthobench as ob
    >>> from orthobench.testing import check_solver
    >>> results = check_solver(ob.catalogue().solver("oja"))
    >>> [result.check for result in results if result.outcome.value != "passed"]
    ['flops']
    """
    small = example(solver) if instance is None else instance
    return raise_failed(
        f"solver {solver.name}", [check.result(solver, small) for check in of_solvers.checks(plain)]
    )


def check_problem(problem: AnyProblem) -> tuple[Result, ...]:
    """Make all checks of a problem.

    Parameters
    ----------
    problem : Problem
        With parameters that make it small: it is built some fifteen times.

    Returns
    -------
    tuple of Result
        What came of each check.

    Raises
    ------
    NotConforming
        Where any fails: says of each what was seen, and what to do.
    """
    return raise_failed(
        f"problem {problem.name}", [check.result(problem) for check in problem_checks()]
    )
