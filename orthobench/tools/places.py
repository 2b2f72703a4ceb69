"""Places to compute: an array library, a device and a precision, or blocks of samples."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.errors import UsageError, unknown
from orthobench.tools.array_libraries import LIBRARIES, ArrayLibrary
from orthobench.tools.environment import version

MOST_WORKERS = 16
"""The maximum number of workers that are started for each processor."""

TOLERANCES: Mapping[str, float] = {
    "float64": 1e-9, "float32": 2e-3, "bfloat16": 0.2, "float16": 0.05,
}  # fmt: skip
"""Maximum relative difference between values of equal runs on a GPU, by precision."""

DTYPES = tuple(TOLERANCES)
"""Precisions; the first is the default."""

GRAMMAR = re.compile(r"(?P<library>[a-z-]+)(:(?P<device>[a-z]+))?(/(?P<dtype>\w+))?")

REDUCTIONS = re.compile(r"blocks|dask:([1-9]\d{0,3}|(tcp|tls)://[^\s/]+:\d+)")
"""Places that summarize blocks: this process, new workers, or a cluster."""


@dataclass(frozen=True)
class Place:
    """An array library, a device and a precision; or a place that summarizes blocks of samples.

    Attributes
    ----------
    library, device, dtype : str
        A name in `LIBRARIES`, ``"cpu"`` or ``"cuda"``, and one of `DTYPES`.
    reduction : str
        ``"blocks"``, ``"dask:WORKERS"`` or ``"dask:ADDRESS"``; empty if samples stream.
    """

    library: str = "numpy"
    device: str = "cpu"
    dtype: str = DTYPES[0]
    reduction: str = ""

    def __str__(self) -> str:
        if self.reduces:
            return self.reduction
        device = f":{self.device}" if len(self._library.devices) > 1 else ""
        dtype = f"/{self.dtype}" if self.dtype != DTYPES[0] else ""
        return f"{self.library}{device}{dtype}"

    @property
    def _library(self) -> ArrayLibrary:
        return LIBRARIES[self.library]

    @property
    def is_default(self) -> bool:
        """Whether it is NumPy in float64, in this process, on samples that stream."""
        return self is DEFAULT or self == DEFAULT

    @property
    def moves(self) -> bool:
        """Whether arrays are moved there."""
        return not (self.is_default or self.reduces)

    @property
    def compiles(self) -> bool:
        """Whether the library compiles code for each shape of arrays."""
        return self.moves and self._library.compiles

    @property
    def reduces(self) -> bool:
        """Whether blocks are summarized, and summaries merged."""
        return bool(self.reduction)

    @property
    def workers(self) -> int:
        """Number of worker processes that a run starts."""
        count = self.reduction.partition(":")[2]
        return int(count) if count.isdigit() else 0

    @property
    def address(self) -> str | None:
        """The address of a Dask scheduler, if one is named."""
        address = self.reduction.partition(":")[2]
        return address if "://" in address else None

    @property
    def packages(self) -> tuple[str, ...]:
        """The distributions that compute there, NumPy excepted."""
        if self.reduces:
            return ("distributed",) if self.reduction.startswith("dask") else ()
        return () if self.is_default else (self._library.distribution,)

    def missing(self) -> str | None:
        """Return why this machine cannot compute there, with a remedy, or None."""
        if self.is_default:
            return None
        if not self.reduces:
            return self._library.missing(self.device)
        if self.packages and find_spec("distributed") is None:
            return "Dask is not installed: pip install 'orthobench[dask]'"
        if self.workers and shutil.which("openssl") is None:
            return "the program openssl, which makes the key of the workers, is missing: install it"
        most = MOST_WORKERS * (os.cpu_count() or 1)
        if self.workers > most:
            return f"more than {most} workers are too many for the processors of this machine"
        return None

    def array(self, values: NDArray[np.generic]) -> Any:
        """Return a copy of an array at this place; floats get its precision."""
        return self._library.array(values, self.device, self.dtype)

    def to_numpy(self, values: Any) -> NDArray[np.generic]:
        """Return a copy of one of its arrays on the host."""
        return self._library.to_numpy(values)

    def wait(self, values: Sequence[object]) -> None:
        """Wait until arrays are computed, and ignore other objects."""
        if self.moves:
            self._library.wait(values, self.device)

    def limit(self, threads: int) -> None:
        """Limit the threads of later computations on the host."""
        if self.moves:
            self._library.limit(threads)

    @property
    def tolerance(self) -> float:
        """Maximum relative difference between equal runs; 0 if they give equal bits."""
        return 0.0 if self.device == "cpu" else TOLERANCES[self.dtype]

    def facts(self) -> Mapping[str, str]:
        """Return what results depend on: versions, device, flags and tolerance."""
        if self.reduces:
            return {name: version(name) or "" for name in self.packages}
        tolerance = {"tolerance": f"{self.tolerance:g}"} if self.tolerance else {}
        return {**self._library.facts(self.device), **tolerance}


DEFAULT = Place()


@lru_cache(maxsize=64)
def place_of(text: str) -> Place:
    """Return the place for ``LIBRARY[:DEVICE][/DTYPE]``, ``blocks`` or ``dask:WORKERS|ADDRESS``.

    Raises
    ------
    UsageError
        If the text has another form, or names an unknown library, device or precision.

    Examples
    --------
    >>> place_of("torch:cuda/float32")
    Place(library='torch', device='cuda', dtype='float32')
    >>> str(place_of("torch/float64"))
    'torch:cpu'
    """
    if REDUCTIONS.fullmatch(text):
        return Place(reduction=text)
    match = GRAMMAR.fullmatch(text)
    if match is None:
        raise UsageError(
            f"{text!r} is no place to compute: write LIBRARY[:DEVICE][/DTYPE], such as "
            "torch:cpu or torch:cuda/float32; or blocks, dask:4, dask:tcp://HOST:8786"
        )
    library = match["library"]
    if library not in LIBRARIES:
        raise unknown("array library", library, LIBRARIES)
    devices = LIBRARIES[library].devices
    device, dtype = match["device"] or devices[0], match["dtype"] or DTYPES[0]
    if device not in devices:
        raise unknown(f"device of {library}", device, devices)
    if dtype not in LIBRARIES[library].dtypes:
        raise unknown(f"precision of {library}", dtype, LIBRARIES[library].dtypes)
    return Place(library, device, dtype)
