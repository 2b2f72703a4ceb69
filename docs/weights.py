"""Make the picture and print the tables of networks in `docs/guide/orthogonalization.md`.

``python docs/weights.py STORE...`` reads stores of the suite ``orthogonal-weights``, takes of each
method the step of least validation loss, and draws its test loss against samples and seconds, means
over seeds, into docs/pictures/orthogonal-weights.png. Seconds are those of the store's clock.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from click import echo

sys.path.append(str(Path(__file__).parent / "_ext"))
from drawing import draw

from orthobench.contract.panel import Axis, Panel, Series
from orthobench.results.results import Results
from orthobench.results.runs import Run
from orthobench.tools.collections import grouped

PICTURE = Path(__file__).parent / "pictures" / "orthogonal-weights.png"

SUITE = "orthogonal-weights"

TITLES = {"digits": "digits, 64 × 40", "mnist": "MNIST, 784 × 64"}


class Method(NamedTuple):
    """A method at its best step, with the runs of all seeds there."""

    name: str
    step: float
    runs: list[Run]

    def end(self, metric: str) -> float:
        """Return the mean of a metric at the end."""
        return float(np.mean([run.trace[-1].metrics[metric] for run in self.runs]))


def name_of(run: Run) -> str:
    """Return what a method is called in the tables."""
    parameters: Mapping[str, Any] = run.solver.parameters
    if "map" in parameters:
        return f"torch, {parameters['map']}"
    return "spel, not projected" if parameters.get("projection") is False else run.solver.name


def methods(runs: Iterable[Run]) -> list[Method]:
    """Return each method at the step of least validation loss, the best first."""
    found = []
    for name, own in grouped(runs, name_of).items():
        steps = grouped(own, lambda run: float(run.solver.parameters["step"]))
        tried = [Method(name, step, some) for step, some in steps.items()]
        most = max(len(one.runs) for one in tried)
        whole = [one for one in tried if len(one.runs) == most]
        found.append(min(whole, key=lambda one: one.end("validation_loss")))
    return sorted(found, key=lambda one: one.end("test_loss"))


def panel(images: str, found: Iterable[Method], cost: str) -> Panel:
    """Return the test loss of each method against samples or seconds, means over seeds."""
    lines = []
    for one in found:
        traces = [run.trace for run in one.runs]
        length = min(map(len, traces))
        marks = [trace[1:length] for trace in traces]
        loss = np.mean([[m.metrics["test_loss"] for m in own] for own in marks], axis=0)
        spent = {
            "samples": [float(m.work.samples) for m in marks[0]],
            "seconds": np.mean([[m.seconds + m.readout_seconds for m in o] for o in marks], axis=0),
        }
        lines.append(Series(one.name, np.array(spent[cost]), loss, solver=one.name))
    return Panel(Axis(cost, cost), Axis("loss", "test loss"), (*lines,), title=TITLES[images])


def main(stores: Iterable[Path]) -> None:
    """Print the tables, and draw the picture."""
    runs = [run for path in stores for run in Results.read(path, SUITE).records if run.trace]
    counted = [run for run in runs if np.isfinite(run.trace[-1].metrics.get("test_loss", np.nan))]
    by_images = grouped(counted, lambda run: str(run.problem.parameters["images"]))
    shown = {images: methods(by_images[images]) for images in TITLES if images in by_images}
    panels = [panel(*one, cost) for cost in ("samples", "seconds") for one in shown.items()]
    draw(PICTURE, "Training an orthogonal layer", panels, "means over seeds, at the best step")
    for images, found in shown.items():
        echo(f"{TITLES[images]}\n| method | step | seeds | test loss | test error |")
        for one in found:
            error = f"{100 * one.end('test_error'):.1f} %"
            seeds = len({run.seed for run in one.runs})
            loss = one.end("test_loss")
            echo(f"| `{one.name}` | {one.step:g} | {seeds} | {loss:.3f} | {error} |")


if __name__ == "__main__":
    main(map(Path, sys.argv[1:]))
