"""What is refused before anything runs, so that nobody learns of it hours later.

Suites that no solver can take part in, data that no solver should see, and metrics that a suite
names and no judge reports.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from orthobench.contract.problem import AnyInstance
from orthobench.contract.solution import Solution
from orthobench.contract.solver import AnySolver
from orthobench.errors import OrthobenchError, UsageError, unknown
from orthobench.harness.cell import built
from orthobench.harness.judging import VIOLATION
from orthobench.harness.suite import Planned
from orthobench.results.tuning import untunable
from orthobench.tools.geometry import random_point


def refuse_idle(planned: Iterable[Planned]) -> None:
    """Refuse a suite of which no solver can take any problem, with the reasons.

    Raises
    ------
    UsageError
    """
    reasons: dict[str, None] = {}
    for cell in (p.cell for p in planned):
        reason = cell.solver.refuses(cell.problem)
        if reason is None:
            return
        reasons[f"{cell.solver.name} on {cell.problem.name}: {reason}"] = None
    raise UsageError(f"no solver can take these problems ({'; '.join(reasons)})")


def check_problems(planned: Iterable[Planned], known: Collection[str]) -> None:
    """Build each problem that has cells left, and ask its judge for what the suite names.

    What fails for another reason than its data or parameters fails in its cells, as recorded.

    Parameters
    ----------
    planned : iterable of Planned
        All cells of the suite.
    known : collection of str
        Keys of those that do not have to be run.

    Raises
    ------
    DataError
        On unfit data.
    UsageError
        On parameters that do not fit the data, and a target, a level or a validation metric that
        the judge does not report.
    """
    problems: dict[str, list[Planned]] = {}
    for one in planned:
        problems.setdefault(one.problem, []).append(one)
    for cells in problems.values():
        left = next((one.cell for one in cells if one.cell.key not in known), None)
        if left is None:
            continue
        try:
            reported = _reported(built(left))
        except OrthobenchError:
            raise
        except Exception:  # noqa: S112 - recorded where the cells run
            continue
        _refuse_unreported(cells, reported)


def _reported(instance: AnyInstance) -> set[str]:
    """Return the metrics that the judge reports, of a bare point or of any other solution."""
    oracle = instance.oracle
    point = random_point(oracle.n, oracle.k, np.random.default_rng(0))
    return {*instance.measure(Solution(point)), *instance.conditional, VIOLATION}


def _refuse_unreported(cells: Sequence[Planned], reported: set[str]) -> None:
    problem, until = cells[0].problem, cells[0].cell.until
    if until is not None and until.metric not in reported:
        raise unknown(f"metric of {problem} as the target:", until.metric, reported)
    for level in cells[0].levels:
        if level.metric not in reported:
            raise unknown(f"metric of {problem} to compare at:", level.metric, reported)
    metric = cells[0].cell.problem.tuned_by
    trials: dict[str, AnySolver] = {}
    for one in cells:
        solver = one.cell.solver
        other = trials.setdefault(one.solver, solver)
        if solver != other and solver.refuses(one.cell.problem) is None and metric not in reported:
            raise untunable(one.solver, problem, metric)
