"""What a run of a suite gave, read from its store."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from orthobench.contract.exhibits import Exhibit
from orthobench.errors import StoreError, UsageError, unknown
from orthobench.harness.identity import Same, digest
from orthobench.harness.stopping import RunStatus
from orthobench.harness.suite import END, SCORES
from orthobench.results.runs import UNTOLD, ProblemInfo, Run, SolverInfo
from orthobench.results.store import FILE, Store
from orthobench.results.tuning import SolverResult, choose
from orthobench.tools import toml
from orthobench.tools.files import hide_home

if TYPE_CHECKING:
    import pandas as pd

Info = TypeVar("Info", bound=ProblemInfo | SolverInfo)

LABELS = ("key", "problem", "family", "solver", "seed", "status", "reason", "chosen")
COUNTS = ("number", "steps", "samples", "flops")
TIMES = ("seconds", "readout_seconds")
"""Columns of a table of results, before and after those of parameters."""

DTYPES = {
    **dict.fromkeys(LABELS, "string"), "seed": "int64", "chosen": "bool",
    **dict.fromkeys(COUNTS, "Int64"),
}  # fmt: skip
"""Those of them that are not floats."""


@dataclass(frozen=True)
class Results:
    """The records of one suite: every planned cell, finished, failed or missing.

    Attributes
    ----------
    suite : str
    path : Path
        The store.
    records : sequence of Run
        In the suite's order.
    score : str
        What the suite chooses tuned parameters by: one of `orthobench.harness.suite.SCORES`.
    tolerance : float, optional
        The part of the gap that the suite compares solvers at.
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
        """Read the results of a suite from a store; of the latest one where none is named.

        Takes about 5 s and 300 MB for 100,000 runs of 30 checkpoints with 8 metrics.

        Parameters
        ----------
        path : path
            The store, or the folder that holds it as ``results.sqlite``.
        suite : str, optional
        tolerance : float, optional
            In place of the suite's.

        Raises
        ------
        StoreError
            Where the file is no store, or nothing was run on it.
        UsageError
            Where the suite was never run on it.
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
        counts = {
            "problems": len({record.problem.label for record in self.records}),
            "solvers": len({record.solver.label for record in self.records}),
            "cells": len(self.records),
            "failed": len(self.failures),
            "not run yet": len(self.missing),
            "refused": len(self.refused),
        }
        said = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        return f"<Results of {self.suite!r}: {said}; {self.path}>"

    @cached_property
    def entries(self) -> list[SolverResult]:
        """One entry for each problem and solver, with the trial that tuning chose."""
        try:
            found = choose(self.records, score=self.score)
        except UsageError as error:
            raise UsageError(f"the store {self.path}: {error}") from error
        return [replace(entry, tolerance=self.tolerance) for entry in found]

    @cached_property
    def reported_keys(self) -> frozenset[str]:
        """The keys of the runs that reports show: those of the trials that tuning chose."""
        return frozenset(record.key for entry in self.entries for record in entry.records)

    @property
    def failures(self) -> list[Run]:
        """The records that failed; those in `refused` and `missing` did not."""
        return [record for record in self.records if record.failed]

    @property
    def missing(self) -> list[Run]:
        """The records of cells that were not run yet."""
        return [record for record in self.records if record.stop.status is RunStatus.MISSING]

    @property
    def refused(self) -> list[Run]:
        """The records of solvers that could not take their problem, with the reason."""
        return [record for record in self.records if record.stop.status is RunStatus.REFUSED]

    @property
    def versions(self) -> dict[str, str]:
        """The versions of the distributions that solvers, problems and core come from, by name.

        More than one, separated by commas, where stores of different versions were merged.
        """
        versions: dict[str, set[str]] = {}
        for record in self.records:
            for name, version in record.versions.items():
                versions.setdefault(name, set()).add(version)
        return {name: ", ".join(sorted(versions[name])) for name in sorted(versions)}

    def exhibits(self, records: Iterable[Run]) -> dict[str, Mapping[str, Exhibit]]:
        """Return what the solutions of some runs look like, read from the store.

        Parameters
        ----------
        records : iterable of Run
            Such as the ``records`` of an entry: its runs, one for each seed.

        Returns
        -------
        dict
            By the records' keys, then by the names that the problem gives; empty where the run
            failed, or its problem shows nothing.

        Raises
        ------
        StoreError
            Where an exhibit is damaged; names its run.
        """
        with Store(self.path) as store:
            return {**store.exhibits(record.key for record in records)}

    def without_home(self) -> Results:
        """Return the same results, in which the user's home folder is ``~``, to be published."""
        info = cache(lambda shared: _without_home(shared.one))  # many runs share them

        def record(run: Run) -> Run:
            problem, solver = info(Same(run.problem)), info(Same(run.solver))
            reason, traceback = hide_home(run.stop.reason), hide_home(run.stop.traceback)
            stop = replace(run.stop, reason=reason, traceback=traceback)
            if (problem, solver, stop) == (run.problem, run.solver, run.stop):
                return run
            return replace(run, problem=problem, solver=solver, stop=stop, identity=UNTOLD)

        return replace(self, records=[record(run) for run in self.records])

    def fingerprint(self) -> str:
        """Return a digest of the plan and of all results of the suite, and what chooses trials."""
        facts = [
            (r.key, r.problem.label, r.problem.levels, r.solver.label, r.solver.tuned, r.checksum)
            for r in self.records
        ]
        return f"{digest(repr(facts))[:16]} {self.score} {self.tolerance}"

    def session(self) -> dict[str, Any]:
        """Return where the results come from: the latest session of the suite, from the store.

        ``text`` is the suite as TOML, ``command`` the call, ``environment`` what it ran on;
        ``started`` and ``ended`` are UTC, the latter None where the session was cut off. Home is
        ``~`` in texts.
        """
        with Store(self.path) as store:
            session = store.session(self.suite)
        return {**session, **{name: hide_home(session[name]) for name in ("text", "command")}}

    @property
    def suite_as_typed(self) -> str:
        """The suite as the command that ran it last named it: a file, or the name of a suite.

        It is empty for runs of another harness, which nothing here can run again.
        """
        if any(run.imported.source for run in self.records[:1]):
            return ""
        try:
            words = shlex.split(self.session()["command"])
        except (StoreError, IndexError, ValueError):  # no session, or no command of a shell
            return self.suite
        return next((w for w in words if Path(w).name == f"{self.suite}.toml"), self.suite)

    def columns(self) -> list[str]:
        """Return the names of the columns of `rows` and of `to_pandas`, in their order."""
        metrics = dict.fromkeys(n for r in self.records for mark in r.trace for n in mark.metrics)
        return [
            *LABELS,
            *_prefixed("problem", (record.problem.parameters for record in self.records)),
            *_prefixed("solver", (record.solver.parameters for record in self.records)),
            *COUNTS,
            *TIMES,
            *metrics,
        ]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Return one flat row for each checkpoint, and one for each record without any.

        A row has those of the `columns` that its record has anything to say of.
        """
        return (
            row
            for record in self.records
            for row in _rows(record, record.key in self.reported_keys)
        )

    def to_pandas(self) -> pd.DataFrame:
        """Return every checkpoint of every run as a data frame, to select and group from.

        Its dtypes do not depend on what failed or is missing: such a run has the rows of the
        checkpoints that it reached, or where it reached none a single one, without numbers.

        Returns
        -------
        DataFrame
            One row for each checkpoint, with the columns

            ``key``, ``problem``, ``family``, ``solver``, ``status``, ``reason`` : string
                The run; solvers without their tuned parameters. `RunStatus` has the statuses.
            ``seed`` : int64
                The seed.
            ``chosen`` : bool
                Whether tuning chose the values that it ran with; reports show these runs.
            ``problem.NAME``, ``solver.NAME``
                The parameters, Int64, float64, boolean or string; missing where the problem or
                solver has none of that name.
            ``number``, ``steps``, ``samples``, ``flops`` : Int64
                Which checkpoint, from 0, and the work up to it.
            ``seconds``, ``readout_seconds`` : float64
                On the solver's clock up to it; what reading the solution took there.
            the metrics : float64
                NaN where the judge does not report one.

        Raises
        ------
        ImportError
            Where pandas is not installed (``pip install orthobench[export]``).

        Examples
        --------
        The final values of the runs that reports show::

            frame = results.to_pandas()
            runs = frame[frame.chosen].groupby(["problem", "solver", "seed"])
            runs.last().suboptimality.unstack("solver")
        """
        import pandas as pd

        values: dict[str, list[Any]] = {name: [] for name in self.columns()}
        for row in self.rows():
            for name, column in values.items():
                column.append(row.get(name))
        dtypes = {**dict.fromkeys(values, "float64"), **DTYPES}
        for name, column in values.items():
            if name.startswith(("problem.", "solver.")):
                dtypes[name] = _dtype(column)
        return pd.DataFrame({name: pd.Series(values[name], dtype=dtypes[name]) for name in values})


def store_at(path: Path) -> Path:
    """Return the store that a path means: itself, or ``results.sqlite`` in a folder."""
    return path / FILE if path.is_dir() else path


def _without_home(info: Info) -> Info:
    names = ("parameters", "tuned") if isinstance(info, SolverInfo) else ("parameters",)
    values: dict[str, Any] = {
        name: {k: hide_home(v) if isinstance(v, str) else v for k, v in getattr(info, name).items()}
        for name in names
    }
    return replace(info, label=hide_home(info.label), **values)


def _rows(record: Run, chosen: bool) -> Iterator[dict[str, Any]]:
    head = {
        "key": record.key,
        "problem": record.problem.label,
        "family": record.problem.family,
        "solver": record.solver.label,
        "seed": record.seed,
        "status": record.stop.status.value,
        "reason": record.stop.reason,
        "chosen": chosen,
        **{f"problem.{name}": value for name, value in record.problem.parameters.items()},
        **{f"solver.{name}": value for name, value in record.solver.parameters.items()},
    }
    if not record.trace:
        yield head
    for number, mark in enumerate(record.trace):
        work = mark.work
        yield {
            **head,
            "number": number,
            "steps": work.steps,
            "samples": work.samples,
            "flops": work.flops,
            "seconds": mark.seconds,
            "readout_seconds": mark.readout_seconds,
            **mark.metrics,
        }


def _prefixed(prefix: str, settings: Iterable[Mapping[str, Any]]) -> dict[str, None]:
    return dict.fromkeys(f"{prefix}.{name}" for values in settings for name in values)


def _dtype(values: Iterable[Any]) -> str:
    """Return the dtype of a column of parameters; that of None is any."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        return "float64"
    dtypes = {int: "Int64", float: "float64", bool: "boolean", str: "string"}
    return dtypes.get(kinds.pop(), "object") if len(kinds) == 1 else "object"


def _keys(suite: str, store: Path) -> tuple[str, float | None]:
    """Return what a suite scores trials by, and its tolerance, as its text in a store says."""
    try:
        table = toml.loads(suite)
    except tomllib.TOMLDecodeError as error:
        raise StoreError(f"the store {store} is damaged (its suite is no TOML: {error})") from None
    tuning, tolerance = table.get("tuning", {}), table.get("tolerance")
    score = tuning.get("score", END) if isinstance(tuning, dict) else None
    if score not in SCORES:
        raise StoreError(f"the store {store} is damaged (its suite scores trials by {score!r:.40})")
    if not (tolerance is None or (type(tolerance) in (int, float) and 0 < tolerance < 1)):
        raise StoreError(
            f"the store {store} is damaged (its suite has tolerance {tolerance!r:.40})"
        )
    return str(score), tolerance
