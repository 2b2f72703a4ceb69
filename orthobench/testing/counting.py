"""Whether the flops that a solver reports are those that it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from orthobench.contract.problem import AnyInstance, Oracle
from orthobench.contract.solver import AnySolver
from orthobench.testing.counted import Counted, Escaped, Tally, counted, counting
from orthobench.testing.findings import NotCheckable, NotConforming
from orthobench.testing.reaching import arrays
from orthobench.testing.runs import Bench, Run

TOLERANCE = 0.05
"""Relative difference of the flops reported from those counted."""


def check_flops(solver: AnySolver, instance: AnyInstance, plain: AnySolver | None = None) -> None:
    """Raise where `Work.flops` is not within 5 % of the operations counted.

    They are counted on arrays of NumPy that count (`orthobench.testing.counted`), with reading
    the solution once or without: a method that only collects, and solves when it is read, counts
    that. What an oracle does is not the solver's: taking samples counts nothing, and forming a
    tensor what the oracle says, its `forming`.

    Parameters
    ----------
    solver : Solver
    instance : Instance
        Large enough where the formulae of the solver leave lower-order terms out.
    plain : Solver, optional
        The same method in plain NumPy, one step for one step, whose operations are counted in
        the place of those of `solver`: for methods whose kernels are compiled, or do less than
        the method as its paper states it.

    Raises
    ------
    NotConforming
    NotCheckable
        Where the arithmetic is done where NumPy does not see it: in compiled kernels, in SciPy,
        or in functions that the oracle brings.
    """
    bench = Bench(plain or solver, instance, streams_of=solver)
    _refuse_functions(bench.oracle)
    bench.begin().advance(1)  # imports what it needs, which must not be done while counting
    steps, declared, done, read = _counts(bench)
    if plain is not None:
        declared = _declared(solver, instance, steps)
    if any(abs(declared - count) <= TOLERANCE * count for count in (done, done + read)):
        return
    raise NotConforming(
        f"work.flops is {declared} after {steps} steps where {done} were counted, and {read} in "
        f"reading the solution (n = {bench.oracle.n}, k = {bench.oracle.k})",
        "Count each addition, multiplication, division and square root "
        "(orthobench.contract.flops); where the formulae give leading terms only, check on a "
        "larger instance",
    )


def _counts(bench: Bench) -> tuple[int, int, int, int]:
    """Return the steps of a run, the flops that it declares, those done, and those of reading."""
    try:
        with counting() as tally, _counting_oracle(bench.oracle) as wrap:
            run = bench.begin(before_init=lambda: wrap(tally))
            run.advance(bench.steps)
            _refuse_foreign(run)
            done = tally.flops
            run.read()
            return run.state.work.steps, run.state.work.flops, done, tally.flops - done
    except Escaped as where:
        raise NotCheckable(f"{where}; pass plain=, the same method in plain NumPy") from where


def _refuse_foreign(run: Run) -> None:
    """Refuse a state with arrays that do not count: what they come from was not counted."""
    for place, array in arrays(run.state).items():
        if array.dtype.kind == "f" and array.size and not isinstance(array, Counted):
            raise Escaped(f"state{place} comes from code that NumPy does not see")


def _declared(solver: AnySolver, instance: AnyInstance, steps: int) -> int:
    run = Bench(solver, instance).begin()
    run.advance(steps)
    return run.state.work.flops


def _refuse_functions(oracle: Oracle) -> None:
    for name, value in vars(oracle).items():
        if callable(value) and not isinstance(value, type):
            raise NotCheckable(
                f"oracle.{name} is a function, whose operations are the problem's, not the solver's"
            )


def _uncounted(method: Callable[[int], Any], tally: Tally) -> Callable[[int], Any]:
    """Return a method whose own work is not counted, and whose result counts."""

    def call(count: int) -> Any:
        with tally.pause():
            return counted(method(count))

    return call


def _priced(cls: type[Oracle], tally: Tally) -> type[Oracle]:
    """Return a class of oracles whose arrays, formed when looked at, count as `forming` says."""
    looked: list[str] = []

    def pricing(name: str, form: Callable[[Any], Any]) -> property:
        def get(oracle: Any) -> Any:
            with tally.pause():
                formed = counted(form(oracle))
            if isinstance(formed, np.ndarray) and name not in looked:
                looked.append(name)
                tally.flops += getattr(oracle, "forming", 0)
            return formed

        return property(get)

    held = ((name, getattr(cls, name)) for name in dir(cls))
    formed = {n: pricing(n, p.fget) for n, p in held if isinstance(p, property) and p.fget}
    return type(cls.__name__, (cls,), formed)


@contextmanager
def _counting_oracle(oracle: Oracle) -> Iterator[Callable[[Tally], None]]:
    """Give a function that makes the oracle's arrays count from then on, until the end."""
    held, cls = dict(vars(oracle)), type(oracle)

    def wrap(tally: Tally) -> None:
        for name, value in vars(oracle).items():
            if isinstance(value, np.ndarray):
                setattr(oracle, name, counted(value))
        for name in ("prepare", "take"):
            if hasattr(oracle, name):
                setattr(oracle, name, _uncounted(getattr(oracle, name), tally))
        oracle.__class__ = _priced(cls, tally)
        tally.flops = 0

    try:
        yield wrap
    finally:
        oracle.__class__ = cls
        vars(oracle).clear()
        vars(oracle).update(held)
