"""The main functions of the library: `solve`, `run` and `instance`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from orthobench.contract.black_boxes import black_box
from orthobench.contract.parameters import values_of
from orthobench.contract.problem import INSTANCE, AnyInstance, AnyProblem, Oracle, Problem
from orthobench.contract.solver import AnySolver, Solver
from orthobench.decide.more_seeds import default_limit, more_cells
from orthobench.errors import OrthobenchError, UsageError, quoted
from orthobench.execute.loop import OnPoint, execute, tell
from orthobench.execute.suite_cells import (
    SuiteCells,
    complete,
    matching,
    repeated,
    rest_of,
    undecided,
)
from orthobench.harness import run as harness
from orthobench.harness.cell import Cell, instance_of
from orthobench.harness.executors import Executor, Limits, Observer
from orthobench.harness.identity import Identity, Streams, label
from orthobench.harness.judging import LateJudgement, judged, needs_judge, result_of
from orthobench.harness.stopping import Budget, Rule, Termination
from orthobench.harness.suite import PYTHON, Suite
from orthobench.harness.trace import Outcome as JudgedOutcome
from orthobench.registry import preflight
from orthobench.registry.entries import class_in, specification
from orthobench.registry.plugins import Registry, catalogue, solver_for
from orthobench.registry.suite_file import from_table, requested_suite
from orthobench.registry.suite_values import LARGEST_SEED
from orthobench.report.notebook_view import Outcome, Results
from orthobench.report.terminal.progress import Progress
from orthobench.results.explain import RUNS, explain
from orthobench.results.runs import ProblemInfo, Run, SolverInfo
from orthobench.results.schema import exists
from orthobench.results.store import FILE, Store
from orthobench.tools.arrays import whole
from orthobench.tools.environment import limited
from orthobench.tools.files import safe_join

RESULTS = "orthobench-results"
"""The folder of stores and figures, with a folder for each suite."""


class SolverError(OrthobenchError, RuntimeError):
    """A solve that failed, with its outcome so far."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.stop.reason)
        self.outcome = outcome


def solve(
    solver: str | AnySolver | Callable[..., Any],
    /,
    problem: str | AnyProblem | AnyInstance,
    budget: Budget | None = None,
    seed: int = 0,
    until: Rule | None = None,
    threads: int = 1,
    curve: bool = False,
    on_point: OnPoint | None = None,
    **parameters: Any,
) -> Outcome:
    """Run one solver on one problem.

    Parameters
    ----------
    solver : str, Solver or callable
        ``"NAME key=value ..."`` with a name from the `catalogue` or ``FILE.py:CLASS``, a solver, or
        a black box ``run(problem, steps, rng)``.
    problem : str, Problem or Instance
        Such a specification, a problem, or an instance: of your own data such as
        ``ob.stochastic_pca(X, k=8)``, or of a problem, by `instance`.
    budget : Budget, optional
        By default the run ends when the solver converges or the data are used up.
    seed : int
        The origin of all random streams; equal calls give equal bits.
    until : Rule, optional
        Stop when this is met, such as ``ob.Target("suboptimality", 1e-3)``.
    threads : int
        BLAS threads.
    curve : bool
        Record checkpoints between start and end; implied by `until` and `on_point`.
    on_point : callable, optional
        ``on_point(run, point)`` is called with each checkpoint after the run.
    **parameters
        Of the named solver: ``step=0.1``; its place to compute: ``on="torch:cuda/float32"``.

    Returns
    -------
    Outcome
        ``.result``, in the words of the family; ``.solution`` (n, k), ``.trace``, ``.work``,
        ``.stop``, ``.exhibits``; ``.plot(ax)``. Metrics and result are computed when they are read.

    Raises
    ------
    UsageError
        On an unknown name, a wrong parameter, or a solver that cannot take the problem.
    DataError
        On unfit data.
    SolverError
        If the run failed; its ``outcome`` has the checkpoints so far. Reading metrics raises errors
        of the judge.
    """
    recipe = _problem(problem) if isinstance(problem, str) else problem
    preflight.check_settings(budget, seed, until, threads, recipe)
    offers = recipe.offers if isinstance(recipe, Problem) else type(recipe.oracle)
    chosen = _solver(solver, parameters, offers)
    if isinstance(recipe, Problem):
        if refusal := chosen.refuses(recipe):
            raise UsageError(f"solver {chosen.name} cannot take {recipe.name}: {refusal}")
        made = instance_of(recipe, seed)
    else:
        made = recipe
        preflight.check_instance(chosen, made)
    limits = budget or Budget()
    preflight.check_ending(chosen, made, limits, until)
    with limited(int(threads)):
        chosen.place.limit(threads)
        streams = Streams.of(made.streams, chosen.name, seed)
        curve = curve or on_point is not None
        recording = harness.recorded(made, chosen, limits, streams, until, curve=curve)
        ran: LateJudgement | JudgedOutcome
        if until or needs_judge(recording):
            ran = judged(made, recording, until)
        else:
            ran = LateJudgement(made, recording, int(threads))
    outcome = Outcome(ran, partial(result_of, made, ran.final, int(threads)))
    if isinstance(outcome.error, OrthobenchError):
        raise outcome.error
    if on_point:
        tell(on_point, _run_of(recipe, chosen, seed, outcome))
    if outcome.stop.status.failed:
        raise SolverError(outcome) from outcome.error
    return outcome


def instance(problem: str | AnyProblem, seed: int = 0) -> AnyInstance:
    """Return the instance of a problem, whose data are read or drawn once for all runs on it.

    With the same seed, `solve` gives the same bits on it as on the problem.

    Parameters
    ----------
    problem : str or Problem
        ``"NAME key=value ..."`` with a name from the `catalogue`, or a problem.
    seed : int
        The seed of the data, if they are drawn.

    Raises
    ------
    UsageError, DataError
        On an unknown problem, a wrong parameter, or unfit data.

    Examples
    --------
    >>> import orthobench as ob
    >>> problem = ob.instance("digits k=4")
    >>> ob.solve("batch-pca", problem).solution.shape
    (64, 4)
    """
    recipe = _problem(problem) if isinstance(problem, str) else problem
    if not isinstance(recipe, Problem):
        raise UsageError(f"problem must be a name or a problem, not {quoted(problem)}")
    return instance_of(recipe, whole(seed, "seed", 0, LARGEST_SEED))


def run(
    suite: str | Path | Mapping[str, Any] | Suite | None = None,
    store: Path | str | None = None,
    *,
    problems: Sequence[Any] = (),
    solvers: Sequence[Any] = (),
    seeds: int | Sequence[int] | None = None,
    budget: Budget | None = None,
    only: str | None = None,
    retry: bool = False,
    decide: int | None = None,
    quiet: bool = False,
    executor: str = "local",
    workers: int | Literal["auto"] = 1,
    limits: Limits | None = None,
    scheduler: str | None = None,
    observer: Observer | None = None,
    on_point: OnPoint | None = None,
    command: str = "ob.run",
) -> Results:
    """Run the cells of a suite that are not in its store yet, and return its results.

    Classes and objects are identified by their code, instances by their data.

    Parameters
    ----------
    suite : str, Path, mapping or Suite, optional
        A name in the `catalogue`, a TOML file, its tables, or a suite.
    store : Path, optional
        The SQLite file; by default ``orthobench-results/SUITE/results.sqlite``.
    problems : sequence, optional
        Instances such as ``ob.stochastic_pca(X, k=8)``, specifications such as ``"digits k=4"``,
        problems, their classes, or ``"FILE.py:CLASS"``, in place of a suite.
    solvers : sequence, optional
        Classes, objects, functions ``run(problem, steps, rng)``, specifications such as ``"oja
        step=0.5"``, or ``"FILE.py:CLASS"``; by default those of the suite, or all that can.
    seeds : int or sequence of int, optional
        Their number, from 0, or a list; 10 by default.
    budget : Budget, optional
        In place of the suite's; of problems by default 10,000 samples.
    only : str, optional
        A pattern of ``PROBLEM SOLVER``, such as ``"digits* oja*"``.
    retry : bool
        Run cells again that failed before.
    decide : int, optional
        Maximum number of seeds of an undecided solver and its rivals, reached by doubling. By
        default 48 for a suite of 12 seeds, else 0.
    quiet : bool
        No progress display on standard error.
    executor : str
        ``"local"``: guarded worker processes; ``"dask"``: the same on a Dask cluster;
        ``"inline"``: this process, unguarded.
    workers : int or "auto"
        Number of processes of ``"local"``; ``"auto"``: one for each physical core.
    limits : Limits, optional
        Time and memory of a cell; not for ``"inline"``.
    scheduler : str, optional
        Address of the scheduler of ``"dask"``.
    observer : Observer, optional
        Watches cells and results; by default a display.
    on_point : callable, optional
        ``on_point(run, point)`` is called with each checkpoint of each stored cell.
    command : str
        The command that the store records.

    Returns
    -------
    Results
        Failed cells included; see ``.failures``.

    Raises
    ------
    UsageError, DataError
        If the suite cannot be run; nothing has been run or written then.
    StoreError
        If the store cannot be used.
    """
    known = find_suite(suite, problems, solvers, seeds, budget)
    most = default_limit(len(known.seeds)) if decide is None else decide
    path = Path(store or default_store(known))
    planned = known.cells()
    asked = matching(planned, only)
    runner = Executor(executor, workers, known.threads, limits or Limits(), scheduler)
    preflight.check_cells(asked)
    results = partial(Results, known.name, path, score=known.score, tolerance=known.tolerance)
    with ExitStack() as stack:
        opened = stack.enter_context(Store(path, write=True)) if exists(path) else None
        again = repeated(known, opened, asked, runner.limits.timeout, retry) if opened else {}
        done = opened.known(p.key for p in planned) - again.keys() if opened else set()
        observer = stack.enter_context(observer or Progress(quiet))
        if opened and not (again or decide) and (found := complete(opened, known, planned)):
            observer.expect(0, len(found))
            return results(found)
        preflight.check_problems(asked, done)
        # nothing is written before all checks pass
        written = opened or stack.enter_context(Store(path, write=True))
        written.discard(again)

        def more(cells: Sequence[Cell]) -> list[Cell]:
            return more_cells(results(written.records(known.name)), cells, most) if most else []

        cells = SuiteCells(known, planned, asked, again, more)
        execute(cells, runner, written, observer, command, on_point)
        return results(written.records(known.name))


def explained(
    suite: Suite,
    store: Path,
    *,
    only: str | None = None,
    retry: bool = False,
    timeout: float | None = None,
) -> list[dict[str, str]]:
    """Return ``cell``, ``action`` and ``reason`` of each cell of a suite; run and write nothing.

    `timeout` is that of the `Limits` of the run. Raises as `run`.
    """
    planned, waiting = matching(suite.cells(), only), []
    preflight.check_cells(planned)
    stored: Mapping[str, Identity] = {}
    again: Mapping[str, Termination] = {}
    with Store(store) if exists(store) else nullcontext() as opened:
        if opened:
            stored = {run.key: run.identity for run in opened.runs()}
            again = repeated(suite, opened, planned, timeout, retry)
        preflight.check_problems(planned, stored.keys() - again.keys())
        for trials in undecided(suite, planned).values():
            rest = rest_of(suite, opened, trials) if opened else None
            if rest is None:
                reason = "with the trial that is chosen when all have run"
                labels = (replace(cell, tuned={}).label for cell in suite.rest(trials[0]))
                waiting += [{"cell": text, "action": RUNS, "reason": reason} for text in labels]
            planned += rest or []
    ended = {key: stop.status.value for key, stop in again.items()}
    return [*explain(sorted(planned, key=lambda p: p.position), stored, ended), *waiting]


def find_suite(
    suite: str | Path | Mapping[str, Any] | Suite | None,
    problems: Sequence[Any] = (),
    solvers: Sequence[Any] = (),
    seeds: int | Sequence[int] | None = None,
    budget: Budget | None = None,
) -> Suite:
    """Return a suite by its name, file, tables or parts; raise `UsageError` if it cannot be run."""
    if not isinstance(suite, (Mapping, Suite)):
        limits: Mapping[str, Any] = budget.limits if budget else {}
        return requested_suite(suite, problems, solvers, seeds, name=PYTHON, **limits)
    if problems or solvers or seeds or budget:
        raise UsageError(
            "a Suite and its tables have their own problems, solvers and seeds: leave these out"
        )
    return suite if isinstance(suite, Suite) else from_table(suite, "suite", catalogue())


def default_store(suite: Suite) -> Path:
    """Return the default path of a suite's store; refuse links on the way there."""
    return safe_join(Path(), RESULTS, suite.name, FILE)


def _problem(text: str) -> AnyProblem:
    entry = specification(text)
    known, name = _known(entry.pop("name"))
    return (known or catalogue()).problem(name, entry)


def _solver(
    solver: str | AnySolver | Callable[..., Any],
    parameters: Mapping[str, Any],
    offers: type[Oracle],
) -> AnySolver:
    if isinstance(solver, Solver):
        if parameters:
            raise UsageError("parameters go with a solver's name; this solver has its own already")
        return solver
    entry = {} if callable(solver) else specification(solver)
    known, name = _known(entry.pop("name", solver))
    make = known.solver if known else solver_for
    return make(name, {**entry, **parameters}, offers)


def _run_of(
    recipe: AnyProblem | AnyInstance, solver: AnySolver, seed: int, outcome: Outcome
) -> Run:
    """Return a run that is in no store, as a record."""
    about = ProblemInfo(INSTANCE, INSTANCE, {}, "", "", "")
    if isinstance(recipe, Problem):
        about = ProblemInfo(
            label(recipe), recipe.name, values_of(recipe), recipe.family, recipe.primary,
            recipe.tuned_by,
        )  # fmt: skip
    chosen = SolverInfo(label(solver), values_of(solver), reruns=solver.reruns, name=solver.name)
    return Run("", about, chosen, seed, outcome.stop, outcome.trace)


def _known(name: Any) -> tuple[Registry | None, str]:
    """Return a name; with it a registry of its class for ``FILE.py:CLASS`` and a function."""
    if not callable(name) and ".py:" not in name:
        return None, name
    known = Registry()
    return known, known.register(black_box(name) if callable(name) else class_in(name))
