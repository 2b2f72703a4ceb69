"""An oracle on its way to the process of a solver: sources of samples stay behind.

All else of the oracle is pickled. In the place of each source the other process gets one that asks
for samples, block by block, so that it holds no sample that the harness has not handed out.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, TypeAlias

import numpy as np

from orthobench.contract.problem import Oracle
from orthobench.contract.samples import SampleSource
from orthobench.errors import UsageError
from orthobench.tools.arrays import Array


@dataclass(frozen=True)
class Buffer:
    """The memory of an array; `fixed` where the array is read-only."""

    data: bytes
    fixed: bool

    def memory(self) -> bytes | bytearray:
        """Return memory for an array: a copy of its own where it may be written into."""
        return self.data if self.fixed else bytearray(self.data)


@dataclass(frozen=True)
class PackedOracle:
    """An oracle in a form that another process can read.

    Attributes
    ----------
    oracle : bytes
        Its pickle, without large arrays and without sources.
    buffers : tuple of Buffer
        The arrays.
    """

    oracle: bytes
    buffers: tuple[Buffer, ...]


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
    file, sources = BytesIO(), list[SampleSource]()
    found: list[pickle.PickleBuffer] = []
    try:
        _Packer(file, None if whole else sources, found).dump(oracle)
    except Exception as error:
        raise UsageError(
            f"the oracle of {problem} cannot be sent to the process of a solver ({error}): give it "
            "functions of a module, not of a function; or take the inline executor"
        ) from error
    buffers = (Buffer(buffer.raw().tobytes(), buffer.raw().readonly) for buffer in found)
    return PackedOracle(file.getvalue(), tuple(buffers)), sources


def unpacked(packed_oracle: PackedOracle, ask: Ask) -> Any:
    """Return the oracle, whose sources ask for their samples."""
    buffers = [buffer.memory() for buffer in packed_oracle.buffers]
    return _Unpacker(packed_oracle.oracle, buffers, ask).load()


class _Packer(pickle.Pickler):
    def __init__(
        self,
        file: BytesIO,
        sources: list[SampleSource] | None,
        buffers: list[pickle.PickleBuffer],
    ) -> None:
        super().__init__(file, protocol=5, buffer_callback=buffers.append)
        self._sources = sources

    def persistent_id(self, item: Any) -> tuple[int, int, float] | None:
        if self._sources is None or not isinstance(item, SampleSource):
            return None
        if item not in self._sources:
            self._sources.append(item)
        return self._sources.index(item), item.d, item.size


class _Unpacker(pickle.Unpickler):
    def __init__(self, data: bytes, buffers: Sequence[bytes | bytearray], ask: Ask) -> None:
        super().__init__(BytesIO(data), buffers=buffers)
        self._ask = ask

    def persistent_load(self, item: tuple[int, int, float]) -> RemoteSource:
        return RemoteSource(*item, self._ask)
