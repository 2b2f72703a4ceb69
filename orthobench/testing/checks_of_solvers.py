"""The checks of a solver, on short runs with a small instance: `CHECKS`."""

from __future__ import annotations

import copy
import gc
import math
import threading
from dataclasses import asdict
from functools import partial

import numpy as np

from orthobench.contract.placed_solvers import ArraySolver, SummarySolver
from orthobench.contract.problem import Oracle, Solution
from orthobench.contract.solver import AnySolver, State, Status
from orthobench.errors import UsageError
from orthobench.harness.judging import FEASIBLE, OPTIMAL
from orthobench.registry import plugins
from orthobench.testing.check import Check, NotCheckable, NotConforming, check, require
from orthobench.testing.check_of_libraries import check_libraries
from orthobench.testing.checks_of_summaries import SUMMARIES
from orthobench.testing.flop_counting import check_flops
from orthobench.testing.shared_checks import DECLARATION, of_side_effects, pickled
from orthobench.testing.short_runs import Run, Runner, difference_of_solutions, require_equal
from orthobench.tools.arrays import Array
from orthobench.tools.machine import resident
from orthobench.tools.object_graph import Snapshot, arrays, writable

ENDING_STEPS = 100_000
"""Maximum number of steps of a solver that `converges`."""

COUNT = "Let nothing depend on calls of `advance`, or on steps to come: count steps in the state"

GROWTH = 4 * 2**20
"""Maximum memory that a short run leaves behind, in bytes."""

LONG = 1000
"""Maximum number of steps of a run on samples."""

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
    right = point.shape == shape and point.dtype == np.float64
    observed = f"the point is {point.dtype} of shape {point.shape}"
    require(right, observed, f"Return float64 of shape (n, k) = {shape}")


@_of_runs(runs)
def threads(runner: Runner) -> None:
    """Require that no thread is left running; a pool may stay."""
    for steps in (1, runner.steps):  # after many steps too many threads could block all others
        runner.run(steps).read()
        before = set(threading.enumerate())
        runner.run(steps).read()
        left = sorted(thread.name for thread in set(threading.enumerate()) - before)
        observed = f"it leaves {len(left)} threads running, such as {left[:1]}"
        require(not left, observed, "Join them before a step is over: they slow down later runs")


@_of_runs(runs)
def memory(runner: Runner) -> None:
    """Require that memory does not grow with each run."""
    sizes = []
    for _ in range(3):  # the first loads libraries and fills caches
        runner.run().read()
        gc.collect()
        sizes.append(resident())
    growth = min(sizes[1] - sizes[0], sizes[2] - sizes[1])
    observed = f"each run of {runner.steps} steps leaves {growth / 2**20:.0f} MB of memory behind"
    require(growth <= GROWTH, observed, "Keep nothing in the module or the class, but in the state")


@_of_runs(runs)
def orthonormal(runner: Runner) -> None:
    """Require that every solution satisfies the constraint."""
    run = runner.start()
    remedy = f"{FEASIBLE:g} is allowed: orthonormalize in `solution` (orthobench.contract)"
    for count in (0, *runner.pieces):
        run.advance(count)
        violation = runner.instance.violation(run.read())
        observed = f"at step {run.state.work.steps} it violates the constraint by {violation:.2g}"
        require(violation <= FEASIBLE, observed, remedy)


@_of_runs(runs)
def repeats(runner: Runner) -> None:
    """Require that the same seed gives the same bits."""
    remedy = "Draw from the generator of `init`, keep nothing in the class, sum in a fixed order"
    require_equal(runner.run(), runner.run(), "two runs from the same seed differ", remedy)


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
    require(not changed, f"a solution changes when the solver advances: {changed}", remedy)
    observed = "writing into a solution changes the rest of the run"
    require_equal(run, runner.interrupted(overwrite), observed, remedy)


@_of_runs(runs, repeats)
def chunking(runner: Runner) -> None:
    """Require that advance(a), advance(b) equals advance(a + b)."""
    calls = " then ".join(f"advance({count})" for count in runner.pieces)
    observed = f"{calls} differs from advance({runner.steps})"
    require_equal(runner.run(), runner.run(*runner.pieces), observed, COUNT)


@_of_runs(runs, repeats)
def reading(runner: Runner) -> None:
    """Require that reading a solution changes nothing."""
    read_twice = runner.interrupted(lambda run: (run.read(), run.read()))
    observed = f"a run whose solution is read at step {runner.halves[0]} ends differently"
    remedy = "Leave the state, and its generator, alone in `solution`"
    require_equal(read_twice, runner.run(*runner.halves), observed, remedy)


@_of_runs(runs, repeats, chunking, reading)
def budgets(runner: Runner) -> None:
    """Require that a budget of steps repeats a checkpoint."""
    marks = runner.recorded(runner.steps)
    work, solution = marks[len(marks) // 2]
    done, end = runner.recorded(work.steps, math.inf)[-1]
    same = done == work and difference_of_solutions(solution, end) is None
    observed = f"a run with Budget(steps={work.steps}) ends unlike the checkpoint of a longer run"
    require(same, observed, COUNT)


@_of_runs(runs, repeats)
def resumes(runner: Runner) -> None:
    """Require that a pickled run goes on the same."""

    def pickle_state(run: Run) -> None:
        run.state = pickled(run.state, "the state")

    one, other = runner.interrupted(pickle_state), runner.run(*runner.halves)
    observed = f"a run that is pickled and resumed at step {runner.halves[0]} ends differently"
    require_equal(one, other, observed, "Put all that a run depends on into the state's pickle")


@_of_runs(runs)
def inputs(runner: Runner) -> None:
    """Require that the data of the oracle are left as they are."""
    taken: list[tuple[Array, Array]] = []

    def keep(samples: Array) -> Array:
        taken.append((samples, samples.copy()))
        return samples

    run = runner.start()
    before = Snapshot(runner.oracle)
    with runner.samples_as(keep):
        run.advance(runner.steps)
    where = before.changed()
    if where is None and any(not np.array_equal(*pair) for pair in taken):
        where = "take()"
    observed = f"the solver writes into oracle.{where}"
    require(where is None, observed, "Copy what you change: the data are shared")


@_of_runs(runs)
def work(runner: Runner) -> None:
    """Require that steps and samples are counted.

    The flops of solvers with `reruns` may fall: the last run may have converged sooner.
    """
    run = runner.start()
    for count in runner.pieces:
        before = asdict(run.state.work)
        run.advance(count)
        _check_counts(run, before, count)


def _check_counts(run: Run, before: dict[str, int], count: int) -> None:
    now, taken = asdict(run.state.work), run.oracle.taken
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


@_of_runs(runs, orthonormal, reading)
def progress(runner: Runner) -> None:
    """Require that runs end better than their start, by the primary metric or the objective."""
    try:
        family = plugins.catalogue().base_of(runner.oracle)
    except UsageError as error:
        raise NotCheckable(str(error)) from None
    if family.at:
        raise NotCheckable(f"{family.primary} is compared only at levels of another metric")
    recorded = runner.recorded(LONG if runner.solver.batch else runner.steps)
    measured = [runner.instance.measure(one) for _, one in recorded]
    # without a known optimum a judge may report no gap, but first what is minimized
    metric = family.primary if family.primary in measured[0] else next(iter(measured[0]))
    first, *values = (one[metric] for one in measured)
    if not values or (runner.solver.batch and {*values} == {first}):
        raise NotCheckable("it does not leave its start on this instance: pass one of more data")
    late = float(np.median(values[len(values) // 2 :]))
    late = values[-1] if late == first else late  # it may move only after a pass
    optimal = first <= runner.instance.best.get(metric, -math.inf) + OPTIMAL
    observed = f"it ends no better than its start: {metric} is {first:.3g}, then {late:.3g}"
    require(late < first or optimal, observed, "Look for a wrong sign, or steps that are too large")


@_of_runs(runs)
def nan(runner: Runner) -> None:
    """Require that data that are NaN end the run as failed.

    That is the status FAILED, a solution that is not finite, or a `ValueError`. Samples are NaN in
    the second half, other data from the start.
    """
    first, second = runner.halves
    try:
        if runner.solver.batch and hasattr(runner.oracle, "take"):
            run = runner.run(first)
            with runner.samples_as(lambda samples: np.full_like(samples, np.nan)):
                run.advance(second)
        else:
            run = runner.start(before_init=lambda: fill_with_nan(runner.oracle))
            run.advance(second)
        if run.state.status is Status.FAILED or not run.read().is_finite:
            return
    except ValueError:
        return
    finally:
        runner.rewind()
    observed = f"given NaN only, it is {run.state.status.value} with a finite solution"
    raise NotConforming(observed, "Set Status.FAILED and state.reason if it is not finite")


def fill_with_nan(oracle: Oracle) -> None:
    """Turn the data of an oracle into NaN, until it is restored."""
    found = arrays(oracle).items()
    data = [a for path, a in found if a.dtype.kind == "f" and path != ".start"]
    if not data:
        raise NotCheckable("the oracle has no arrays of floats that could become NaN")
    try:
        for array in data:
            with writable(array):
                array.fill(np.nan)
    except ValueError as error:  # it is mapped from a file
        raise NotCheckable("its data are read-only: check it on other data") from error


@_of_runs(runs)
def ending(runner: Runner) -> None:
    """Require that a solver that converges ends."""
    if not runner.solver.converges:
        return
    run = runner.start()
    while (done := run.state.work.steps) < ENDING_STEPS:
        run.advance(max(runner.steps, done))
        if run.state.status is not Status.RUNNING:
            return
        if run.state.work.steps == done:
            raise NotCheckable("the samples are used up before it ends; pass more")
    remedy = "Set Status.CONVERGED once steps change only rounding, or leave `converges` False"
    raise NotConforming(f"it declares that it converges, and runs on after {done:,} steps", remedy)


CHECKS = (
    threads, runs, memory, orthonormal, fresh, repeats, chunking, reading, budgets, resumes, inputs,
    *of_side_effects(lambda solver, small: Runner(solver, small).run().read(), runs),
    work, progress,
    Check("flops", "the flops counted are within 5 % of those done", check_flops, (runs, work)),
    nan, ending,
    *DECLARATION,
)  # fmt: skip
"""Every check of a solver, in order."""

LIBRARIES = Check("libraries", "every array library gives the same", check_libraries, (runs,))
"""A check of solvers for all array libraries."""


def checks(solver: AnySolver) -> tuple[Check, ...]:
    """Return every check of a solver."""
    libraries = (LIBRARIES,) if isinstance(solver, ArraySolver) else ()
    return (*CHECKS, *libraries, *(SUMMARIES if isinstance(solver, SummarySolver) else ()))
