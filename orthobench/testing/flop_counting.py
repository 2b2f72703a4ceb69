"""The check that a solver counts the flops that it does."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import packages_distributions
from types import CodeType, FrameType
from typing import Any

from orthobench.contract.problem import AnyInstance, Oracle
from orthobench.contract.solver import AnySolver
from orthobench.testing.check import NotCheckable, require
from orthobench.testing.counting_arrays import CountingArray, UncountableError, counting_oracle
from orthobench.testing.short_runs import Run, Runner
from orthobench.tools.object_graph import arrays

TOLERANCE = 0.05
"""Relative difference of `Work.flops` from the operations done."""

_homes = cache(packages_distributions)

PLAIN = "pass plain= to check_flops, the same method in plain NumPy"


def check_flops(solver: AnySolver, instance: AnyInstance, plain: AnySolver | None = None) -> None:
    """Raise unless `Work.flops` is within 5 % of the operations that a solver does.

    Samples cost nothing, a tensor that the oracle forms its ``forming_flops``. Reading the solution
    may be included or not.

    Parameters
    ----------
    solver : Solver
    instance : Instance
        Large enough that lower-order terms do not matter.
    plain : Solver, optional
        The same method in plain NumPy, for compiled ones.

    Raises
    ------
    NotConforming
    NotCheckable
        If NumPy does not see the operations.
    """
    runner = Runner(plain or solver, instance, streams_of=solver)
    _refuse_functions(runner.oracle)
    runner.run(1)  # imports what the solver needs, which must not happen while counting
    try:
        with counting_oracle(runner.oracle) as (tally, begin), _named() as named:
            run = runner.start(before_init=begin)
            run.advance(runner.steps)
            _refuse_plain_arrays(run)
            done = tally.flops
            run.read()
    except (UncountableError, Exception) as error:  # which the same run without counting did not
        raise NotCheckable(f"{error}; {PLAIN}") from error
    work, total = run.state.work, tally.flops
    homes = _homes()
    called = {one.lower() for package in named for one in homes.get(package, ())}
    others = [one for one in ("scipy", *(plain or solver).packages) if one.lower() in called]
    if plain is not None:
        work = Runner(solver, instance).run(work.steps).state.work
    if not work.flops:
        raise NotCheckable("it counts no flops, so that results show none")
    right = any(abs(work.flops - count) <= TOLERANCE * count for count in (done, total))
    if others and not right:
        raise NotCheckable(f"its arithmetic is done in {', '.join(others)}; {PLAIN}")
    require(
        right,
        f"work.flops is {work.flops} after {work.steps} steps, {done} operations were counted, "
        f"and {total - done} in reading the solution",
        "Count each addition, product, division and root (orthobench.contract.flops); for formulae "
        f"of leading terms pass a larger instance; for other code than NumPy's, {PLAIN}",
    )


@contextmanager
def _named() -> Iterator[set[str]]:
    """Yield a set that gets the packages of code that runs, and of all that it names.

    Compiled code is not seen as it runs, but its caller names it.
    """
    found, seen = set[str](), set[CodeType]()

    def note(frame: FrameType, event: str, _: object) -> None:
        code, known = frame.f_code, frame.f_globals
        if event == "call" and code not in seen:
            seen.add(code)
            found.update(_package(known.get(name, name)) for name in ("__name__", *code.co_names))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(before)


def _package(item: Any) -> str:
    """Return the top package of a module, a class, a function or a name."""
    home = getattr(item, "__module__", None) or getattr(item, "__name__", item)
    return home.partition(".")[0] if isinstance(home, str) else ""


def _refuse_plain_arrays(run: Run) -> None:
    """Refuse a state with arrays that do not count."""
    for path, array in arrays(run.state).items():
        if array.dtype.kind == "f" and array.size and not isinstance(array, CountingArray):
            raise UncountableError(f"state{path} comes from code that NumPy does not see")


def _refuse_functions(oracle: Oracle) -> None:
    for name, value in vars(oracle).items():
        if callable(value) and not isinstance(value, type):
            raise NotCheckable(f"oracle.{name} is a function, whose operations are the problem's")
