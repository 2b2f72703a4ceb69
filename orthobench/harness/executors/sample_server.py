"""The samples that the process of a solver gets from the one that judges it."""

from __future__ import annotations

import numpy as np

from orthobench.contract.samples import SampleOracle, SampleSource
from orthobench.errors import OrthobenchError
from orthobench.harness.executors.messages import Rows
from orthobench.harness.identity import Streams
from orthobench.tools.arrays import Array


class SampleServer:
    """Hands out the samples of a run, and no more of them than it may have.

    Parameters
    ----------
    sources : list of SampleSource
    streams : Streams
        Of the run.
    most : float
        The most samples in all.
    first : float
        The samples that are handed out at first; then as many as so far, within the window of a
        `SampleOracle`.

    Attributes
    ----------
    bytes : int
        What was handed out.
    """

    def __init__(
        self, sources: list[SampleSource], streams: Streams, most: float, first: float
    ) -> None:
        self._sources, self._streams, self._left, self._first = sources, streams, most, first
        self._readers: dict[int, SampleOracle] = {}
        self.bytes = 0

    def rows(self, source: int, first: bool) -> Rows:
        """Return the next samples of a source, from its beginning where they are the first."""
        try:
            rows = self._take(self._reader(source, first))
        except OrthobenchError as error:
            return Rows(None, error)
        except Exception as error:
            return Rows(None, RuntimeError(f"the samples: {error!r}"))
        self._left -= len(rows)
        self.bytes += rows.nbytes
        return Rows(rows if len(rows) else None)

    def _reader(self, source: int, first: bool) -> SampleOracle:
        if first or source not in self._readers:
            reader = SampleOracle(self._sources[source], 1)
            reader.rewind(np.random.default_rng(self._streams.samples))
            self._readers[source] = reader
        return self._readers[source]

    def _take(self, reader: SampleOracle) -> Array:
        count = min(self._left, max(self._first, reader.taken), reader.window, reader.remaining())
        if count >= 1:  # what is read once only can be read again as long as this is not asked for
            reader.prepare(int(count))
        taken: Array = reader.take(int(min(count, reader.remaining())))
        return taken
