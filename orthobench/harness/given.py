"""Problems whose instance is given by a caller, from their own data."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, ClassVar
from weakref import finalize

import numpy as np

from orthobench.contract.problem import INSTANCE, AnyInstance, AnyProblem, Problem
from orthobench.errors import UsageError
from orthobench.harness.objects import digest_of, pickler
from orthobench.harness.source_digests import code_of


@dataclass(frozen=True, init=False)
class GivenProblem(Problem[Any]):
    """A problem with one instance for all seeds; two are equal if their data digests are."""

    name = INSTANCE

    instance: ClassVar[AnyInstance]
    data: ClassVar[str]

    def __init__(self, instance: AnyInstance, data: str) -> None:
        oracle = instance.oracle
        columns = dict.fromkeys(("k", "m", "p"), oracle.k)  # as families call their number
        bases = type(self).__mro__
        declared = {name for base in bases for name in vars(base).get("__annotations__", ())}
        declared -= Problem.__annotations__.keys()
        known = {name: getattr(oracle, name) for name in declared if hasattr(oracle, name)}
        own = {"instance": instance, "data": data, "offers": type(oracle), "n": oracle.n}
        vars(self).update({**known, **columns, **own})

    def build(self, rng: np.random.Generator) -> AnyInstance:
        """Return the instance."""
        del rng
        return self.instance

    def checksum(self) -> str:
        """Return the digest of the instance."""
        return self.data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GivenProblem) and self.data == other.data

    def __hash__(self) -> int:
        return hash(self.data)

    def __reduce__(self) -> tuple[Any, ...]:
        return _read, (self._file, self.data)

    @cached_property
    def _file(self) -> str:
        try:
            data = pickler().dumps((self.instance, type(self).__bases__[1]))
        except Exception as error:
            why = f"the instance cannot be sent to another process ({error})"
            raise UsageError(f"{why}: take the inline executor") from error
        with NamedTemporaryFile(prefix="orthobench-", suffix=".pickle", delete=False) as file:
            file.write(data)
        finalize(self, Path(file.name).unlink, missing_ok=True)
        return file.name


def problem_of(instance: AnyInstance, base: type[AnyProblem]) -> AnyProblem:
    """Return a problem with a given instance; `base` is the class of problems of its family."""
    own = instance.oracle.__dict__
    start = own.pop("start", None)  # of an earlier run
    data = digest_of(instance, code_of)
    own.update({} if start is None else {"start": start})
    return _given(instance, base, data)


def _given(instance: AnyInstance, base: type[AnyProblem], data: str) -> AnyProblem:
    homes = {type(instance.oracle).__module__, str(instance.measure.__module__)}
    cls = _given_class(base, tuple(sorted(homes - {"__main__", "functools"})))
    problem: AnyProblem = cls(instance, data)
    return problem


@cache
def _given_class(base: type[AnyProblem], homes: tuple[str, ...]) -> Any:
    """Return the class of given problems of a family, whose code is in the modules `homes`."""
    # attributes that are known only from data are None
    unknown = dict.fromkeys(base.__abstractmethods__ - {"build"})
    own = {**unknown, "__module__": __name__, "homes": homes}
    return type(base.__name__, (GivenProblem, base), own)


@lru_cache(maxsize=2)
def _read(file: str, data: str) -> AnyProblem:
    instance, base = pickle.loads(Path(file).read_bytes())  # noqa: S301 - `GivenProblem` wrote it
    return _given(instance, base, data)
