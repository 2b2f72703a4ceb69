"""Messages between the process of a solver, the one that judges it, and the executor.

What the solver's process sends is read as data: it cannot make the other process run anything.
"""

from __future__ import annotations

import pickle
import sys
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from typing import Any, TypeAlias

from orthobench.contract.problem import Solution
from orthobench.contract.solver import Work
from orthobench.harness.executors.transfer import PackedOracle
from orthobench.harness.identity import Streams
from orthobench.harness.stopping import Budget, RunStatus, Termination
from orthobench.harness.trace import Checkpoint
from orthobench.tools.arrays import Array


@dataclass(frozen=True)
class Start:
    """To the solver: run.

    Attributes
    ----------
    packed_oracle : PackedOracle, optional
        The oracle; None where it is the one that was sent last.
    solver : bytes
        Its pickle.
    budget : Budget
    streams : Streams
    threads : int
        BLAS threads.
    target : bool
        Whether to ask at checkpoints whether the run is over.
    measure : str
        What to measure beside time, or nothing.
    """

    packed_oracle: PackedOracle | None
    solver: bytes
    budget: Budget
    streams: Streams
    threads: int
    target: bool
    measure: str = ""


@dataclass(frozen=True)
class Rows:
    """To the solver: samples, or None where there are no more; or why they cannot be read."""

    rows: Array | None
    error: Exception | None = None


@dataclass(frozen=True)
class Answer:
    """To the solver: why the run stops at the point that was sent last, or None."""

    stop: Termination | None


@dataclass(frozen=True)
class Started:
    """From the solver: the warm-up is over, and the run begins."""


@dataclass(frozen=True)
class SampleRequest:
    """From the solver: send samples of a source; `first` where they begin anew."""

    source: int
    first: bool


@dataclass(frozen=True)
class Point:
    """A recorded point of the run."""

    mark: Checkpoint
    solution: Solution


@dataclass(frozen=True)
class StopRequest:
    """From the solver: asks whether the run is over at the point that was sent last."""


@dataclass(frozen=True)
class Ended:
    """From the solver: the run is over."""

    stop: Termination


FromSolver: TypeAlias = Started | SampleRequest | Point | StopRequest | Ended

KNOWN = (
    Started,
    SampleRequest,
    Point,
    StopRequest,
    Ended,
    Checkpoint,
    Work,
    Termination,
    RunStatus,
)
"""The classes that a message from a solver's process may have, beside solutions and arrays."""

NUMPY = {
    ("numpy", "ndarray"), ("numpy", "dtype"),
    *((f"numpy.{core}.multiarray", name) for core in ("core", "_core")
      for name in ("_reconstruct", "scalar")),
    *((f"numpy.{core}.numeric", "_frombuffer") for core in ("core", "_core")),
}  # fmt: skip
"""What numpy makes arrays of."""


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in NUMPY:
            return super().find_class(module, name)
        if (module, name) == ("builtins", "getattr"):
            return _ending
        return _class(module, name)


def _ending(kind: object, name: str) -> RunStatus:
    """Return an ending as Python 3.11.0 to 3.11.3 pickles it: the attribute of a class."""
    if kind is not RunStatus or name not in RunStatus.__members__:
        raise pickle.UnpicklingError("of the attributes of classes only endings are in a message")
    return RunStatus[name]


@cache
def _class(module: str, name: str) -> Any:
    found = getattr(sys.modules.get(module), name, None)  # nothing is imported for it
    if found in KNOWN or (isinstance(found, type) and issubclass(found, Solution)):
        return found
    raise pickle.UnpicklingError(
        f"{module}.{name} is no part of a message; "
        "a solution may be of a class of the problem's package, or of orthobench"
    )


def read(data: bytes) -> Any:
    """Return the message that a solver's process wrote.

    Raises
    ------
    UnpicklingError
        Where it holds anything but arrays, numbers, texts, solutions and the messages of here.
    """
    return _Reader(BytesIO(data)).load()
