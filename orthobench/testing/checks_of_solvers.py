"""The checks of a solver, each on a small instance: `CHECKS`."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial

import numpy as np

from orthobench.contract.placed_solvers import ArraySolver, SummarySolver
from orthobench.contract.problem import AnyInstance, Oracle, Solution
from orthobench.contract.solver import AnySolver, State, Status
from orthobench.errors import OrthobenchError
from orthobench.harness.judging import FEASIBLE
from orthobench.testing import shared_checks
from orthobench.testing.check import Check, NotConforming
from orthobench.testing.check_of_flops import check_flops
from orthobench.testing.check_of_libraries import check_libraries
from orthobench.testing.checks_of_summaries import SUMMARIES
from orthobench.testing.object_graph import Snapshot, arrays, nan_data
from orthobench.testing.shared_checks import time_limit
from orthobench.testing.short_runs import Run, Runner, difference_of_runs, difference_of_solutions
from orthobench.tools.arrays import Array

NAN_SECONDS = 30.0
"""The most processor time of a run on NaN: a few steps on a small instance."""


def check_runs(solver: AnySolver, instance: AnyInstance) -> None:
    """Raise where a few steps raise, or do not give a solution of the right kind and shape."""
    runner = Runner(solver, instance)
    run = runner.start()
    if not isinstance(run.state, State):
        raise NotConforming(
            f"init returns a {type(run.state).__name__}", "Return a State, or a subclass of it"
        )
    run.advance(runner.steps)
    solution = run.read()
    if not isinstance(solution, Solution):
        raise NotConforming(
            f"solution returns a {type(solution).__name__}",
            "Return an orthobench.contract.Solution",
        )
    shape = (runner.oracle.n, runner.oracle.k)
    if solution.point.shape != shape or solution.point.dtype != np.float64:
        observed = f"the point is {solution.point.dtype} of shape {solution.point.shape}"
        raise NotConforming(observed, f"Return float64 of shape (n, k) = {shape}")


def check_orthonormal(solver: AnySolver, instance: AnyInstance) -> None:
    """Raise where the solution violates the constraint, at the start or after any chunk."""
    runner = Runner(solver, instance)
    run = runner.start()
    for count in (0, *runner.pieces()):
        run.advance(count)
        violation = instance.violation(run.read())
        if not violation <= FEASIBLE:
            raise NotConforming(
                f"the solution at step {run.state.work.steps} violates the constraint by "
                f"{violation:.2g}; {FEASIBLE:g} is allowed",
                "Orthonormalize in `solution`, or keep the iterate orthonormal to double "
                "precision: orthobench.contract.orthonormalize, polar",
            )


def check_fresh(solver: AnySolver, instance: AnyInstance) -> None:
    """Raise where a solution changes after it was returned, or shares memory with the state."""
    runner = Runner(solver, instance)
    remedy = "Return copies: Solution(state.U.copy())"
    returned: list[Solution] = []

    def read(run: Run) -> None:
        solution = solver.solution(run.state)
        returned.extend((copy.deepcopy(solution), solution))

    def overwrite(run: Run) -> None:
        for array in arrays(solver.solution(run.state)).values():
            if array.flags.writeable:
                array.fill(0)

    run = runner.interrupted(read)
    if difference := difference_of_solutions(*returned):
        raise NotConforming(f"a solution changes when the solver advances: {difference}", remedy)
    if difference := difference_of_runs(run, runner.interrupted(overwrite)):
        raise NotConforming(
            f"writing into a solution changes the rest of the run: {difference}", remedy
        )


def check_repeats(solver: AnySolver, instance: AnyInstance) -> None:
    """Raise where two runs with the same random streams differ in any bit."""
    runner = Runner(solver, instance)
    if difference := difference_of_runs(runner.run(), runner.run()):
        raise NotConforming(
            f"two runs from the same seed differ after {runner.steps} steps: {difference}",
            "Draw from the generator given to `init` alone, keep nothing in the solver or its "
            "class from run to run, and let no sum depend on threads or on the order of a set",
        )


def check_chunking(solver: AnySolver, instance: AnyInstance) -> None:
    """Raise where advance(a) then advance(b) leaves other bits than advance(a + b)."""
    runner = Runner(solver, instance)
    if difference := difference_of_runs(runner.run(), runner.run(*runner.pieces())):
        calls = " then ".join(f"advance({count})" for count in runner.pieces())
        raise NotConforming(
            f"{calls} differs from advance({runner.steps}): {difference}",
            "Let nothing depend on where a call of `advance` begins or ends: put blocks, "
            "schedules and orthonormalizations at fixed numbers of steps, counted in the state",
        )


def check_reading(solver: AnySolver, instance: AnyInstance) -> None:
    """Raise where reading the solution changes the rest of the run."""
    runner = Runner(solver, instance)
    read_twice = runner.interrupted(lambda run: (run.read(), run.read()))
    if difference := difference_of_runs(read_twice, runner.run(*runner.halves())):
        raise NotConforming(
            f"a run whose solution is read at step {runner.halves()[0]} ends differently from "
            f"one whose solution is not read: {difference}",
            "Leave the state as it is in `solution`, and draw nothing from its generator there",
        )


def check_resumes(solver: AnySolver, instance: AnyInstance) -> None:
    """Raise where a run goes on differently after its state was pickled."""
    runner = Runner(solver, instance)
    resumed = runner.interrupted(_pickle_state)
    if difference := difference_of_runs(resumed, runner.run(*runner.halves())):
        raise NotConforming(
            f"a run that is pickled and resumed at step {runner.halves()[0]} ends differently "
            f"from one that is not: {difference}",
            "Put everything that a run depends on into the pickle of the state",
        )


def _pickle_state(run: Run) -> None:
    try:
        run.state = pickle.loads(pickle.dumps(run.state))  # noqa: S301 - pickled right here
    except Exception as error:
        remedy = "Keep arrays, numbers and generators in the state, no functions, files or kernels"
        raise NotConforming(f"the state cannot be pickled: {error!r}", remedy) from error


def check_inputs(solver: AnySolver, instance: AnyInstance) -> None:
    """Raise where a run writes into the oracle's arrays, or into the samples that it took."""
    runner = Runner(solver, instance)
    run = runner.start()
    before = Snapshot(runner.oracle)
    with _recorded_samples(runner.oracle) as samples:
        run.advance(runner.steps)
    where = before.changed()
    if where is None and any(not np.array_equal(taken, copied) for taken, copied in samples):
        where = "take()"
    if where is not None:
        raise NotConforming(
            f"the solver writes into oracle.{where}", "Copy what you change: the data are shared"
        )


def check_global_random(solver: AnySolver, instance: AnyInstance) -> None:
    """Raise where a run changes the global random state of NumPy or Python."""
    runner = Runner(solver, instance)
    shared_checks.check_global_random(lambda: runner.run().read())


def check_silent(solver: AnySolver, instance: AnyInstance) -> None:
    """Raise where a run prints or warns."""
    runner = Runner(solver, instance)
    shared_checks.check_silent(lambda: runner.run().read())


def check_work(solver: AnySolver, instance: AnyInstance) -> None:
    """Raise where the steps, samples or flops counted are not those done.

    No count may fall, but for the flops of solvers with `reruns`: they are those of the last run,
    which may have converged sooner than the one before.
    """
    runner = Runner(solver, instance)
    run = runner.start()
    with _recorded_samples(runner.oracle) as samples:
        for count in runner.pieces():
            before = asdict(run.state.work)
            run.advance(count)
            _check_counts(run, before, count, sum(len(taken) for taken, _ in samples))
    if not run.state.work.flops > 0:
        raise NotConforming(
            f"work.flops is still 0 after {run.state.work.steps} steps",
            "Count additions and multiplications in `init` and `advance` by closed formulae "
            "(orthobench.contract.flops)",
        )


def _check_counts(run: Run, before: dict[str, int], count: int, taken: int) -> None:
    now = asdict(run.state.work)
    for name, value in now.items():
        if type(value) is not int:
            observed = f"work.{name} is a {type(value).__name__}, {value!r}"
            raise NotConforming(observed, "Count in Python integers: int(...)")
        if value < before[name] and not (name == "flops" and run.solver.reruns):
            observed = f"work.{name} falls from {before[name]} to {value}"
            raise NotConforming(observed, "Add to it: counts only grow")
    done = now["steps"] - before["steps"]
    stopped = run.state.status is not Status.RUNNING and done < count
    if done != count and not stopped:
        observed = f"advance({count}) counts {done} steps in work.steps"
        raise NotConforming(observed, "Add one for each step, and nothing in `init`")
    if hasattr(run.oracle, "take") and now["samples"] != taken:
        observed = f"work.samples is {now['samples']} where {taken} samples were taken"
        raise NotConforming(observed, "Add the number of samples that each step takes")


def check_nan(solver: AnySolver, instance: AnyInstance) -> None:
    """Raise where a run on data that are NaN does not end as failed.

    It does where the status is FAILED, the solution is not finite, or an `OrthobenchError` or a
    `numpy.linalg.LinAlgError` is raised: the harness records each as a failure. Samples are NaN
    from half of the steps on, other data from the start.
    """
    runner = Runner(solver, instance)
    remedy = (
        "Set state.status = Status.FAILED, with a sentence in state.reason, as soon as the "
        "iterate is not finite; `not (value <= bound)` catches NaN where `value > bound` does not"
    )
    streaming = solver.batch > 0
    with (
        nan_data(runner.oracle, streaming=streaming) as turn_to_nan,
        time_limit(NAN_SECONDS, remedy),
    ):
        try:
            run = _run_on_nan(runner, turn_to_nan)
            if run.state.status is Status.FAILED or not run.read().is_finite:
                return
        except (OrthobenchError, np.linalg.LinAlgError):
            return
    raise NotConforming(
        f"given data that are NaN throughout, it is {run.state.status.value} at step "
        f"{run.state.work.steps} with a finite solution",
        remedy,
    )


def _run_on_nan(runner: Runner, turn_to_nan: Callable[[], None]) -> Run:
    if runner.solver.batch:
        return runner.interrupted(lambda _: turn_to_nan())
    run = runner.start(before_init=turn_to_nan)
    run.advance(runner.halves()[1])
    return run


def check_parameters(solver: AnySolver, instance: AnyInstance) -> None:
    """Raise where a parameter allows wrong values."""
    del instance
    shared_checks.check_parameters(solver)


def check_recipe(solver: AnySolver, instance: AnyInstance) -> None:
    """Raise where the solver does not compare, hash and pickle by its parameters."""
    del instance
    shared_checks.check_recipe(solver)


@contextmanager
def _recorded_samples(oracle: Oracle) -> Iterator[list[tuple[Array, Array]]]:
    """Give a list that gets all samples taken from an oracle meanwhile, each with a copy."""
    taken: list[tuple[Array, Array]] = []
    if not hasattr(oracle, "take"):
        yield taken
        return
    original = oracle.take

    def take(count: int) -> Array:
        samples: Array = original(count)
        taken.append((samples, samples.copy()))
        return samples

    oracle.take = take
    try:
        yield taken
    finally:
        del oracle.take


RUNS = Check("runs", "a few steps run, and give a solution of the right shape", check_runs)
REPEATS = Check("repeats", "the same seed gives the same bits", check_repeats, (RUNS,))
WORK = Check("work", "steps, samples and flops are counted", check_work, (RUNS,))
IT_RUNS = (RUNS,)
IT_REPEATS = (RUNS, REPEATS)

CHECKS: tuple[Check, ...] = (
    RUNS,
    Check("orthonormal", "every solution satisfies the constraint", check_orthonormal, IT_RUNS),
    Check("fresh", "solutions are copies", check_fresh, IT_REPEATS),
    REPEATS,
    Check("chunking", "advance(a), advance(b) equals advance(a + b)", check_chunking, IT_REPEATS),
    Check("reading", "reading a solution changes nothing", check_reading, IT_REPEATS),
    Check("resumes", "a pickled run goes on the same", check_resumes, IT_REPEATS),
    Check("inputs", "the data of the oracle are left as they are", check_inputs, IT_RUNS),
    Check("random", "global random states are left as they are", check_global_random, IT_RUNS),
    Check("silent", "nothing is printed or warned of", check_silent, IT_RUNS),
    WORK,
    Check("flops", "the flops counted are within 5 % of those done", check_flops, (RUNS, WORK)),
    Check("nan", "data that are NaN end the run as failed", check_nan, IT_RUNS),
    Check("parameters", "wrong parameters are refused by name", check_parameters),
    Check("recipe", "it compares, hashes and pickles by its parameters", check_recipe),
)
"""Every check of a solver, in the order in which they are made."""

LIBRARIES = Check("libraries", "every array library gives the same", check_libraries, IT_RUNS)
"""A check of those that take arrays of every library."""


def checks(solver: AnySolver, plain: AnySolver | None = None) -> tuple[Check, ...]:
    """Return every check of a solver.

    Parameters
    ----------
    solver : Solver
    plain : Solver, optional
        The same method in plain NumPy, whose operations the check "flops" counts.
    """
    arrays_of_all = (LIBRARIES,) if isinstance(solver, ArraySolver) else ()
    summaries = SUMMARIES if isinstance(solver, SummarySolver) else ()
    all_of_it = (*CHECKS, *arrays_of_all, *summaries)
    if plain is None:
        return all_of_it
    counted = partial(check_flops, plain=plain)
    return tuple(replace(c, function=counted) if c.name == "flops" else c for c in all_of_it)
