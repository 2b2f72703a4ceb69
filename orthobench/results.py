"""What a run of a suite gave, read from its store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orthobench.errors import StoreError, unknown
from orthobench.exhibits import Exhibit
from orthobench.record import Record
from orthobench.stopping import Ending
from orthobench.store import Store
from orthobench.tuning import Entry, choose

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Results:
    """The records of one suite: every planned cell, finished, failed or missing.

    Attributes
    ----------
    suite : str
    path : Path
        The store.
    records : sequence of Record
        In the suite's order.
    """

    suite: str
    path: Path
    records: Sequence[Record]

    @classmethod
    def read(cls, path: Path, suite: str | None = None) -> Results:
        """Read the results of a suite from a store; of the latest one where none is named.

        Raises
        ------
        StoreError
            Where the file is no store, or nothing was run on it.
        UsageError
            Where the suite was never run on it.
        """
        with Store(path) as store:
            suites = store.suites()
            if not suites:
                raise StoreError(f"nothing was run on the store {path} yet")
            if suite is not None and suite not in suites:
                raise unknown(f"suite in the store {path}:", suite, suites)
            name = suite or suites[-1]
            return cls(name, path, store.records(name))

    @cached_property
    def entries(self) -> list[Entry]:
        """One entry for each problem and solver, with the trial that tuning chose."""
        return choose(self.records)

    @property
    def failures(self) -> list[Record]:
        """The records that failed or are missing; a refusal is no failure, and is in `refused`."""
        return [
            record
            for record in self.records
            if record.status.failed and record.status is not Ending.REFUSED
        ]

    @property
    def refused(self) -> list[Record]:
        """The records of solvers that could not take their problem, with the reason."""
        return [record for record in self.records if record.status is Ending.REFUSED]

    def exhibits(self, records: Iterable[Record]) -> dict[str, Mapping[str, Exhibit]]:
        """Return what the solutions of some runs look like, read from the store.

        Parameters
        ----------
        records : iterable of Record
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

    def session(self) -> dict[str, Any]:
        """Return where the results come from: the latest session of the suite, from the store.

        ``text`` is the suite as TOML, ``command`` the call, ``environment`` what it ran on;
        ``started`` and ``ended`` are UTC, the latter None where the session was cut off.
        """
        with Store(self.path) as store:
            return store.session(self.suite)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield one flat row for each checkpoint, and one for each record without any."""
        chosen = {record.key for entry in self.entries for record in entry.records}
        for record in self.records:
            yield from _rows(record, record.key in chosen)

    def to_pandas(self) -> pd.DataFrame:
        """Return `rows` as a data frame.

        Columns: ``problem family solver seed status reason chosen``, each parameter as
        ``solver.NAME``, ``number steps samples flops seconds reading``, then the metrics.
        ``chosen`` says whether tuning chose the record's trial.

        Raises
        ------
        ImportError
            Where pandas is not installed (``pip install orthobench[export]``).
        """
        import pandas as pd

        return pd.DataFrame(list(self.rows()))


def _rows(record: Record, chosen: bool) -> Iterator[dict[str, Any]]:
    head = {
        "key": record.key,
        "problem": record.problem,
        "family": record.family,
        "solver": record.solver,
        "seed": record.seed,
        "status": record.status.value,
        "reason": record.reason,
        "chosen": chosen,
        **{f"solver.{name}": value for name, value in record.parameters.items()},
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
            "reading": mark.reading,
            **mark.metrics,
        }
