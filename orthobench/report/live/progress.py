"""How far a run is, from what its store has: to be told to whoever watches."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from orthobench.harness.identity import canonical
from orthobench.harness.stopping import RunStatus
from orthobench.report.formatting import assignments, clean, duration
from orthobench.results.results import Results
from orthobench.results.runs import Run, run_label
from orthobench.tools import toml
from orthobench.tools.collections import grouped

FEW = 5
"""The runs that have to finish while they are watched before the time left is estimated."""

FAILURES = 50
"""The most failures that are told, the latest first."""


class Progress:
    """How far a run is, as often as somebody looks.

    Parameters
    ----------
    clock : callable
        Returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begin: tuple[float, int] | None = None
        self._failures: dict[str, str] = {}

    def look(self, results: Results, running: bool) -> dict[str, Any]:
        """Return how far the run is, as plain values.

        Parameters
        ----------
        results : Results
            As the store has them now.
        running : bool
            Whether a process writes the store.
        """
        session, records = results.session(), results.records
        finished = len(records) - len(results.missing)
        to_come = len(results.missing) + chosen_to_come(session["text"], records)
        for record in results.failures:
            self._failures.setdefault(record.key, failure(record))
        latest = [*self._failures.values()][: -FAILURES - 1 : -1]
        ended = session["ended"] is not None or not to_come
        return {
            "suite": clean(results.suite),
            "state": "running" if running and not ended else "ended" if ended else "cut off",
            "finished": finished,
            "planned": finished + to_come,
            "failed": len(results.failures),
            "left": self._left(finished, to_come) if running and not ended else "",
            "failures": latest,
        }

    def _left(self, finished: int, to_come: int) -> str:
        """Return the time left as text; empty as long as too few runs were seen to finish."""
        now = self._clock()
        begin, before = self._begin = self._begin or (now, finished)
        seen = finished - before
        return duration((now - begin) / seen * to_come) if seen >= FEW else ""


def chosen_to_come(suite: str, records: Sequence[Run]) -> int:
    """Return how many runs follow from trials that are still to be chosen, and so not planned yet.

    Parameters
    ----------
    suite : str
        Its TOML.
    records : sequence of Run
    """
    seeds, tuning = _seeds(suite)
    pairs = grouped(records, lambda record: (record.problem.label, record.solver.label))
    undecided = sum(
        len({canonical(record.solver.tuned) for record in own}) > 1
        and len({record.seed for record in own}) <= tuning
        for own in pairs.values()
    )
    return undecided * (seeds - tuning) if 0 < tuning < seeds else 0


def _seeds(suite: str) -> tuple[int, int]:
    """Return how many seeds a suite has, and on how many of them its trials are compared."""
    try:
        table: Mapping[str, Any] = toml.loads(suite)
    except tomllib.TOMLDecodeError:
        return 0, 0
    tuning = table.get("tuning")
    counts = (table.get("seeds", 10), tuning.get("seeds") if isinstance(tuning, dict) else None)
    seeds, tried = (len(count) if isinstance(count, list) else count for count in counts)
    return (seeds, tried) if isinstance(seeds, int) and isinstance(tried, int) else (0, 0)


def failure(record: Run) -> str:
    """Return a failed run as a line of text."""
    tuned = f" {assignments(record.solver.tuned)}" if record.solver.tuned else ""
    who = run_label(f"{record.solver.label}{tuned}", record.problem.label, record.seed)
    ending: RunStatus = record.stop.status
    return clean(f"{who}: {ending.value}: {record.stop.reason}")[:400]
