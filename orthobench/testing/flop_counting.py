"""The check that a solver counts the flops that it does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import packages_distributions
from types import CodeType, FrameType
from typing import Any

import numpy as np

from orthobench.contract.problem import AnyInstance, Oracle
from orthobench.contract.solver import AnySolver
from orthobench.testing.check import NotCheckable, require
from orthobench.testing.counting_arrays import (
    CountingArray,
    Tally,
    UncountableError,
    counted,
    counting,
)
from orthobench.testing.short_runs import Run, Runner
from orthobench.tools.object_graph import arrays

TOLERANCE = 0.05
"""Relative difference of `Work.flops` from the operations done."""


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
        with (
            counting() as tally,
            _counting_oracle(runner.oracle, tally) as begin_counting,
            _named_modules() as modules,
        ):
            run = runner.start(before_init=begin_counting)
            run.advance(runner.steps)
            _refuse_plain_arrays(run)
            done = tally.flops
            run.read()
    except (UncountableError, Exception) as error:
        if not (tally.refusal or isinstance(error, UncountableError)):
            raise
        raise NotCheckable(
            f"{tally.refusal or error}; pass plain=, the same method in plain NumPy"
        ) from error
    work, total = run.state.work, tally.flops
    homes = packages_distributions()
    called = {one.lower() for module in modules for one in homes.get(module, ())}
    others = [name for name in (plain or solver).packages if name.lower() in called]
    if others and total < work.flops:
        raise NotCheckable(f"its arithmetic is done in {', '.join(others)}; pass plain=, the same "
                           "method in plain NumPy")  # fmt: skip
    if not work.flops:
        raise NotCheckable("it counts no flops, so that results show none")
    if plain is not None:
        work = Runner(solver, instance).run(work.steps).state.work
    require(
        any(abs(work.flops - count) <= TOLERANCE * count for count in (done, total)),
        f"work.flops is {work.flops} after {work.steps} steps, {done} operations were counted, "
        f"and {total - done} in reading the solution "
        f"(n = {runner.oracle.n}, k = {runner.oracle.k})",
        "Count each addition, multiplication, division and square root "
        "(orthobench.contract.flops); if the formulae give leading terms only, check on a larger "
        "instance; if other code than NumPy's does some, pass plain=, the same method in NumPy",
    )


@contextmanager
def _named_modules() -> Iterator[set[str]]:
    """Yield a set that gets the packages of code that runs, and of all that it names.

    Compiled code is not seen as it runs, but its caller names it.
    """
    found, seen = set[str](), set[CodeType]()

    def note(frame: FrameType, event: str, _: object) -> None:
        code, known = frame.f_code, frame.f_globals
        if event == "call" and code not in seen:
            seen.add(code)
            named = [known[name] for name in code.co_names if name in known]
            homes = [getattr(one, "__module__", None) or getattr(one, "__name__", "")
                     for one in named]  # fmt: skip
            found.update(str(home).partition(".")[0]
                         for home in (known.get("__name__"), *homes, *code.co_names))  # fmt: skip

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(before)


def _refuse_plain_arrays(run: Run) -> None:
    """Refuse a state with arrays that do not count."""
    for path, array in arrays(run.state).items():
        if array.dtype.kind == "f" and array.size and not isinstance(array, CountingArray):
            raise UncountableError(f"state{path} comes from code that NumPy does not see")


def _refuse_functions(oracle: Oracle) -> None:
    for name, value in vars(oracle).items():
        if callable(value) and not isinstance(value, type):
            raise NotCheckable(f"oracle.{name} is a function, whose operations are the problem's")


@contextmanager
def _counting_oracle(oracle: Oracle, tally: Tally) -> Iterator[Callable[[], None]]:
    """Yield a function after which the arrays of an oracle count."""
    attributes, cls = dict(vars(oracle)), type(oracle)

    def begin_counting() -> None:
        for name, value in vars(oracle).items():
            if isinstance(value, np.ndarray):
                setattr(oracle, name, counted(value))
        for name in ("prepare", "take"):
            if hasattr(oracle, name):
                setattr(oracle, name, _free_of_charge(getattr(oracle, name), tally))
        oracle.__class__ = _with_counted_properties(cls, tally)
        tally.flops = 0

    try:
        yield begin_counting
    finally:
        oracle.__class__ = cls
        vars(oracle).clear()
        vars(oracle).update(attributes)


def _free_of_charge(method: Callable[[int], Any], tally: Tally) -> Callable[[int], Any]:
    """Return a method that is not counted, but its result is."""

    def call(count: int) -> Any:
        with tally.pause():
            return counted(method(count))

    return call


def _with_counted_properties(cls: type[Oracle], tally: Tally) -> type[Oracle]:
    """Return a class whose properties count ``forming_flops`` when first read."""
    formed: set[str] = set()

    def counted_property(name: str, form: Callable[[Any], Any]) -> property:
        def get(oracle: Any) -> Any:
            with tally.pause():
                value = counted(form(oracle))
            if isinstance(value, np.ndarray) and name not in formed:
                formed.add(name)
                tally.flops += getattr(oracle, "forming_flops", 0)
            return value

        return property(get)

    properties = {
        name: counted_property(name, member.fget)
        for name in dir(cls)
        if isinstance(member := getattr(cls, name), property) and member.fget
    }
    return type(cls.__name__, (cls,), properties)
