"""The numbers that the page draws, recomputed with numpy alone from the records."""

import gzip
import json
import re
from base64 import b64decode

import numpy as np
import pytest

from orthobench.report.page import write_page

LADDER = 10.0 ** (-np.arange(1, 21) / 4)
COCO = 10.0 ** (2 - np.arange(51) / 5)


@pytest.fixture(scope="module")
def drawn(runs, made, tmp_path_factory):
    """The records by problem and solver, and the data of their page."""
    records = {
        (problem, solver): runs(solver, level, seeds=7, problem=problem)
        for problem in ("p", "q")
        for solver, level in (("a", 1.0), ("bb", 1.7), ("ccc", 3.0))
    }
    page = write_page(
        made([r for own in records.values() for r in own]), tmp_path_factory.mktemp("n")
    )
    packed = re.search(r'id="data">(.*?)<', page.read_text())
    return records, json.loads(gzip.decompress(b64decode(packed[1])))


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


def firsts(records, cost, above):
    """Return the cost at which each run first reaches each target, by solver."""
    found = {}
    for problem in "pq":
        gaps = {
            s: table(records, problem, s, lambda m: m.metrics["gap"]) for s in ("a", "bb", "ccc")
        }
        costs = {s: table(records, problem, s, cost) for s in gaps}
        start = np.max([g[:, 0] for g in gaps.values()], axis=0)
        lowest = np.min([g.min(axis=1) for g in gaps.values()], axis=0)
        for solver, values in gaps.items():
            for seed, row in enumerate(values):
                target = lowest[seed] + above(start[seed] - lowest[seed])
                reached = np.minimum.accumulate(row)[:, None] <= target
                at = np.where(reached.any(axis=0), reached.argmax(axis=0), -1)
                hit = np.append(costs[solver][seed], np.inf)[at]
                found.setdefault(solver, []).append(hit)
    return {solver: np.array(rows) for solver, rows in found.items()}


@pytest.mark.parametrize(
    ("panel", "above"), [("0,0", lambda gap: LADDER * gap), ("0,1", lambda gap: COCO)]
)
def test_the_ecdf_is_the_share_of_targets_reached(drawn, panel, above):
    records, data = drawn
    hits = firsts(records, lambda mark: mark.seconds + mark.readout_seconds, above)
    for solver, line in series_of(data, "ecdf", panel=panel).items():
        assert line["y"][-1] > 0.3
        for x, y in zip(line["x"], line["y"], strict=True):
            share = (hits[solver] <= x * (1 + 1e-4)).mean()
            assert y == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-6])
@pytest.mark.parametrize("cost", ["seconds", "flops", "samples", "steps"])
def test_factors_of_cost_are_those_of_the_traces(drawn, cost, tolerance):
    """A factor is the median cost of a solver over that of another one that gets there."""
    records, data = drawn
    read = {
        "seconds": lambda m: m.seconds + m.readout_seconds,
        "flops": lambda m: m.work.flops,
        "samples": lambda m: m.work.samples,
        "steps": lambda m: m.work.steps,
    }[cost]
    hits = firsts(records, read, lambda gap: np.array([tolerance]) * gap)
    medians = {s: np.median(rows.reshape(2, 7), axis=1) for s, rows in hits.items()}
    label = {1e-2: "1 %", 1e-6: "0.0001 %"}[tolerance]
    (family,) = data["families"]
    cells = family[f"{cost},{label}"]["cells"]
    names = next(iter(re.findall(r"Use (\w+):", family[f"{cost},{label}"]["sentence"])), None)
    stars = [at for at, (mark, *_) in enumerate(cells) if mark == "star"]
    if names:
        assert stars
    for at in range(2):
        finite = [m[at] for m in medians.values() if np.isfinite(m[at])]
        for mark, _, factor, _ in cells[at::2]:
            if mark == "good":
                shown = float(factor.removesuffix("×"))
                ratios = [m / min(finite) for m in finite]
                assert min(abs(r / shown - 1) for r in ratios) < 0.051  # two digits
