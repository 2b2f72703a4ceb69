"""Every number of the page of ``quickstart``, recomputed by numpy alone from the exported table."""

import gzip
import json
import math
import re
import subprocess
import sys
from base64 import b64decode
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from recomputed import amount, decided

pytestmark = pytest.mark.slow

COSTS = ("samples", "seconds", "flops", "steps")
TUNED_BY, PRIMARY = "validation_suboptimality", "suboptimality"
ACCURACIES = {"10 %": 1e-1, "1 %": 1e-2, "0.1 %": 1e-3, "0.001 %": 1e-5}
UNITS = {"samples": 1.0, "seconds": 1e-9, "flops": 1.0, "steps": 1.0}
REL = 6e-5  # numbers of plots are kept with five digits


class Tables(HTMLParser):
    """The tables of a page, as rows of texts of cells."""

    def __init__(self, page):
        super().__init__()
        self.tables, self._cell = [], None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag == "table":
            self.tables.append((dict(attributes).get("class", ""), []))
        elif tag == "tr" and self.tables:
            self.tables[-1][1].append([])
        elif tag in ("td", "th") and self.tables:
            self._cell = []

    def handle_data(self, data):
        if self._cell is not None:
            self._cell.append(data)

    def handle_endtag(self, tag):
        if tag in ("td", "th") and self._cell is not None:
            self.tables[-1][1][-1].append(" ".join("".join(self._cell).split()))
            self._cell = None

    def of(self, kind):
        """Return the rows below the head of all tables of a class."""
        return [rows[1:] for name, rows in self.tables if name == kind]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a run of the suite, its page and its exported table."""
    folder = tmp_path_factory.mktemp("quickstart")
    tool = Path(sys.executable).with_name("orthobench")
    subprocess.run(
        [tool, "run", "quickstart", "-q", "--no-figures", "--decide", "0"], cwd=folder, check=True
    )
    store = "orthobench-results/quickstart/results.sqlite"
    subprocess.run([tool, "report", store, "-q", "--out", "page"], cwd=folder, check=True)
    subprocess.run([tool, "export", store, "--out", "table.jsonl"], cwd=folder, check=True)
    return folder


@pytest.fixture(scope="module")
def trials(folder):
    """The runs by problem, solver, parameters and seed: each a mapping of columns to arrays."""
    rows = defaultdict(list)
    for line in (folder / "table.jsonl").read_text().splitlines():
        row = json.loads(line)
        parameters = tuple((k[7:], v) for k, v in row.items() if k.startswith("solver."))
        rows[row["problem"], row["solver"], parameters, row["seed"]].append(row)
    found = defaultdict(lambda: defaultdict(dict))
    for (problem, solver, parameters, seed), marks in rows.items():
        run = {k: np.array([m[k] for m in marks], dtype=float)
               for k in (*COSTS, "readout_seconds", PRIMARY, TUNED_BY)}  # fmt: skip
        run["seconds"] = run["seconds"] + run["readout_seconds"]
        run["chosen"] = marks[0]["chosen"]
        run["ending"] = {"done": "own", "budget": "budget"}[marks[0]["status"]]
        found[problem, solver][parameters][seed] = run
    return found


@pytest.fixture(scope="module")
def scores(trials):
    """The tuning score of each trial: the mean of the last validation value over common seeds."""
    found = {}
    for key, of_solver in trials.items():
        seeds = set.intersection(*(set(runs) for runs in of_solver.values()))
        found[key] = {
            parameters: np.mean([runs[seed][TUNED_BY][-1] for seed in sorted(seeds)])
            for parameters, runs in of_solver.items()
        }
    return found


@pytest.fixture(scope="module")
def chosen(trials, scores):
    """The runs of each solver on each problem with the parameters of the lowest score."""
    found = defaultdict(dict)
    for (problem, solver), own in scores.items():
        best = min(own, key=lambda parameters: (own[parameters], [v for _, v in parameters]))
        assert all(run["chosen"] for run in trials[problem, solver][best].values())
        found[problem][solver] = [run for _, run in sorted(trials[problem, solver][best].items())]
    return found


@pytest.fixture(scope="module")
def text(folder):
    return (folder / "page" / "index.html").read_text()


@pytest.fixture(scope="module")
def tables(text):
    return Tables(text)


@pytest.fixture(scope="module")
def plots(text):
    """Series of a panel: ``plots(kind, number, panel)`` returns arrays by solver."""
    packed = re.search(r'id="data">(.*?)<', text)[1]
    data = json.loads(gzip.decompress(b64decode(packed)))
    names = [one["name"] for one in data["solvers"]]

    def of(kind, *options, number=0):
        plot = [plot for plot in data["plots"] if plot["kind"] == kind][number]
        at = [
            choice["options"].index(o) for choice, o in zip(plot["choices"], options, strict=True)
        ]
        panel = plot["panels"][",".join(map(str, at))]
        return {
            names[one["solver"]]: {
                k: np.array([math.inf if v is None else v for v in data["pool"][one[k]]])
                for k in ("x", "y", "low", "high") if k in one
            }
            for one in panel["series"] if one["solver"] >= 0
        }  # fmt: skip

    return of


def finals(runs, column=PRIMARY):
    return [run[column][-1] for run in runs]


def rounding_of(own):
    return 1e-12 * max(abs(run[PRIMARY][0]) for runs in own.values() for run in runs)


def same(shown, value, rounding=0.0):
    """Whether a text shows a value to three digits, or says that it is zero up to rounding."""
    if shown.startswith("<"):
        return 0 < abs(value) <= rounding
    if "million" in shown or shown.startswith("> 1.00e6"):
        return value > 1e6
    return amount(shown) == pytest.approx(value, rel=6e-3, abs=1e-300)


def named(cell, solvers):
    """Return the solver that a cell begins with; the one with the longest name of several."""
    return max((s for s in solvers if f"{cell} ".startswith(f"{s} ")), key=len)


def test_the_results_of_each_problem(chosen, tables):
    rankings = tables.of("ranking")[:4]
    assert len(rankings) == len(chosen) == 4
    for own, ranking in zip(chosen.values(), rankings, strict=True):
        rounding = rounding_of(own)
        assert len(ranking) == len(own)
        for cell, median, _, seconds, flops, samples in ranking:
            solver = named(cell, own)
            values = finals(own[solver])
            assert same(median, np.median(values), rounding)
            for shown, column in ((seconds, "seconds"), (flops, "flops"), (samples, "samples")):
                assert same(shown, np.median(finals(own[solver], column)))


def curves(own, cost):
    """Return runs as `recomputed` takes them."""
    return {
        solver: [
            (run["steps"].astype(int), run[PRIMARY], np.maximum(run[cost], UNITS[cost]),
             run["ending"])
            for run in runs
        ]
        for solver, runs in own.items()
    }  # fmt: skip


def exact(runs):
    """Whether all runs of a solver end at the optimum: then it may be named for that."""
    return all(abs(run[PRIMARY][-1]) <= 1e-9 * abs(run[PRIMARY][0]) for run in runs)


def hits(own, cost, above):
    """Return the least cost at which each run is at each target, and what it took in all."""
    starts = np.max([[run[PRIMARY][0] for run in runs] for runs in own.values()], axis=0)
    lowest = np.min([[run[PRIMARY].min() for run in runs] for runs in own.values()], axis=0)
    found, whole = {}, {}
    for solver, runs in own.items():
        rows = []
        for run, start, low in zip(runs, starts, lowest, strict=True):
            slack = np.maximum(above(start - low), 1e-12 * max(abs(start), abs(low)))
            reached = run[PRIMARY][:, None] <= low + slack
            spent = np.maximum(run[cost], UNITS[cost])[:, None]
            rows.append(np.where(reached, spent, math.inf).min(axis=0))
        found[solver] = np.array(rows)
        whole[solver] = np.array([run[cost].max() for run in runs])
    return found, whole


TOLERANCES = {"1 %": 1e-2, "0.0001 %": 1e-6}


@pytest.fixture(scope="module")
def family(text):
    """What the switch of the first screen shows, by its choices."""
    packed = re.search(r'id="data">(.*?)<', text)[1]
    return json.loads(gzip.decompress(b64decode(packed)))["families"][0]


@pytest.mark.parametrize("words", TOLERANCES)
@pytest.mark.parametrize("cost", COSTS)
def test_the_marks(chosen, family, tables, cost, words):
    (matrix,) = tables.of("matrix")
    solvers = [row[0] for row in matrix]
    cells = family[f"{cost},{words}"]["cells"]
    assert len(cells) == len(solvers) * len(chosen)
    kinds = {"as good": "good", "worse": "worse", "undecided": "undecided"}
    for number, own in enumerate(chosen.values()):
        known = decided(curves(own, cost), TOLERANCES[words])
        marked = dict(zip(solvers, cells[number :: len(chosen)], strict=True))
        for solver, (mark, _, shown, seeds, *_) in marked.items():
            if solver not in own:
                assert mark == "absent"
                continue
            verdict, call = known[solver]
            assert verdict == "as good" if mark == "star" else kinds[verdict] == mark
            if call is not None and not (mark == "star" and exact(own[solver])):
                assert same(shown, call[0])
                assert seeds == f"{len(own[solver]) - call[1]}/{len(own[solver])}"


def test_what_to_use_is_good_on_as_many_problems_as_the_sentence_says(chosen, family):
    sentence = family["seconds,1 %"]["sentence"]
    use, reached, runs = re.match(r"Use ([\w-]+): .* in (\d+) of (\d+) runs", sentence).groups()
    found = [decided(curves(own, "seconds"), 0.01)[use] for own in chosen.values()]
    calls = [call for _, call in found if call is not None]
    assert len(calls) == len(found) or f"on {len(calls)} of {len(found)} problems" in sentence
    seeds = len(next(iter(chosen.values()))[use])
    assert int(runs) == seeds * len(calls)
    assert int(reached) == int(runs) - sum(misses for _, misses, *_ in calls)


def assert_shares(line, values):
    """A line is the share of values up to x, but for the digits of x and steps too small to see."""
    below, above = (np.mean(np.array(values)[:, None] <= line["x"] * f, axis=0)
                    for f in (1 - 1e-4, 1 + 1e-4))  # fmt: skip
    assert (line["y"] > below - 0.008).all()
    assert (line["y"] < above + REL).all()


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("accuracy", ACCURACIES)
def test_profiles_and_expected_costs(chosen, plots, cost, accuracy):
    ratios, expected = defaultdict(list), defaultdict(list)
    for own in chosen.values():
        found, whole = hits(own, cost, lambda gap: np.array([ACCURACIES[accuracy]]) * gap)
        table = np.array([v[:, 0] for v in found.values()])
        least = np.where(np.isfinite(table.min(axis=0)), table.min(axis=0), 1.0)
        for solver, row in zip(found, table, strict=True):
            ratios[solver].extend(row / least)
            there = np.isfinite(row)
            with np.errstate(divide="ignore"):
                expected[solver].append(np.where(there, row, whole[solver]).sum() / there.sum())
    for solver, line in plots("profile", cost, accuracy).items():
        assert_shares(line, ratios[solver])
    for solver, line in plots("expected", cost, accuracy).items():
        assert line["y"] == pytest.approx(expected[solver], rel=REL)
