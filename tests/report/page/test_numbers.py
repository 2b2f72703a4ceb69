"""The numbers that the page draws, recomputed with numpy alone from the records."""

import gzip
import json
import re
from base64 import b64decode

import numpy as np
import pytest
from recomputed import amount, decided

from orthobench.report.page import write_page


@pytest.fixture(scope="module")
def drawn(runs, made, tmp_path_factory):
    """The records by problem and solver; the data of their page, with solvers of the matrix."""
    records = {
        (problem, solver): runs(solver, level, seeds=7, problem=problem)
        for problem in ("p", "q")
        for solver, level in (("a", 1.0), ("bb", 1.7), ("ccc", 3.0))
    }
    page = write_page(
        made([r for own in records.values() for r in own]), tmp_path_factory.mktemp("n")
    )
    text = page.read_text()
    data = json.loads(gzip.decompress(b64decode(re.search(r'id="data">(.*?)<', text)[1])))
    matrix = re.search(r'<table class="matrix">(.*?)</table>', text, re.DOTALL)[1]
    data["rows"] = re.findall(r'<th scope="row">.*</svg>(\w+)</span>', matrix)
    return records, data


def series_of(data, kind, number=0, panel=None):
    """Return the arrays of each solver in a panel of a plot."""
    plot = [plot for plot in data["plots"] if plot["kind"] == kind][number]
    found = plot["panels"][panel or next(iter(plot["panels"]))]
    names = [one["name"] for one in data["solvers"]]
    arrays = ("x", "y", "low", "high")
    return {
        names[one["solver"]]: {k: np.array(data["pool"][one[k]]) for k in arrays if k in one}
        for one in found["series"]
    }


def table(records, problem, solver, value):
    return np.array([[value(mark) for mark in r.trace] for r in records[problem, solver]])


def test_curves_are_medians_and_quartiles_over_the_seeds(drawn):
    records, data = drawn
    for number, problem in enumerate("pq"):
        found = series_of(data, "convergence", number)
        for solver, line in found.items():
            values = table(records, problem, solver, lambda mark: mark.metrics["gap"])
            samples = table(records, problem, solver, lambda mark: mark.work.samples)[0]
            low, median, high = np.quantile(values, (0.25, 0.5, 0.75), axis=0)
            assert line["x"] == pytest.approx(samples, rel=6e-5)
            for name, expected in (("y", median), ("low", low), ("high", high)):
                assert line[name] == pytest.approx(expected, rel=6e-5)


@pytest.mark.parametrize(("label", "tolerance"), [("1 %", 1e-2), ("0.0001 %", 1e-6)])
@pytest.mark.parametrize("cost", ["seconds", "flops", "samples", "steps"])
def test_cells_have_verdict_cost_and_seeds_of_the_calls_in_the_traces(
    drawn, cost, label, tolerance
):
    records, data = drawn
    read = {
        "seconds": lambda m: m.seconds + m.readout_seconds,
        "flops": lambda m: m.work.flops,
        "samples": lambda m: m.work.samples,
        "steps": lambda m: m.work.steps,
    }
    (family,) = data["families"]
    cells = family[f"{cost},{label}"]["cells"]
    assert len(cells) == len(data["rows"]) * 2
    for place, problem in enumerate("pq"):
        curves = {
            solver: [
                (steps.astype(int), values, spent, "own")
                for steps, values, spent in zip(
                    table(records, problem, solver, read["steps"]),
                    table(records, problem, solver, lambda m: m.metrics["gap"]),
                    table(records, problem, solver, read[cost]),
                    strict=True,
                )
            ]
            for solver in data["rows"]
        }
        known = decided(curves, tolerance)
        own = dict(zip(data["rows"], cells[place::2], strict=True))
        named = [solver for solver, (kind, *_) in own.items() if kind == "star"]
        assert len(named) == any(verdict == "as good" for verdict, _ in known.values())
        for solver, (kind, _, shown, seeds, *_) in own.items():
            verdict, call = known[solver]
            assert verdict == ("as good" if kind in ("star", "good") else kind)
            if call is not None:
                assert amount(shown) == pytest.approx(call[0], rel=6e-3)
                assert seeds == f"{7 - call[1]}/7"
