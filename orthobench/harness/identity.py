"""Identity of a run: canonical texts, digests, and the random streams that follow from them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar, cast

import numpy as np

from orthobench.contract.parameters import values_of
from orthobench.contract.problem import INSTANCE, AnyProblem
from orthobench.contract.solver import AnySolver

T = TypeVar("T")
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def canonical(value: Mapping[str, Any]) -> str:
    """Return JSON with sorted keys and shortest floats: equal values have equal texts."""
    return _ENCODER.encode(value)


def stream_text(problem: AnyProblem) -> str:
    """Return the text that seeds the random streams of a problem; it depends on no given data."""
    if problem.name == INSTANCE:
        return str(cast(Any, problem).instance.streams)
    return canonical(describe(problem))


def digest(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=2**14)
def parsed(text: str) -> Any:
    """Return the content of a JSON text, which callers share and must not change."""
    return json.loads(text)


@dataclass(frozen=True, slots=True)
class Identity:
    """All that the result of a cell depends on.

    Attributes
    ----------
    problem, solver : str
        JSON of name and parameters.
    seed : int
    settings : str
        JSON of all the rest, such as budget, versions and code.
    """

    problem: str
    solver: str
    seed: int
    settings: str

    @property
    def key(self) -> str:
        """The digest: cells with equal keys have equal results."""
        return digest(f"[{self.problem},{self.solver},{self.seed},{self.settings}]")

    @property
    def content(self) -> dict[str, Any]:
        """The identity as plain values by name, whose parts are shared."""
        parts = {"problem": parsed(self.problem), "solver": parsed(self.solver), "seed": self.seed}
        return {**parsed(self.settings), **parts}


class Same(Generic[T]):
    """The key of an object in a cache, equal only to itself: 1 and 1.0 are not the same."""

    def __init__(self, one: T) -> None:
        self.one = one

    def __hash__(self) -> int:
        return id(self.one)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.one is self.one


def describe(item: AnyProblem | AnySolver) -> dict[str, Any]:
    """Return the name and all parameters of a solver or a problem."""
    return {"name": item.name, "parameters": values_of(item)}


@lru_cache(maxsize=2**14)
def text_of(item: Same[AnyProblem | AnySolver]) -> str:
    """Return `describe` of a solver or a problem in JSON."""
    return canonical(describe(item.one))


def label(item: AnyProblem | AnySolver, shown: Mapping[str, Any] | None = None) -> str:
    """Return the name, and all parameters or the shown ones as ``k=4``, for people."""
    values = values_of(item) if shown is None else shown
    return " ".join([item.name, *(f"{key}={value}" for key, value in values.items())])


@dataclass(frozen=True)
class Streams:
    """The independent random streams of a run.

    Attributes
    ----------
    data, start : numpy.random.SeedSequence
        Streams of the instance and of its start, by problem and seed.
    solver : numpy.random.SeedSequence
        Stream of the solver, by its name but not its parameters, which are tuned on common random
        numbers.
    """

    data: np.random.SeedSequence
    start: np.random.SeedSequence
    solver: np.random.SeedSequence

    @classmethod
    def of(cls, problem: str, solver: str, seed: int) -> Streams:
        """Derive the streams from a problem's canonical text, a solver's name and a seed."""
        data, start = _sequence(seed, problem).spawn(2)
        return cls(data, start, _sequence(seed, problem, solver))

    @property
    def samples(self) -> np.random.SeedSequence:
        """The stream of the samples of a run, none of which repeats data of `Problem.build`."""
        key = int(digest("samples")[:8], 16)
        return np.random.SeedSequence(self.data.entropy, spawn_key=(*self.data.spawn_key, key))


def _sequence(seed: int, *texts: str) -> np.random.SeedSequence:
    words = [int(digest(text)[:32], 16) for text in texts]
    return np.random.SeedSequence([seed, *words])
