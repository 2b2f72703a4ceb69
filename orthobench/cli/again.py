"""Calls of `orthobench run` that had nothing to do, and again have nothing to do.

Finding that out takes all plugins, the plan, and the sources that results depend on. So it is
remembered, in the user's cache: which files decided, and what they, the data, the store and BLAS
were. Where anything differs, and where anything else may have decided, it is found out once more.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orthobench.errors import UsageError
from orthobench.tools import files_read

if TYPE_CHECKING:
    from orthobench.harness.suite import Suite
    from orthobench.results.results import Results
    from orthobench.results.store import Store

MOST = 20
"""How many calls are remembered."""

ALIKE = ("figures", "quiet", "as_json")
"""Options that have no part in what there is to do."""

PASSING = ("_", "OLDPWD", "SHLVL", "COLUMNS", "LINES")
"""Environment variables that change from call to call in one shell."""


@dataclass(frozen=True)
class Call:
    """A call of ``orthobench run``.

    Attributes
    ----------
    file : Path, optional
        Where it is remembered; None for a call that is not.
    """

    file: Path | None

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Call:
        """Return the call with these options, in this folder and environment.

        Only a process that has just begun says all that it reads.
        """
        asked = any(options[name] for name in ("retry", "explain", "dry_run"))
        if asked or "orthobench.registry.plugins" in sys.modules:
            return cls(None)
        import platformdirs

        named = {name: value for name, value in options.items() if name not in ALIKE}
        variables = {k: v for k, v in os.environ.items() if k not in PASSING}
        facts = (
            sorted(named.items()), Path.cwd(), sorted(variables.items()),
            sys.version, sys.executable, sys.flags, sys.path,
        )  # fmt: skip
        return cls(platformdirs.user_cache_path("orthobench") / "calls" / f"{_digest(facts)}.json")

    def results(self) -> Results | None:
        """Return the results that are there, where nothing has changed."""
        if self.file is None:
            return None
        files_read.listen()
        known = self._known(self.file)
        if known:
            from orthobench.results.results import Results
            from orthobench.results.store import Store

            path, suite = Path(known["store"]), known["suite"]
            with Store(path, write=True) as store:
                if known["state"] == _state(store, suite):
                    return Results(suite, path, store.records(suite), score=known["score"])
        return None

    @staticmethod
    def _known(file: Path) -> dict[str, Any]:
        """Return what is remembered, where files, data and BLAS are what they were."""
        try:
            known: dict[str, Any] = json.loads(file.read_text())
            if not files_read.unchanged(known["read"]) or not Path(known["store"]).is_file():
                return {}
            return known if known["facts"] == _facts(known["data"]) else {}
        except Exception:  # whatever it is, it is found out once more
            return {}

    def remember(self, suite: Suite, results: Results) -> None:
        """Remember that nothing is left to do, where that is so and files decided it."""
        read = files_read.stop()
        elsewhere = suite.measure or not all(s.solver.place.is_default for s in suite.solvers)
        if self.file is None or not read or elsewhere:
            return
        from orthobench.results.course import complete
        from orthobench.results.store import Store

        with Store(results.path) as store:
            known = _state(store, suite.name)  # before it is looked at
            if not complete(store, suite, suite.plan()):
                return
        own, data = (str(results.path.absolute()), str(self.file)), _data(suite)
        _write(self.file, {
            "store": str(results.path), "suite": suite.name, "score": suite.score, "state": known,
            "read": {path: state for path, state in read.items() if not path.startswith(own)},
            "data": data, "facts": _facts(data),
        })  # fmt: skip


def _write(path: Path, known: Mapping[str, Any]) -> None:
    """Write down what is known of a call, and forget the oldest others; nobody needs them."""
    from orthobench.tools.files import replacing

    with suppress(OSError, UsageError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write(json.dumps(known).encode())
        files = sorted(path.parent.glob("*.json"), key=lambda path: path.stat().st_mtime)
        for old in files[:-MOST]:
            old.unlink()


def _state(store: Store, suite: str) -> str:
    """Return a digest of what a store has of a suite, if that was the last one; else nothing."""
    if store.suites()[-1:] != [suite]:
        return ""
    return _digest((store.session(suite), store.fingerprint(suite)))


def _data(suite: Suite) -> list[Any]:
    """Return module, class and parameters of the problems that read data."""
    from orthobench.contract.parameters import values_of

    problems = (p.problem for p in suite.problems)
    return [
        [type(p).__module__, type(p).__qualname__, values_of(p)] for p in problems if p.checksum()
    ]


def _facts(data: Iterable[Any]) -> list[str]:
    """Return BLAS, and the checksums of the data of problems: who reads them need not be Python."""
    from importlib import import_module

    from orthobench.contract.parameters import make
    from orthobench.tools.threads import blas_libraries

    problems = (
        make(getattr(import_module(module), name), values, name) for module, name, values in data
    )
    return [*blas_libraries(), *(problem.checksum() for problem in problems)]


def _digest(facts: object) -> str:
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:32]
