"""The check that the flops which a solver counts are those that it does: `check_flops`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from orthobench.contract.problem import AnyInstance, Oracle
from orthobench.contract.solver import AnySolver
from orthobench.testing.check import NotCheckable, NotConforming
from orthobench.testing.counting_array import (
    CountingArray,
    Tally,
    UncountableError,
    counted,
    counting,
)
from orthobench.testing.object_graph import arrays
from orthobench.testing.short_runs import Run, Runner

TOLERANCE = 0.05
"""Relative difference of `Work.flops` from the operations done."""


def check_flops(solver: AnySolver, instance: AnyInstance, plain: AnySolver | None = None) -> None:
    """Raise where `Work.flops` is not within 5 % of the operations that a solver does.

    The operations are counted while a short run works on NumPy arrays that count them. Reading the
    solution once may be included or not: a method that collects data, and solves when it is read,
    counts that. The work of the oracle is not the solver's: taking samples counts nothing, and
    forming a tensor counts what the oracle says, its ``forming_flops``.

    Parameters
    ----------
    solver : Solver
    instance : Instance
        Large enough that lower-order terms do not matter, where the solver's formulae omit them.
    plain : Solver, optional
        The same method in plain NumPy, one step for one step, whose operations are counted in
        place of those of `solver`. For methods whose kernels are compiled, or which do less than
        the method as its paper states it.

    Raises
    ------
    NotConforming
    NotCheckable
        Where NumPy does not see the operations: in compiled kernels, in SciPy, or in functions of
        the oracle.
    """
    runner = Runner(plain or solver, instance, streams_of=solver)
    _refuse_functions(runner.oracle)
    runner.run(1)  # imports what the solver needs, which must not happen while counting
    flops = _count(runner)
    reported = flops.reported
    if plain is not None:
        reported = Runner(solver, instance).run(flops.steps).state.work.flops
    exact = (flops.done, flops.done + flops.reading)
    if any(abs(reported - count) <= TOLERANCE * count for count in exact):
        return
    raise NotConforming(
        f"work.flops is {reported} after {flops.steps} steps where {flops.done} operations were "
        f"done, and {flops.reading} in reading the solution "
        f"(n = {runner.oracle.n}, k = {runner.oracle.k})",
        "Count each addition, multiplication, division and square root "
        "(orthobench.contract.flops); where the formulae give leading terms only, check on a "
        "larger instance",
    )


@dataclass(frozen=True)
class _Flops:
    """The flops of a run: those reported, those done, and those done in reading the solution."""

    steps: int
    reported: int
    done: int
    reading: int


def _count(runner: Runner) -> _Flops:
    try:
        with counting() as tally, _counting_oracle(runner.oracle, tally) as begin_counting:
            run = runner.start(before_init=begin_counting)
            run.advance(runner.steps)
            _refuse_plain_arrays(run)
            done = tally.flops
            run.read()
            work = run.state.work
            return _Flops(work.steps, work.flops, done, tally.flops - done)
    except UncountableError as reason:
        raise NotCheckable(f"{reason}; pass plain=, the same method in plain NumPy") from reason


def _refuse_plain_arrays(run: Run) -> None:
    """Refuse a state with arrays that do not count: whatever made them was not counted."""
    for path, array in arrays(run.state).items():
        if array.dtype.kind == "f" and array.size and not isinstance(array, CountingArray):
            raise UncountableError(f"state{path} comes from code that NumPy does not see")


def _refuse_functions(oracle: Oracle) -> None:
    for name, value in vars(oracle).items():
        if callable(value) and not isinstance(value, type):
            raise NotCheckable(
                f"oracle.{name} is a function, whose operations are the problem's, not the solver's"
            )


@contextmanager
def _counting_oracle(oracle: Oracle, tally: Tally) -> Iterator[Callable[[], None]]:
    """Give a function from whose call on the arrays of an oracle count; restore it at the end."""
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
    """Return a method whose own operations are not counted, and whose result counts."""

    def call(count: int) -> Any:
        with tally.pause():
            return counted(method(count))

    return call


def _with_counted_properties(cls: type[Oracle], tally: Tally) -> type[Oracle]:
    """Return a class of oracles whose properties count their ``forming_flops`` when first read."""
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

    members = ((name, getattr(cls, name)) for name in dir(cls))
    properties = {
        name: counted_property(name, member.fget)
        for name, member in members
        if isinstance(member, property) and member.fget
    }
    return type(cls.__name__, (cls,), properties)
