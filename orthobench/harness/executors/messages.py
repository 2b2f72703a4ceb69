"""Messages between the process of a solver and the one that judges it.

Messages of the solver's process are read as data: they cannot run code.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from typing import Any, TypeAlias

import numpy as np

from orthobench.contract.problem import Oracle, Solution
from orthobench.contract.samples import SampleOracle, SampleSource
from orthobench.contract.solver import Work
from orthobench.errors import OrthobenchError, UsageError
from orthobench.harness.identity import Streams
from orthobench.harness.objects import pickler
from orthobench.harness.stopping import Budget, Termination
from orthobench.harness.trace import Checkpoint
from orthobench.tools.arrays import Array

PackedOracle: TypeAlias = tuple[bytes, tuple[bytes | bytearray, ...]]
"""The pickle of an oracle, and its arrays; writeable ones as bytearray."""


@dataclass(frozen=True)
class Start:
    """To the solver: run.

    `packed_oracle` is None if it is the one that was sent last; `solver` is a pickle; `target` says
    whether to ask at checkpoints if the run is over.
    """

    packed_oracle: PackedOracle | None
    solver: bytes
    budget: Budget
    streams: Streams
    threads: int
    target: bool
    measure: str = ""


Reply: TypeAlias = tuple[Array | Termination | None, Exception | None]
"""To the solver: samples, or why the run stops, or None; and an error of reading samples."""

SampleRequest: TypeAlias = tuple[int, bool]
"""From the solver: asks for samples of a source, by number, and whether from its beginning."""

BEGUN = "begun"
"""From the solver: the warm-up is over."""

CHANGED = "changed"
"""From the solver: the run changed its process, which another run must not use."""

NOTICED = "noticed"
"""From the solver, with names of `orthobench.harness.stopping.FAULTS`."""

OVER = "over"
"""From the solver: asks whether the run is over at its last checkpoint."""

KNOWN = (Checkpoint, Work)
"""Classes in messages of the solver's process, besides solutions and arrays."""

NUMPY = {
    ("numpy", "ndarray"), ("numpy", "dtype"), ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"), ("numpy._core.numeric", "_frombuffer"),
}  # fmt: skip
"""Functions of the pickle of an array."""


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in NUMPY:
            return super().find_class(module, name)
        found = getattr(sys.modules.get(module), name, None)  # it is not imported
        if found in KNOWN or (isinstance(found, type) and issubclass(found, Solution)):
            return found
        needed = "a solution has a class of the problem's package, or of orthobench"
        raise pickle.UnpicklingError(f"{module}.{name} is not allowed in a message: {needed}")


def read(data: bytes) -> Any:
    """Return a message of a solver's process.

    Raises
    ------
    UnpicklingError
        If it has anything but arrays, numbers, texts, solutions and `KNOWN` classes.
    """
    return _Reader(BytesIO(data)).load()


Ask: TypeAlias = "Callable[[int, bool], Array | None]"
"""``ask(source, first)`` returns the next rows of a source, or None at its end."""


class RemoteSource(SampleSource):
    """Source number `index` of an oracle, whose samples are in another process."""

    def __init__(self, index: int, d: int, size: float, ask: Ask) -> None:
        self.index, self.d, self.size, self._ask = index, d, size, ask

    def blocks(self, rng: np.random.Generator) -> Iterator[Array]:
        """Yield blocks of samples; the other process has the generator."""
        del rng
        first = True
        while (rows := self._ask(self.index, first)) is not None:
            first = False
            yield rows


class SampleServer:
    """Sends at most `most` samples of a run: `first` of them first, later as many as so far."""

    def __init__(
        self, sources: list[SampleSource], streams: Streams, most: float, first: float
    ) -> None:
        self._sources, self._streams, self._left, self._first = sources, streams, most, first
        self._readers: dict[int, SampleOracle] = {}
        self.bytes = 0

    def rows(self, source: int, first: bool) -> Reply:
        """Return the next samples of a source, or the first ones."""
        try:
            rows = self._take(self._reader(source, first))
        except OrthobenchError as error:
            return None, error
        except Exception as error:
            return None, RuntimeError(f"the samples: {error!r}")
        self._left -= len(rows)
        self.bytes += rows.nbytes
        return (rows if len(rows) else None), None

    def _reader(self, source: int, first: bool) -> SampleOracle:
        if first or source not in self._readers:
            reader = SampleOracle(self._sources[source], 1)
            reader.rewind(np.random.default_rng(self._streams.samples))
            self._readers[source] = reader
        return self._readers[source]

    def _take(self, reader: SampleOracle) -> Array:
        count = min(self._left, max(self._first, reader.taken), reader.window, reader.remaining())
        if count >= 1:  # a generator that nothing is taken from can be used again
            reader.prepare(int(count))
        taken: Array = reader.take(int(min(count, reader.remaining())))
        return taken


def packed(
    oracle: Oracle, problem: str, whole: bool = False
) -> tuple[PackedOracle, list[SampleSource]]:
    """Return an oracle to send, and its sources, which stay here unless `whole`.

    Raises
    ------
    UsageError
        If the oracle of `problem` cannot be pickled.
    """
    file, sources = BytesIO(), list[SampleSource]()
    found: list[pickle.PickleBuffer] = []
    packer = _packer()(file, protocol=5, buffer_callback=found.append)
    packer.sources = None if whole else sources
    try:
        packer.dump(oracle)
    except Exception as error:
        why = f"the oracle of {problem} cannot be sent to the process of a solver ({error})"
        raise UsageError(f"{why}: take the inline executor") from error
    parts = (buffer.raw() for buffer in found)
    buffers = tuple(bytes(part) if part.readonly else bytearray(part) for part in parts)
    return (file.getvalue(), buffers), sources


def unpacked(packed_oracle: PackedOracle, ask: Ask) -> Any:
    """Return the oracle; its sources ask for their samples."""
    # writeable arrays are copied, because the oracle may be unpacked again
    data, arrays = packed_oracle
    buffers = [bytearray(part) if isinstance(part, bytearray) else part for part in arrays]
    return _Unpacker(data, buffers, ask).load()


@cache
def _packer() -> Any:
    """Return a class of picklers that list the sources of samples instead of pickling them."""

    class Packer(pickler().Pickler):  # type: ignore[misc]
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
