"""What identifies a run: canonical texts and digests, and the random streams derived from them."""

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
    """Return JSON with sorted keys and shortest floats: the same text for equal values."""
    return _ENCODER.encode(value)


def stream_text(problem: AnyProblem) -> str:
    """Return the text that the random streams of a problem follow from.

    Of a given instance it is `Instance.streams`: the same whatever the data, so that these times a
    factor are seen alike.
    """
    if problem.name == INSTANCE:
        return str(cast(Any, problem).instance.streams)
    return canonical(describe(problem))


def digest(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=2**14)
def parsed(text: str) -> Any:
    """Return what JSON says, which all who ask share; do not write into it."""
    return json.loads(text)


@dataclass(frozen=True, slots=True)
class Identity:
    """All that the result of a cell depends on, in JSON that cells share.

    Attributes
    ----------
    problem, solver : str
        Name and parameters, as `describe` returns them.
    seed : int
    settings : str
        All the rest by name: budget, target, threads, versions, code and so on.
    """

    problem: str
    solver: str
    seed: int
    settings: str

    @property
    def key(self) -> str:
        """Its digest: cells with equal keys give equal results."""
        return digest(f"[{self.problem},{self.solver},{self.seed},{self.settings}]")

    @property
    def content(self) -> dict[str, Any]:
        """The same as plain values by name; the parts are shared."""
        parts = {"problem": parsed(self.problem), "solver": parsed(self.solver), "seed": self.seed}
        return {**parsed(self.settings), **parts}


class Same(Generic[T]):
    """An object to be cached by, which equals itself alone: 1 and 1.0 are equal, not the same."""

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
    """Return the name and all parameters of a solver or a problem, in JSON."""
    return canonical(describe(item.one))


def label(item: AnyProblem | AnySolver, shown: Mapping[str, Any] | None = None) -> str:
    """Return a short text for people: the name, and parameters as ``k=4``.

    Parameters
    ----------
    item : Problem or Solver
    shown : mapping, optional
        The parameters to show, with their values; by default all.
    """
    values = values_of(item) if shown is None else shown
    return " ".join([item.name, *(f"{key}={value}" for key, value in values.items())])


@dataclass(frozen=True)
class Streams:
    """The independent random streams of a run.

    Attributes
    ----------
    data, start : numpy.random.SeedSequence
        The streams of the instance and of its starting point. They depend on problem and seed
        alone, so that all solvers get the same.
    solver : numpy.random.SeedSequence
        The stream of the solver. It also depends on the solver's name, but not on its parameters,
        so that parameters are tuned on common random numbers.
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
        """The stream that samples are drawn from during a run.

        It is not the one that `Problem.build` draws from: the first samples would repeat the random
        numbers that made the instance, such as its validation data.
        """
        key = int(digest("samples")[:8], 16)
        return np.random.SeedSequence(self.data.entropy, spawn_key=(*self.data.spawn_key, key))


def _sequence(seed: int, *texts: str) -> np.random.SeedSequence:
    words = [int(digest(text)[:32], 16) for text in texts]
    return np.random.SeedSequence([seed, *words])
