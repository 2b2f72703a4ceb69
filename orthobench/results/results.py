"""The results of a suite, read from its store, and written as tables."""

from __future__ import annotations

import itertools
import shlex
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from orthobench.contract.exhibits import Exhibit
from orthobench.errors import StoreError, UsageError, unknown
from orthobench.harness.identity import Same, digest
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.suite import END, SCORES
from orthobench.results import traces
from orthobench.results.runs import UNTOLD, ProblemInfo, Run, SolverInfo
from orthobench.results.store import FILE, Store
from orthobench.results.tuning import SolverResult, choose
from orthobench.tools import toml
from orthobench.tools.files import atomic_write, hide_home, write_csv

if TYPE_CHECKING:
    import pandas as pd

LABELS = ("key", "problem", "family", "solver", "seed", "status", "reason", "chosen")
COUNTS = ("number", *traces.COUNTS)
TIMES = ("seconds", "readout_seconds")
"""Columns of a table of results, before and after those of parameters."""

DTYPES = {
    **dict.fromkeys(LABELS, "string"), "seed": "int64", "chosen": "bool",
    **dict.fromkeys(COUNTS, "Int64"),
}  # fmt: skip
"""Those of them that are not floats."""

PARAMETER_DTYPES = {
    "integer": "Int64", "floating": "float64", "mixed-integer-float": "float64",
    "boolean": "boolean", "string": "string",
}  # fmt: skip
"""Those of parameters, by the kind that pandas finds."""


@dataclass(frozen=True)
class Results:
    """The runs of one suite: all planned cells, also missing ones.

    Attributes
    ----------
    suite : str
    path : Path
        The store.
    records : sequence of Run
        In the suite's order.
    score : str
    tolerance : float, optional
        A part of the gap.
    """

    suite: str
    path: Path
    records: Sequence[Run]
    score: str = field(default=END, kw_only=True)
    tolerance: float | None = field(default=None, kw_only=True)

    @classmethod
    def read(
        cls, path: Path | str, suite: str | None = None, tolerance: float | None = None
    ) -> Results:
        """Read the results of a suite, by default the latest one.

        Cost: 5 s and 300 MB for 100,000 runs of 30 checkpoints with 8 metrics.

        Parameters
        ----------
        path : path
            The store, or its folder.
        suite : str, optional
        tolerance : float, optional
            In place of the suite's.

        Raises
        ------
        StoreError
            If the file is no store, or it is empty.
        UsageError
            If it lacks the suite.
        """
        path = store_at(Path(path))
        with Store(path) as store:
            suites = store.suites()
            if not suites:
                raise StoreError(f"nothing was run on the store {path} yet")
            if suite is not None and suite not in suites:
                raise unknown(f"suite in the store {path}:", suite, suites)
            name = suite or suites[-1]
            score, own = _keys(store.session(name)["text"], path)
            return cls(name, path, store.records(name), score=score, tolerance=tolerance or own)

    def __repr__(self) -> str:
        counts = f"{len(self.records)} cells, {len(self.failures)} failed"
        return f"<Results of {self.suite!r}: {counts}, {len(self.missing)} not run; {self.path}>"

    @cached_property
    def entries(self) -> list[SolverResult]:
        """One result for each problem and solver, after tuning."""
        try:
            found = choose(self.records, score=self.score)
        except UsageError as error:
            raise UsageError(f"the store {self.path}: {error}") from error
        return [replace(entry, tolerance=self.tolerance) for entry in found]

    @cached_property
    def reported_keys(self) -> frozenset[str]:
        """The keys of the runs that tuning chose, which reports show."""
        return frozenset(record.key for entry in self.entries for record in entry.records)

    @property
    def failures(self) -> list[Run]:
        """The runs that failed."""
        return [record for record in self.records if record.failed]

    @property
    def missing(self) -> list[Run]:
        """The cells that are still to run."""
        return [record for record in self.records if record.stop.status is RunStatus.MISSING]

    @property
    def refused(self) -> list[Run]:
        """The runs of solvers that could not take their problem."""
        return [record for record in self.records if record.stop.status is RunStatus.REFUSED]

    @property
    def versions(self) -> dict[str, str]:
        """The versions of distributions, separated by commas."""
        versions: dict[str, set[str]] = {}
        for record in self.records:
            for name, version in record.versions.items():
                versions.setdefault(name, set()).add(version)
        return {name: ", ".join(sorted(versions[name])) for name in sorted(versions)}

    def exhibits(self, records: Iterable[Run]) -> dict[str, Mapping[str, Exhibit]]:
        """Return the exhibits of runs by key and name.

        Raises
        ------
        StoreError
            If one is damaged; names its cell.
        """
        with Store(self.path) as store:
            return {**store.exhibits(record.key for record in records)}

    def without_home(self) -> Results:
        """Return the results with ``~`` for the home folder, to be published."""
        shown = cache(lambda shared: _without_home(shared.one))  # many runs share them

        def hidden(run: Run) -> Run:
            problem, solver = shown(Same(run.problem)), shown(Same(run.solver))
            stop = _without_home(run.stop)
            return replace(run, problem=problem, solver=solver, stop=stop, identity=UNTOLD)

        return replace(self, records=[hidden(run) for run in self.records])

    def fingerprint(self) -> str:
        """Return a digest of all that a report depends on."""
        facts = [
            (r.key, r.problem.label, r.problem.levels, r.solver.label, r.solver.tuned, r.checksum)
            for r in self.records
        ]
        return f"{digest(repr(facts))[:16]} {self.score} {self.tolerance}"

    def session(self) -> dict[str, Any]:
        """Return the latest session; the home folder is ``~``."""
        with Store(self.path) as store:
            session = store.session(self.suite)
        return {**session, **{name: hide_home(session[name]) for name in ("text", "command")}}

    @property
    def suite_as_typed(self) -> str:
        """The suite as its last command named it; empty for imported runs."""
        if any(run.imported.source for run in self.records[:1]):
            return ""
        try:
            words = shlex.split(self.session()["command"])
        except (StoreError, IndexError, ValueError):  # no session, or no command of a shell
            return self.suite
        return next((w for w in words if Path(w).name == f"{self.suite}.toml"), self.suite)

    def columns(self) -> list[str]:
        """Return the names of the columns of `to_pandas`."""
        problems = (f"problem.{name}" for run in self.records for name in run.problem.parameters)
        solvers = (f"solver.{name}" for run in self.records for name in run.solver.parameters)
        metrics = (name for run in self.records for mark in run.trace for name in mark.metrics)
        return list(dict.fromkeys((*LABELS, *problems, *solvers, *COUNTS, *TIMES, *metrics)))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each checkpoint, and for each run without any."""
        for run in self.records:
            head = {
                "key": run.key, "problem": run.problem.label, "family": run.problem.family,
                "solver": run.solver.label, "seed": run.seed, "status": run.stop.status.value,
                "reason": run.stop.reason, "chosen": run.key in self.reported_keys,
                **{f"problem.{name}": value for name, value in run.problem.parameters.items()},
                **{f"solver.{name}": value for name, value in run.solver.parameters.items()},
            }  # fmt: skip
            if not run.trace:
                yield head
            for number, at in enumerate(run.trace):
                work = {name: getattr(at.work, name) for name in traces.COUNTS}
                times = {"seconds": at.seconds, "readout_seconds": at.readout_seconds}
                yield {**head, "number": number, **work, **times, **at.metrics}

    def to_pandas(self) -> pd.DataFrame:
        """Return all checkpoints as a data frame, with the columns of `docs/store.md`.

        A run without checkpoints has one row without numbers.

        Raises
        ------
        ImportError
            If pandas is not installed (``pip install orthobench[export]``).
        """
        import pandas as pd

        values: dict[str, list[Any]] = {name: [] for name in self.columns()}
        for row in self.rows():  # all of them at once would take far more memory
            for name, column in values.items():
                column.append(row.get(name))
        dtypes = {**dict.fromkeys(values, "float64"), **DTYPES}
        for name, column in values.items():
            if name.startswith(("problem.", "solver.")):
                kind = pd.api.types.infer_dtype(column, skipna=True)
                dtypes[name] = PARAMETER_DTYPES.get(kind, "object")
        return pd.DataFrame({name: pd.Series(values[name], dtype=dtypes[name]) for name in values})


def store_at(path: Path) -> Path:
    """Return the store at a path, which may be its folder."""
    return path / FILE if path.is_dir() else path


def _without_home(value: Any) -> Any:
    """Return a value with ``~`` for the home folder in its texts."""
    if isinstance(value, str):
        return hide_home(value)
    if isinstance(value, Mapping):
        return {name: _without_home(one) for name, one in value.items()}
    if isinstance(value, ProblemInfo | SolverInfo | Termination):
        parts = {part.name: getattr(value, part.name) for part in fields(value)}
        return replace(value, **_without_home(parts))
    return value


def _keys(suite: str, store: Path) -> tuple[str, float | None]:
    """Return the score and the tolerance of a suite."""
    try:
        table = toml.loads(suite)
        score, tolerance = table.get("tuning", {}).get("score", END), table.get("tolerance")
        sound = score in SCORES and (tolerance is None or 0 < tolerance < 1)
    except (tomllib.TOMLDecodeError, AttributeError, TypeError):
        sound = False
    if not sound:
        raise StoreError(f"the store {store} is damaged (its suite is not what was run)")
    return str(score), tolerance


def write(results: Results, path: Path) -> None:
    """Write one row a checkpoint into a ``.csv`` file.

    Raises
    ------
    UsageError
        On another suffix, or a file that cannot be written.
    """
    if path.suffix != ".csv":
        raise UsageError(f"{path} does not end in .csv, which is all that is written")
    with atomic_write(path) as file:
        to_csv(results, file)


def to_csv(results: Results, file: BinaryIO) -> None:
    """Write CSV with the columns of `Results.to_pandas`."""
    columns = results.columns()
    rows = ([row.get(name, "") for name in columns] for row in results.rows())
    write_csv(itertools.chain([columns], rows), file, "\n")
