"""Messages between the process of a solver, the one that judges it, and the executor.

What the solver's process sends is read as data: it cannot make the other process run anything.

To it goes the pickle of an oracle. In the place of each source of samples it gets one that asks for
samples, block by block, so that it holds no sample that the harness has not handed out.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from typing import Any, TypeAlias

import numpy as np

from orthobench.contract.problem import Oracle, Solution
from orthobench.contract.samples import SampleSource
from orthobench.contract.solver import Work
from orthobench.errors import UsageError
from orthobench.harness.identity import Streams
from orthobench.harness.objects import pickler
from orthobench.harness.stopping import Budget, RunStatus, Termination
from orthobench.harness.trace import Checkpoint
from orthobench.tools.arrays import Array

PackedOracle: TypeAlias = tuple[bytes, tuple[bytes | bytearray, ...]]
"""An oracle in a form that another process can read: its pickle, without large arrays and without
sources, and the arrays; those that may be written into as a bytearray."""


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


Reply: TypeAlias = tuple[Array | Termination | None, Exception | None]
"""To the solver: samples, or why the run stops, None where there is no more or it goes on; and why
samples cannot be read."""

SampleRequest: TypeAlias = tuple[int, bool]
"""From the solver: send samples of the source with a number; anew, where the second is true."""


Point: TypeAlias = tuple[Checkpoint, Solution]
"""From the solver: a recorded point of the run."""

BEGUN = "begun"
"""From the solver: the warm-up is over, and the run begins."""

CHANGED = "changed"
"""From the solver: the run left something behind in its process that the next one would get."""

NOTICED = "noticed"
"""From the solver, with names of `orthobench.harness.stopping.FAULTS`: what the run did."""

OVER = "over"
"""From the solver: asks whether the run is over at the point that was sent last."""

KNOWN = (Checkpoint, Work, Termination, RunStatus)
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


Ask: TypeAlias = "Callable[[int, bool], Array | None]"
"""``ask(source, first)`` returns the next rows of a source, or None where there are no more."""


class RemoteSource(SampleSource):
    """A source of samples that are with another process.

    Parameters
    ----------
    index : int
        Its number among the sources of the oracle.
    d, size
        As of the source itself.
    ask : callable
        Gets the samples.
    """

    def __init__(self, index: int, d: int, size: float, ask: Ask) -> None:
        self.index, self.d, self.size, self._ask = index, d, size, ask

    def blocks(self, rng: np.random.Generator) -> Iterator[Array]:
        """Yield the samples that are handed out; `rng` is not used, the other process has one."""
        del rng
        first = True
        while (rows := self._ask(self.index, first)) is not None:
            first = False
            yield rows


def packed(
    oracle: Oracle, problem: str, whole: bool = False
) -> tuple[PackedOracle, list[SampleSource]]:
    """Return an oracle to send, and the sources that stay here.

    Parameters
    ----------
    oracle : Oracle
    problem : str
        The name of the problem, for messages.
    whole : bool
        Whether to send the sources too.

    Raises
    ------
    UsageError
        Where the oracle cannot be pickled.
    """
    with suppress(Exception):
        return _packed(oracle, whole, pickle)
    try:
        return _packed(oracle, whole, pickler())
    except Exception as error:
        raise UsageError(
            f"the oracle of {problem} cannot be sent to the process of a solver ({error}): take "
            "the inline executor"
        ) from error


def _packed(oracle: Oracle, whole: bool, module: Any) -> tuple[PackedOracle, list[SampleSource]]:
    file, sources = BytesIO(), list[SampleSource]()
    found: list[pickle.PickleBuffer] = []
    packer = _packer(module)(file, protocol=5, buffer_callback=found.append)
    packer.sources = None if whole else sources
    packer.dump(oracle)
    parts = (buffer.raw() for buffer in found)
    buffers = tuple(bytes(part) if part.readonly else bytearray(part) for part in parts)
    return (file.getvalue(), buffers), sources


def unpacked(packed_oracle: PackedOracle, ask: Ask) -> Any:
    """Return the oracle, whose sources ask for their samples."""
    # an array that may be written into gets a copy of its own: the oracle is unpacked again
    data, arrays = packed_oracle
    buffers = [bytearray(part) if isinstance(part, bytearray) else part for part in arrays]
    return _Unpacker(data, buffers, ask).load()


@cache
def _packer(module: Any) -> Any:
    """Return a class of picklers that leave out the sources of samples, and list them."""

    class Packer(module.Pickler):  # type: ignore[misc]
        sources: list[SampleSource] | None

        def persistent_id(self, item: Any) -> tuple[int, int, float] | None:
            if self.sources is None or not isinstance(item, SampleSource):
                return None
            if item not in self.sources:
                self.sources.append(item)
            return self.sources.index(item), item.d, item.size

    return Packer


class _Unpacker(pickle.Unpickler):
    def __init__(self, data: bytes, buffers: Sequence[bytes | bytearray], ask: Ask) -> None:
        super().__init__(BytesIO(data), buffers=buffers)
        self._ask = ask

    def persistent_load(self, item: tuple[int, int, float]) -> RemoteSource:
        return RemoteSource(*item, self._ask)
