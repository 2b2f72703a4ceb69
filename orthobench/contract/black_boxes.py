"""Black boxes: a function ``run(problem, steps, rng)`` is a solver, without state, work or status.

Each call has more steps and equal random numbers, and returns the point. A function that does not
read `steps` is called once. On a stream the steps are samples.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, make_dataclass
from functools import cache
from typing import Any, ClassVar, NoReturn

import numpy as np

from orthobench.contract.parameters import parameter, parameters_of, values_of
from orthobench.contract.problem import Oracle, Solution
from orthobench.contract.samples import SampleOracle
from orthobench.contract.solver import AnySolver, Solver, State, Status
from orthobench.errors import UsageError
from orthobench.tools.arrays import Array

SETTLED, ROUNDING = 16, 1e-12
"""A function has converged if this factor of steps changes the point by less than rounding."""

ALWAYS = ("n", "k", "start")
"""Attributes of `Oracle` that a black box sees of every problem."""


class SkipError(UsageError):
    """A solver skips a problem, for a reason."""


def skip(reason: str) -> NoReturn:
    """Skip this problem: for the first call of a black box; results show the reason."""
    raise SkipError(reason)


class View:
    """The view of an instance in a black box: `ALWAYS`, and the attributes that the oracle `shows`.

    Parameters
    ----------
    oracle : Oracle
    samples : ndarray, shape (steps, n), optional
        The samples of a stream so far, as ``X``.
    """

    def __init__(self, oracle: Oracle, samples: Array | None = None) -> None:
        self._oracle = oracle
        if samples is not None:
            self.X = samples

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # of pickle, before the oracle is set
            raise AttributeError(name)
        shown = [*ALWAYS, *self._oracle.shows, *vars(self)]
        if name not in shown:
            known = ", ".join(one for one in shown if not one.startswith("_"))
            raise AttributeError(f"the problem has no {name!r}; it has {known}")
        return getattr(self._oracle, name)


class WholeData(Oracle):
    """An oracle with attributes for black boxes."""

    @classmethod
    def __subclasshook__(cls, other: type) -> bool:
        return other is cls or bool(getattr(other, "shows", ()))


class Samples(Oracle):
    """A stream of samples without attributes for black boxes."""

    @classmethod
    def __subclasshook__(cls, other: type) -> bool:
        return other is cls or (issubclass(other, SampleOracle) and not other.shows)


@dataclass(slots=True, kw_only=True)
class BoxState(State):
    """The last point, the seed of all calls, and the samples of a stream so far.

    `since` is the number of steps since which the point is the same up to rounding.
    """

    seed: int
    solution: Solution
    since: int = 0
    samples: Array | None = None


class BlackBox(Solver[Oracle, BoxState]):
    """Base of the solvers that are functions; `black_box` makes them.

    Attributes
    ----------
    function : callable
    arguments : tuple of str
        Its arguments after the problem.
    others : tuple of type
        The solver of the same function for streams.
    """

    function: ClassVar[Callable[..., Any]]
    arguments: ClassVar[tuple[str, ...]] = ()
    others: ClassVar[tuple[type[AnySolver], ...]] = ()
    reruns = True

    def __reduce__(self) -> tuple[Any, ...]:
        values = {p.field: getattr(self, p.field) for p in parameters_of(type(self))}
        return _again, (type(self).function, bool(self.batch), values)

    def init(self, oracle: Oracle, rng: np.random.Generator) -> BoxState:
        """Begin at the start of all solvers."""
        start = Solution(np.array(oracle.start).reshape(-1, oracle.k))
        return BoxState(seed=int(rng.integers(2**63)), solution=start)

    def advance(self, oracle: Oracle, state: BoxState, count: int) -> None:
        """Call the function with `count` more steps than the last time."""
        if self.batch:
            self._take(oracle, state, count)
        steps = state.work.steps + count
        found = self._called(oracle, state, steps)
        if not np.allclose(found.point, state.solution.point, rtol=0, atol=ROUNDING):
            state.since = steps
        elif steps >= SETTLED * max(1, state.since):
            state.status = Status.CONVERGED
        state.solution = found
        if self.converges:
            state.status, steps = Status.COMPLETE, 1
        state.work.steps = steps

    def _take(self, oracle: Any, state: BoxState, count: int) -> None:
        taken = oracle.take(count)
        before = [] if state.samples is None else [state.samples]
        state.samples = np.concatenate([*before, taken])
        state.work.samples += len(taken)

    def _called(self, oracle: Oracle, state: BoxState, steps: int) -> Solution:
        given = {"steps": steps, "rng": np.random.default_rng(state.seed), **values_of(self)}
        arguments = {name: given[name] for name in self.arguments}
        found = type(self).function(View(oracle, state.samples), **arguments)
        if isinstance(found, Solution):
            return deepcopy(found)
        parts = found if isinstance(found, tuple) else (found,)
        point, *rest = (np.array(part, dtype=np.float64) for part in parts)
        shape = (oracle.n, oracle.k)
        if point.ndim == 3:  # a stack: one below another
            point = point.reshape(-1, oracle.k)
        if point.shape != shape:
            wrong = f"an array {np.shape(found)}" if point.ndim else f"a {type(found).__name__}"
            raise UsageError(f"{self.name} returned {wrong}: return the point (n, k) = {shape}")
        weights, core = [*rest, None, None][:2]
        return Solution(point, weights, core)

    def solution(self, state: BoxState) -> Solution:
        """Return a copy of the last point."""
        return deepcopy(state.solution)


def black_box(function: Any) -> type[BlackBox]:
    """Return the class of solvers that call a function, named after it, or after its file if `run`.

    Constants ``packages`` and ``install`` of its file name distributions, and how to install them.

    Parameters
    ----------
    function : callable
        ``run(problem, steps, rng)``; `steps` and `rng` are optional, further arguments with
        defaults are parameters. It returns the point (n, k), a tuple of point, weights and core,
        or a `Solution`.

    Raises
    ------
    UsageError
        If it takes other arguments.
    """
    return _made(function, False)


@cache
def _made(function: Any, streams: bool, /) -> type[BlackBox]:
    module, others = function.__module__, [*inspect.signature(function).parameters.values()][1:]
    own = getattr(inspect.getmodule(function), "__dict__", {})
    title = module if function.__name__ == "run" and module != "__main__" else function.__name__
    packages = own.get("packages", ())
    attributes = {
        "__module__": module,
        "__qualname__": function.__qualname__,
        "__doc__": function.__doc__,
        "name": title.strip("_").replace("_", "-"),
        "function": staticmethod(function),
        "arguments": tuple(one.name for one in others),
        "needs": Samples if streams else WholeData,
        "batch": int(streams),
        "converges": not streams and not _reads(function, "steps"),
        "packages": (packages,) if isinstance(packages, str) else tuple(packages),
        "install": str(own.get("install", "")),
        "others": () if streams else (_made(function, True),),
        "homes": tuple({module, __name__} - {"__main__"}),
    }
    fields = [_field(function, one) for one in others if one.name not in ("steps", "rng")]
    made: type[BlackBox] = make_dataclass(
        function.__name__, fields, bases=(BlackBox,), namespace=attributes, frozen=True
    )
    return made


def _field(function: Any, argument: inspect.Parameter) -> tuple[str, type, Any]:
    """Return the field of a parameter; its suffix keeps it apart from methods."""
    name, default = argument.name, argument.default
    if type(default) not in (bool, int, float, str):
        raise UsageError(
            f"{function.__name__} has the argument {name!r}: write run(problem, steps, rng), and "
            "give further arguments a number or a text by default"
        )
    declared = parameter(default, help=f"argument of {function.__name__}", name=name)
    return f"{name}_", type(default), declared


def _reads(function: Any, name: str) -> bool:
    """Return whether a function reads one of its arguments."""
    if name not in inspect.signature(function).parameters:
        return False
    code = getattr(function, "__code__", None)
    read = (i.argval for i in dis.get_instructions(code)) if code else iter([name])
    return any(one == name or (isinstance(one, tuple) and name in one) for one in read)


def _again(function: Any, streams: bool, values: dict[str, Any]) -> BlackBox:
    return _made(function, streams)(**values)
