"""The runs behind the curves of a page: seed, ending, and the command that runs one again."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from orthobench.results.runs import Run
from orthobench.results.tuning import SolverResult
from orthobench.tools.formatting import assignments, clean

SEED = "\0"
"""The place of the seed in a command, while it is made."""

KEPT = ("threads", "target", "levels")
"""What a suite says of all its runs, besides their budget."""


def entry_runs(entry: SolverResult, suite: Mapping[str, Any]) -> dict[str, Any]:
    """Return the runs of one solver on one problem that its curve summarizes.

    Parameters
    ----------
    entry : SolverResult
    suite : mapping
        The tables of the suite; none where it was given as Python objects.
    """
    records = [record for record in entry.finished if len(record.trace)]
    runs = tuple(
        (r.seed, clean(f"{r.stop.status.value}: {r.stop.reason}"), _load(r)) for r in records
    )
    command = _command(records[0], suite) if records else ()
    parameters = records[0].solver.parameters if records else {}
    return {"about": assignments(parameters), "command": command, "runs": runs}


def _load(record: Run) -> str:
    """Return the load of each core before and after a run; empty where it is not known."""
    shares = [one.average / one.processors for one in record.load or () if one.average is not None]
    return f"{shares[0]:.2f}, {shares[1]:.2f}" if len(shares) == 2 else ""


def _command(record: Run, suite: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the command that runs a record's cell alone, split where its seed goes."""
    only = {
        **{key: suite[key] for key in KEPT if key in suite},
        **({"measure": record.measure} if record.measure else {}),
        "budget": dict(record.budget),
        "problem": [{"name": record.problem.name, **record.problem.parameters}],
        "solver": [{"name": record.solver.name, **record.solver.parameters}],
    }
    suite_of_one = f'{{"seeds": [{SEED}], {_literal(only)[1:]}'
    imports = "from pathlib import Path; import orthobench as ob"
    text = f'{imports}; ob.run({suite_of_one}, Path("alone.sqlite"))'
    return tuple(f"python -c {shlex.quote(text)}".split(SEED))


def _literal(value: Any) -> str:
    """Return a value as Python writes it, with double quotes: the command has single ones."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_literal(k)}: {_literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_literal, value))}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
