"""The page of a history: curves over commits, their steps, and the changes of each commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from orthobench.contract.panel import Axis, Key, Panel, Plot, Series
from orthobench.report.page.plot_data import plot_data
from orthobench.report.page.write import framed, saved
from orthobench.report.style import solver_styles
from orthobench.tools.collections import grouped
from orthobench.tools.formatting import plural


def write_history(found: Mapping[str, Any], folder: Path) -> Path:
    """Write the page of a history into a folder, and return its path.

    `found` is of `orthobench.history.curves.facts`.

    Raises
    ------
    UsageError
        If the file cannot be written.
    """
    problems = grouped(found["curves"], lambda curve: curve["problem"])
    plots = [_plot(problem, curves, found) for problem, curves in problems.items()]
    styles = solver_styles(curve["solver"] for curve in found["curves"])
    counts = [plural(len(found[f"{kind}s"]), kind) for kind in ("commit", "curve", "step")]
    page = framed(
        "history.html", counts, styles, plot_data(plots, styles),
        found=found, plots_of=plots,
    )  # fmt: skip
    return saved(page, folder)


def _plot(problem: str, curves: Sequence[Mapping[str, Any]], found: Mapping[str, Any]) -> Plot:
    questions = ("result", "work", *(["time"] if found["timed"] else []))
    units = {curve["unit"] for curve in curves}
    labels = {
        "result": curves[0]["metric"].replace("_", " "),
        "work": f"{units.pop() if len(units) == 1 else 'work'} to what the oldest commit reaches",
        "time": "seconds for a unit of work, relative to the oldest commit",
    }
    numbers = tuple(range(1, len(found["commits"]) + 1))
    x = Axis("commit", "commit, the oldest is 1", log=False, ticks=numbers)

    def draw(key: Key) -> Panel:
        (question,) = key
        own = [s for s in found["steps"] if (s["problem"], s["question"]) == (problem, question)]
        return Panel(
            x, Axis(question, labels[question], log=question != "time"),
            tuple(_series(curve, question, own, found["commits"]) for curve in curves),
            rules=tuple({s["place"] + 1.0: None for s in own}),
            band="95 %" if question == "time" else "",
        )  # fmt: skip

    about = ("a vertical line is a step of a curve", "a gap is a commit without a value")
    return Plot(problem, "history", {"shows": questions}, draw, about=about)


def _series(
    curve: Mapping[str, Any], question: str, steps: Sequence[Mapping[str, Any]],
    commits: Sequence[Mapping[str, Any]],
) -> Series:  # fmt: skip
    said = {s["place"]: f"; {s['change']}: {s['said']}"
            for s in steps if s["solver"] == curve["solver"]}  # fmt: skip
    values = (np.array(curve[name], dtype=float) for name in (question, "low", "high"))
    y, low, high = values if question == "time" else (next(values), None, None)
    return Series(
        curve["solver"], np.arange(1.0, len(commits) + 1.0), y, low, high, solver=curve["solver"],
        notes=tuple(f"{commit['commit'][:10]} {commit['subject']}{said.get(i, '')}"
                    for i, commit in enumerate(commits)),
    )  # fmt: skip
