"""The checks of a solver, each on a small instance."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial

import numpy as np

from orthobench.contract.problem import AnyInstance, Oracle
from orthobench.contract.solution import Solution
from orthobench.contract.solver import AnySolver, State, Status
from orthobench.errors import OrthobenchError
from orthobench.harness.judging import FEASIBLE
from orthobench.testing import parameter_checks, side_effects
from orthobench.testing.counting import check_flops
from orthobench.testing.findings import Check, NotConforming
from orthobench.testing.patience import patience
from orthobench.testing.poison import poisoned
from orthobench.testing.reaching import Snapshot, arrays
from orthobench.testing.runs import Bench, Run, difference, unequal
from orthobench.tools.arrays import Array

SECONDS = 30.0
"""How long a run on data that are not numbers may take: a few steps on a small instance."""


def check_runs(solver: AnySolver, instance: AnyInstance) -> None:
    """Raise where a run of a few steps raises, or gives what is no solution of this instance."""
    bench = Bench(solver, instance)
    run = bench.begin()
    if not isinstance(run.state, State):
        raise NotConforming(
            f"init returns a {type(run.state).__name__}", "Return a State, or what derives from it"
        )
    run.advance(bench.steps)
    found = run.read()
    if not isinstance(found, Solution):
        raise NotConforming(
            f"solution returns a {type(found).__name__}",
            "Return an orthobench.contract.solution.Solution",
        )
    shape = (bench.oracle.n, bench.oracle.k)
    if found.point.shape != shape or found.point.dtype != np.float64:
        seen = f"the point is {found.point.dtype} of shape {found.point.shape}"
        raise NotConforming(seen, f"Return float64 of shape (n, k) = {shape}")


def check_orthonormal(solver: AnySolver, instance: AnyInstance) -> None:
    """Raise where a solution violates the constraint, at any step from the start on."""
    bench = Bench(solver, instance)
    run = bench.begin()
    for count in (0, *bench.pieces()):
        run.advance(count)
        violation = instance.violation(run.read())
        if not violation <= FEASIBLE:
            raise NotConforming(
                f"the solution at step {run.state.work.steps} violates the constraint by "
                f"{violation:.2g}; {FEASIBLE:g} is allowed",
                "Orthonormalize in `solution`, or hold the iterate orthonormal in double "
                "precision: orthobench.tools.geometry.orthonormalize, polar",
            )


def check_fresh(solver: AnySolver, instance: AnyInstance) -> None:
    """Raise where a solution returned before changes later, or shares memory with the state."""
    bench = Bench(solver, instance)
    first, second = bench.halves()
    mend = "Return copies: Solution(state.U.copy())"
    run = bench.begin()
    run.advance(first)
    returned = solver.solution(run.state)
    before = copy.deepcopy(returned)
    run.advance(second)
    if where := difference(before, returned):
        raise NotConforming(f"a solution changes when the solver advances: {where}", mend)
    disturbed = bench.begin()
    disturbed.advance(first)
    _scribble(solver.solution(disturbed.state))
    disturbed.advance(second)
    if where := unequal(run, disturbed):
        raise NotConforming(f"writing into a solution changes what comes after: {where}", mend)


def _scribble(solution: Solution) -> None:
    for array in arrays(solution).values():
        if array.flags.writeable:
            array.fill(0)


def check_repeats(solver: AnySolver, instance: AnyInstance) -> None:
    """Raise where two runs with the same random streams differ in any bit."""
    bench = Bench(solver, instance)
    runs = [_through(bench, bench.steps) for _ in range(2)]
    if how := unequal(*runs):
        raise NotConforming(
            f"two runs from the same seed differ after {bench.steps} steps: {how}",
            "Draw from the generator given to `init` alone, keep nothing in the solver or its "
            "class from run to run, and let no sum depend on threads or on the order of a set",
        )


def check_chunking(solver: AnySolver, instance: AnyInstance) -> None:
    """Raise where advance(a) then advance(b) leaves other bits than advance(a + b)."""
    bench = Bench(solver, instance)
    if how := unequal(_through(bench, bench.steps), _through(bench, *bench.pieces())):
        calls = " then ".join(f"advance({count})" for count in bench.pieces())
        raise NotConforming(
            f"{calls} differs from advance({bench.steps}): {how}",
            "Nothing may depend on where a call of `advance` begins or ends: put blocks, "
            "schedules and orthonormalizations at fixed numbers of steps, counted in the state",
        )


def check_reading(solver: AnySolver, instance: AnyInstance) -> None:
    """Raise where reading a solution changes what comes after."""
    bench = Bench(solver, instance)
    first, second = bench.halves()
    run = bench.begin()
    run.advance(first)
    run.read()
    run.read()
    run.advance(second)
    if how := unequal(run, _through(bench, first, second)):
        raise NotConforming(
            f"a run whose solution is read at step {first} differs in the end from one whose is "
            f"not: {how}",
            "`solution` must leave the state as it is; draw nothing from the state's generator",
        )


def check_resumes(solver: AnySolver, instance: AnyInstance) -> None:
    """Raise where a state that has been pickled in between goes on differently."""
    bench = Bench(solver, instance)
    first, second = bench.halves()
    run = bench.begin()
    run.advance(first)
    mend = "Keep arrays, numbers and generators in the state, no functions, files or kernels"
    try:
        run.state = pickle.loads(pickle.dumps(run.state))  # noqa: S301 - of our own making
    except Exception as error:
        raise NotConforming(f"the state does not pickle: {error!r}", mend) from error
    run.advance(second)
    if how := unequal(run, _through(bench, first, second)):
        raise NotConforming(
            f"a run that is pickled and resumed at step {first} differs from one that is not: "
            f"{how}",
            "Everything that a run depends on must be in the pickle of the state",
        )


def check_inputs(solver: AnySolver, instance: AnyInstance) -> None:
    """Raise where a run writes into the oracle's arrays, or into the samples that it took."""
    bench = Bench(solver, instance)
    run = bench.begin()
    held = Snapshot(bench.oracle)
    with _taken(bench.oracle) as samples:
        run.advance(bench.steps)
    where = held.changed()
    if where is None and any(not np.array_equal(now, before) for now, before in samples):
        where = "take()"
    if where is not None:
        raise NotConforming(
            f"the solver writes into oracle.{where}", "Copy what you change: the data are shared"
        )


def check_global_random(solver: AnySolver, instance: AnyInstance) -> None:
    """Raise where a run changes the global random state of NumPy or Python."""
    bench = Bench(solver, instance)
    side_effects.check_global_random(lambda: _through(bench, bench.steps).read())


def check_silent(solver: AnySolver, instance: AnyInstance) -> None:
    """Raise where a run prints or warns."""
    bench = Bench(solver, instance)
    side_effects.check_silent(lambda: _through(bench, bench.steps).read())


def check_work(solver: AnySolver, instance: AnyInstance) -> None:
    """Raise where the counts of steps, samples or flops are not what was done.

    None may fall; but the flops of solvers with `reruns` are those of the last run, which may
    have ended sooner than the one before.
    """
    bench = Bench(solver, instance)
    run = bench.begin()
    with _taken(bench.oracle) as samples:
        for count in bench.pieces():
            before = asdict(run.state.work)
            run.advance(count)
            _check_counts(run, before, count, sum(len(now) for now, _ in samples))
    if not run.state.work.flops > 0:
        raise NotConforming(
            f"work.flops is still 0 after {run.state.work.steps} steps",
            "Count additions and multiplications in `init` and `advance` by closed formulae "
            "(orthobench.tools.flops)",
        )


def _check_counts(run: Run, before: dict[str, int], count: int, taken: int) -> None:
    now = asdict(run.state.work)
    for name, value in now.items():
        if type(value) is not int:
            seen = f"work.{name} is a {type(value).__name__}, {value!r}"
            raise NotConforming(seen, "Count in Python integers: int(...)")
        if value < before[name] and not (name == "flops" and run.solver.reruns):
            seen = f"work.{name} falls from {before[name]} to {value}"
            raise NotConforming(seen, "Add to it; counts only grow")
    done = now["steps"] - before["steps"]
    short = run.state.status is not Status.RUNNING and done < count
    if done != count and not short:
        seen = f"advance({count}) counts {done} steps in work.steps"
        raise NotConforming(seen, "Add one for each step, and nothing in `init`")
    if hasattr(run.oracle, "take") and now["samples"] != taken:
        seen = f"work.samples is {now['samples']} where {taken} were taken"
        raise NotConforming(seen, "Add the number of samples that each step takes")


def check_nan(solver: AnySolver, instance: AnyInstance) -> None:
    """Raise where a run on data that are not numbers does not end as failed.

    It does where the status is FAILED, the solution is not finite, or an error says so that is
    meant for users or comes from linear algebra: the harness records each of them as a failure.
    A stream gives numbers for half of the steps; other data are NaN from the start.
    """
    bench = Bench(solver, instance)
    mend = (
        "Set state.status = Status.FAILED, with a sentence in state.reason, as soon as the "
        "iterate is not finite; `not (value <= bound)` catches NaN where `value > bound` does not"
    )
    with poisoned(bench.oracle, streaming=solver.batch > 0) as poison, patience(SECONDS, mend):
        try:
            run = _poisoned_run(bench, poison)
            if run.state.status is Status.FAILED or not _finite(run.read()):
                return
        except (OrthobenchError, np.linalg.LinAlgError):
            return
    end = f"is {run.state.status.value} at step {run.state.work.steps} with a finite solution"
    raise NotConforming(f"given data that are NaN throughout, it {end}", mend)


def _poisoned_run(bench: Bench, poison: Callable[[], None]) -> Run:
    first, second = bench.halves()
    if not bench.solver.batch:
        run = bench.begin(before_init=poison)
    else:
        run = bench.begin()
        run.advance(first)
        poison()
    run.advance(second)
    return run


def _finite(solution: Solution) -> bool:
    parts: tuple[Array | None, ...] = (solution.point, solution.weights, solution.core)
    return all(bool(np.isfinite(part).all()) for part in parts if part is not None)


def check_parameters(solver: AnySolver, instance: AnyInstance) -> None:
    """Raise where a parameter takes values that make no sense."""
    del instance
    parameter_checks.check_parameters(solver)


def check_recipe(solver: AnySolver, instance: AnyInstance) -> None:
    """Raise where the settings cannot be compared, hashed and pickled."""
    del instance
    parameter_checks.check_recipe(solver)


def _through(bench: Bench, *counts: int) -> Run:
    run = bench.begin()
    for count in counts:
        run.advance(count)
    return run


@contextmanager
def _taken(oracle: Oracle) -> Iterator[list[tuple[Array, Array]]]:
    """Give a list to which the samples taken from an oracle are added, each with a copy."""
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
FIRST = (RUNS,)
SAME = (RUNS, REPEATS)

CHECKS: tuple[Check, ...] = (
    RUNS,
    Check("orthonormal", "every solution keeps to the constraint", check_orthonormal, FIRST),
    Check("fresh", "solutions are copies", check_fresh, SAME),
    REPEATS,
    Check("chunking", "advance(a), advance(b) equals advance(a + b)", check_chunking, SAME),
    Check("reading", "reading a solution changes nothing", check_reading, SAME),
    Check("resumes", "the state pickles, and goes on from there", check_resumes, SAME),
    Check("inputs", "the oracle's data are left as they are", check_inputs, FIRST),
    Check("random", "global random states are left as they are", check_global_random, FIRST),
    Check("silent", "nothing is printed, nothing warned of", check_silent, FIRST),
    WORK,
    Check("flops", "flops are within 5 % of those counted", check_flops, (RUNS, WORK)),
    Check("nan", "data that are not numbers end the run as failed", check_nan, FIRST),
    Check("parameters", "wrong parameters are refused by name", check_parameters),
    Check("recipe", "settings compare, hash and pickle", check_recipe),
)
"""Every check of a solver, in the order in which they are made."""


def checks(plain: AnySolver | None = None) -> tuple[Check, ...]:
    """Return every check; where `plain` is given, flops are those of its operations."""
    if plain is None:
        return CHECKS
    counting = partial(check_flops, plain=plain)
    return tuple(replace(c, function=counting) if c.name == "flops" else c for c in CHECKS)
