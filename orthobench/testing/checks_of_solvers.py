"""The checks of a solver, on short runs with a small instance: `CHECKS`."""

from __future__ import annotations

import copy
import pickle
from dataclasses import asdict, replace
from functools import partial

import numpy as np

from orthobench.contract.placed_solvers import ArraySolver, SummarySolver
from orthobench.contract.problem import Solution
from orthobench.contract.solver import AnySolver, State, Status
from orthobench.harness.judging import FEASIBLE
from orthobench.testing.check import Check, NotCheckable, NotConforming, check, require
from orthobench.testing.check_of_libraries import check_libraries
from orthobench.testing.checks_of_conduct import check_memory, check_progress, check_threads
from orthobench.testing.checks_of_summaries import SUMMARIES
from orthobench.testing.flop_counting import check_flops
from orthobench.testing.nan_data import nan_data
from orthobench.testing.shared_checks import of_declaration, of_side_effects
from orthobench.testing.short_runs import Run, Runner, difference_of_solutions, require_equal
from orthobench.tools.object_graph import Snapshot, arrays

ENDING_STEPS = 100_000
"""Maximum number of steps of a solver that `converges`."""


_of_runs = partial(check, subject=Runner)


@_of_runs()
def runs(runner: Runner) -> None:
    """Require that a few steps run, and give a solution of the right shape."""
    run = runner.start()
    kind = type(run.state).__name__
    require(isinstance(run.state, State), f"init returns a {kind}", "Return a State, or a subclass")
    run.advance(runner.steps)
    solution = run.read()
    observed = f"solution returns a {type(solution).__name__}"
    require(isinstance(solution, Solution), observed, "Return an orthobench.contract.Solution")
    point, shape = solution.point, (runner.oracle.n, runner.oracle.k)
    require(
        point.shape == shape and point.dtype == np.float64,
        f"the point is {point.dtype} of shape {point.shape}",
        f"Return float64 of shape (n, k) = {shape}",
    )


@_of_runs(runs)
def orthonormal(runner: Runner) -> None:
    """Require that every solution satisfies the constraint."""
    run = runner.start()
    for count in (0, *runner.pieces()):
        run.advance(count)
        violation = runner.instance.violation(run.read())
        require(
            violation <= FEASIBLE,
            f"the solution at step {run.state.work.steps} violates the constraint by "
            f"{violation:.2g}; {FEASIBLE:g} is allowed",
            "Orthonormalize in `solution`, or keep the iterate orthonormal to double precision: "
            "orthobench.contract.orthonormalize, polar",
        )


@_of_runs(runs)
def repeats(runner: Runner) -> None:
    """Require that the same seed gives the same bits."""
    require_equal(
        runner.run(),
        runner.run(),
        f"two runs from the same seed differ after {runner.steps} steps",
        "Draw from the generator given to `init` alone, keep nothing in the solver or its class "
        "from run to run, and let no sum depend on threads or on the order of a set",
    )


@_of_runs(runs, repeats)
def fresh(runner: Runner) -> None:
    """Require that solutions are copies."""
    remedy = "Return copies: Solution(state.U.copy())"
    returned: list[Solution] = []

    def read(run: Run) -> None:
        solution = runner.solver.solution(run.state)
        returned.extend((copy.deepcopy(solution), solution))

    def overwrite(run: Run) -> None:
        for array in arrays(runner.solver.solution(run.state)).values():
            if array.flags.writeable:
                array.fill(0)

    run = runner.interrupted(read)
    changed = difference_of_solutions(*returned)
    observed = f"a solution changes when the solver advances: {changed}"
    require(changed is None, observed, remedy)
    observed = "writing into a solution changes the rest of the run"
    require_equal(run, runner.interrupted(overwrite), observed, remedy)


@_of_runs(runs, repeats)
def chunking(runner: Runner) -> None:
    """Require that advance(a), advance(b) equals advance(a + b)."""
    calls = " then ".join(f"advance({count})" for count in runner.pieces())
    require_equal(
        runner.run(),
        runner.run(*runner.pieces()),
        f"{calls} differs from advance({runner.steps})",
        "Let nothing depend on where a call of `advance` begins or ends: put blocks, schedules "
        "and orthonormalizations at fixed numbers of steps, counted in the state",
    )


@_of_runs(runs, repeats)
def reading(runner: Runner) -> None:
    """Require that reading a solution changes nothing."""
    require_equal(
        runner.interrupted(lambda run: (run.read(), run.read())),
        runner.run(*runner.halves()),
        f"a run whose solution is read at step {runner.halves()[0]} ends differently from one "
        "whose solution is not read",
        "Leave the state as it is in `solution`, and draw nothing from its generator there",
    )


@_of_runs(runs, repeats, chunking, reading)
def budgets(runner: Runner) -> None:
    """Require that a budget of steps repeats a checkpoint."""
    marks = runner.recorded(runner.steps, curve=True)
    work, solution = marks[len(marks) // 2]
    done, end = runner.recorded(work.steps, curve=False)[-1]
    difference = (
        difference_of_solutions(solution, end)
        if done == work
        else f"their work is {work} and {done}"
    )
    require(
        difference is None,
        f"a run with Budget(steps={work.steps}) differs from the checkpoint of a longer run: "
        f"{difference}",
        "Let nothing depend on the number of calls of `advance`, or of the steps to come: count "
        "steps in the state",
    )


@_of_runs(runs, repeats)
def resumes(runner: Runner) -> None:
    """Require that a pickled run goes on the same."""

    def pickle_state(run: Run) -> None:
        try:
            run.state = pickle.loads(pickle.dumps(run.state))  # noqa: S301 - pickled right here
        except Exception as error:
            remedy = "Keep arrays, numbers and generators in it, no functions, files or kernels"
            raise NotConforming(f"the state cannot be pickled: {error!r}", remedy) from error

    require_equal(
        runner.interrupted(pickle_state),
        runner.run(*runner.halves()),
        f"a run that is pickled and resumed at step {runner.halves()[0]} ends differently from "
        "one that is not",
        "Put everything that a run depends on into the pickle of the state",
    )


@_of_runs(runs)
def inputs(runner: Runner) -> None:
    """Require that the data of the oracle are left as they are."""
    run = runner.start()
    before = Snapshot(runner.oracle)
    with runner.recorded_samples() as samples:
        run.advance(runner.steps)
    where = before.changed()
    if where is None and any(not np.array_equal(taken, copied) for taken, copied in samples):
        where = "take()"
    observed = f"the solver writes into oracle.{where}"
    require(where is None, observed, "Copy what you change: the data are shared")


@_of_runs(runs)
def work(runner: Runner) -> None:
    """Require that steps and samples are counted.

    The flops of solvers with `reruns` may fall: the last run may have converged sooner.
    """
    run = runner.start()
    with runner.recorded_samples() as samples:
        for count in runner.pieces():
            before = asdict(run.state.work)
            run.advance(count)
            _check_counts(run, before, count, sum(len(taken) for taken, _ in samples))


def _check_counts(run: Run, before: dict[str, int], count: int, taken: int) -> None:
    now = asdict(run.state.work)
    for name, value in now.items():
        observed = f"work.{name} is a {type(value).__name__}, {value!r}"
        require(type(value) is int, observed, "Count in Python integers: int(...)")
        may_fall = name == "flops" and run.solver.reruns
        observed = f"work.{name} falls from {before[name]} to {value}"
        require(value >= before[name] or may_fall, observed, "Add to it: counts only grow")
    done = now["steps"] - before["steps"]
    stopped = run.state.status is not Status.RUNNING and done < count
    observed = f"advance({count}) counts {done} steps in work.steps"
    require(done == count or stopped, observed, "Add one for each step, and nothing in `init`")
    right = now["samples"] == taken or not hasattr(run.oracle, "take")
    observed = f"work.samples is {now['samples']} where {taken} samples were taken"
    require(right, observed, "Add the number of samples that each step takes")


@_of_runs(runs)
def nan(runner: Runner) -> None:
    """Require that data that are NaN end the run as failed.

    That is the status FAILED, a solution that is not finite, or a `ValueError`. Samples are NaN in
    the second half, other data from the start.
    """
    remedy = (
        "Set state.status = Status.FAILED, with a sentence in state.reason, as soon as the "
        "iterate is not finite; `not (value <= bound)` catches NaN where `value > bound` does not"
    )
    streaming = runner.solver.batch > 0
    with nan_data(runner.oracle, streaming=streaming) as turn_to_nan:
        try:
            if streaming:
                run = runner.interrupted(lambda _: turn_to_nan())
            else:
                run = runner.start(before_init=turn_to_nan)
                run.advance(runner.halves()[1])
            if run.state.status is Status.FAILED or not run.read().is_finite:
                return
        except ValueError:
            return
    raise NotConforming(
        f"given data that are NaN throughout, it is {run.state.status.value} at step "
        f"{run.state.work.steps} with a finite solution",
        remedy,
    )


@_of_runs(runs)
def ending(runner: Runner) -> None:
    """Require that a solver that converges ends."""
    if not runner.solver.converges:
        return
    remedy = (
        "Set state.status = Status.CONVERGED once a step changes nothing that matters, beyond "
        "rounding, or leave `converges` False: then its runs need a budget"
    )
    run = runner.start()
    while (done := run.state.work.steps) < ENDING_STEPS:
        run.advance(max(runner.steps, done))
        if run.state.status is not Status.RUNNING:
            return
        if run.state.work.steps == done:
            raise NotCheckable("the samples are used up before it ends; pass more")
    raise NotConforming(f"it declares that it converges, and runs on after {done:,} steps", remedy)


CHECKS = (
    _of_runs(runs)(check_threads),
    runs,
    _of_runs(runs)(check_memory),
    orthonormal, fresh, repeats, chunking, reading, budgets, resumes, inputs,
    *of_side_effects(lambda solver, small: Runner(solver, small).run().read(), runs),
    work,
    _of_runs(runs, orthonormal, reading)(check_progress),
    Check("flops", "the flops counted are within 5 % of those done", check_flops, (runs, work)),
    nan, ending,
    *of_declaration(),
)  # fmt: skip
"""Every check of a solver, in order."""

LIBRARIES = Check("libraries", "every array library gives the same", check_libraries, (runs,))
"""A check of solvers for all array libraries."""


def checks(solver: AnySolver, plain: AnySolver | None = None) -> tuple[Check, ...]:
    """Return every check of a solver; `plain` is for "flops"."""
    flops = partial(check_flops, plain=plain)
    return (
        *(replace(one, function=flops) if one.name == "flops" else one for one in CHECKS),
        *((LIBRARIES,) if isinstance(solver, ArraySolver) else ()),
        *(SUMMARIES if isinstance(solver, SummarySolver) else ()),
    )
