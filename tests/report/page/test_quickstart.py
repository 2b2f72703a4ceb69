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
from recomputed import LEVEL, best_of, decided
from scipy import stats

pytestmark = pytest.mark.slow

COSTS = ("samples", "seconds", "flops", "steps")
TUNED_BY, PRIMARY = "validation_suboptimality", "suboptimality"
LADDER = 10.0 ** (-np.arange(1, 21) / 4)
COCO = 10.0 ** (2 - np.arange(51) / 5)
ACCURACIES = {"10 %": 1e-1, "1 %": 1e-2, "0.1 %": 1e-3, "0.001 %": 1e-5}
UNITS = {"samples": 1.0, "seconds": 1e-9, "flops": 1.0, "steps": 1.0}
REL = 6e-5  # numbers of plots are kept with five digits
MARKS = ("best", "close", "equal", "undecided", "failed")
PREFIXES = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "s": 1.0, "ms": 1e-3, "µs": 1e-6}


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
    subprocess.run([tool, "run", "quickstart", "-q", "--no-figures"], cwd=folder, check=True)
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
               for k in (*COSTS, "reading", PRIMARY, TUNED_BY)}  # fmt: skip
        run["seconds"] = run["seconds"] + run["reading"]
        run["chosen"] = marks[0]["chosen"]
        assert marks[0]["status"] in ("done", "budget")
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


def table_of(own):
    return {solver: finals(runs) for solver, runs in own.items()}


def seconds_of(own):
    return {solver: np.median(finals(runs, "seconds")) for solver, runs in own.items()}


def same(shown, value, rounding=0.0):
    """Whether a text shows a value to three digits, or says that it is zero up to rounding."""
    if shown.startswith("<"):
        return 0 < abs(value) <= rounding
    if "million" in shown or shown.startswith("> 1.00e6"):
        return value > 1e6
    number, _, unit = shown.replace(",", "").partition(" ")
    return float(number) * PREFIXES.get(unit, 1.0) == pytest.approx(value, rel=6e-3, abs=1e-300)


def same_span(shown, low, high, rounding=0.0):
    first, last = shown.split(" to ", 1)
    return same(first, low, rounding) and same(last, high, rounding)


def named(cell):
    """Return the solver and the mark of the first cell of a row."""
    mark = re.search(rf"[★≈=?✗] ({'|'.join(MARKS)})", cell)
    return cell.split()[0], mark[1] if mark else ""


def test_the_results_of_each_problem(chosen, tables):
    rankings = tables.of("ranking")[1:]
    assert len(rankings) == len(chosen) == 4
    for own, ranking in zip(chosen.values(), rankings, strict=True):
        rounding = rounding_of(own)
        decisions = decided(table_of(own), rounding, seconds_of(own))
        assert named(ranking[0][0])[0] == best_of(table_of(own), rounding, seconds_of(own))
        for cell, median, quartiles, interval, seconds, flops, samples, ok in ranking:
            solver, mark = named(cell)
            values = finals(own[solver])
            assert mark == decisions[solver][0]
            assert same(median, np.median(values), rounding)
            assert same_span(quartiles, *np.quantile(values, (0.25, 0.75)), rounding)
            assert within_bootstrap(interval, values, rounding)
            for shown, column in ((seconds, "seconds"), (flops, "flops"), (samples, "samples")):
                assert same(shown, np.median(finals(own[solver], column)))
            assert ok == f"{len(values)}/{len(values)}"


def within_bootstrap(shown, values, rounding):
    """Whether an interval of the median is that of a bootstrap of our own, but for its noise."""
    n = len(values)
    drawn = np.random.default_rng(7).choice(values, (20_000, n))
    medians = np.median(drawn, axis=1)
    expanded = math.sqrt(n / (n - 1)) * stats.t.ppf(0.975, n - 1)
    tail = stats.norm.cdf(-expanded)
    for text, at in zip(shown.split(" to "), (tail, 1 - tail), strict=True):
        around = np.quantile(medians, np.clip([at - 0.006, at + 0.006], 0, 1))
        inside = around[0] * (1 - 6e-3) <= _number(text) <= around[1] * (1 + 6e-3)
        if not inside and not (text.startswith("<") and 0 <= around[0] <= rounding):
            return False
    return True


def _number(text):
    return float(text) if not text.startswith("<") else math.nan


def test_the_comparisons_with_the_best(chosen, tables):
    for own, rows in zip(chosen.values(), tables.of("listing pairs"), strict=True):
        rounding, table = rounding_of(own), table_of(own)
        decisions = decided(table, rounding, seconds_of(own))
        best = best_of(table, rounding, seconds_of(own))
        for solver, decision, counts, effect, interval, p in rows:
            mark, *numbers = decisions[solver]
            words = {"": "not the best", "close": "no difference shown",
                     "undecided": "undecidable", "equal": "equal"}  # fmt: skip
            assert decision == words[mark]
            difference = np.array(table[solver]) - np.array(table[best])
            difference[np.abs(difference) <= rounding] = 0
            assert counts == " / ".join(
                str(int(n))
                for n in ((difference > 0).sum(), (difference == 0).sum(), (difference < 0).sum())
            )
            assert same(effect, numbers[0])
            assert same_span(interval, *numbers[1])
            assert float(p) == pytest.approx(numbers[3], rel=6e-2)


def test_the_matrix_and_the_standings(chosen, tables, text):
    (matrix,), standings = tables.of("matrix"), tables.of("ranking")[0]
    head = re.search(r'<table class="matrix">.*?</thead>', text, re.DOTALL)[0]
    solvers = re.findall(r"<br>([\w-]+)", head)
    ranks, wins, close = defaultdict(list), defaultdict(int), defaultdict(int)
    for (problem, own), row in zip(chosen.items(), matrix, strict=True):
        assert row[0] == problem
        rounding = rounding_of(own)
        decisions = decided(table_of(own), rounding, seconds_of(own))
        for solver, cell in zip(solvers, row[1:], strict=True):
            mark, effect, *_ = decisions[solver]
            assert named("x " + cell)[1] == mark
            assert same(cell.split(maxsplit=2)[-1] if mark else cell, effect or 1.0) or float(
                cell.split()[-1]
            ) == pytest.approx(effect or 1.0, abs=6e-3)
            wins[solver] += mark == "best"
            close[solver] += mark == "close"
        medians = np.array([np.median(finals(own[solver])) for solver in solvers])
        order = np.argsort(medians)
        places = np.cumsum(np.diff(medians[order], prepend=medians[order][0]) > rounding)
        own_ranks = stats.rankdata(places)
        for at, rank in zip(order, own_ranks, strict=True):
            ranks[problem.split()[0], solvers[at]].append(rank)
    mean = {
        s: np.mean([np.mean(own) for (_, solver), own in ranks.items() if solver == s])
        for s in solvers
    }
    for solver, rank, best_on, close_on, failed in standings:
        assert float(rank) == pytest.approx(mean[solver], abs=6e-3)
        assert best_on == f"{wins[solver]} of 4"
        assert close_on == f"{close[solver]} of 4"
        assert failed == "0 of 48"


def hits(own, cost, above):
    """Return the cost at which each run first reaches each target, and what it took in all."""
    starts = np.max([[run[PRIMARY][0] for run in runs] for runs in own.values()], axis=0)
    lowest = np.min([[run[PRIMARY].min() for run in runs] for runs in own.values()], axis=0)
    found, whole = {}, {}
    for solver, runs in own.items():
        rows = []
        for run, start, low in zip(runs, starts, lowest, strict=True):
            slack = np.maximum(above(start - low), 1e-12 * max(abs(start), abs(low)))
            reached = np.minimum.accumulate(run[PRIMARY])[:, None] <= low + slack
            first = np.where(reached.any(axis=0), reached.argmax(axis=0), -1)
            rows.append(np.append(np.maximum(run[cost], UNITS[cost]), math.inf)[first])
        found[solver] = np.array(rows)
        whole[solver] = np.array([run[cost].max() for run in runs])
    return found, whole


def test_the_answers(chosen, text):
    shown = dict(
        re.findall(r'<dt>([^<]+)</dt><dd><p class="answer">(?:<svg.*?</svg>)?(.*?)</p>', text)
    )
    costs = {"Fewest samples": "samples", "Least time": "seconds", "Least flops": "flops"}
    assert set(costs) < set(shown)
    for regime, words in shown.items():
        wins = defaultdict(int)
        for own in chosen.values():
            if regime in costs:
                found, _ = hits(own, costs[regime], lambda gap: np.array([1e-2]) * gap)
                medians = {s: np.median(v) for s, v in found.items() if np.isfinite(v).all()}
                winner = min(medians, key=medians.get) if medians else "nobody"
            else:
                winner = best_of(table_of(own), rounding_of(own), seconds_of(own))
            wins[winner] += 1
        for winner, count in wins.items():
            assert re.search(rf"{winner}[^;]* on (all )?{count}\b", words), (regime, words, wins)


def test_convergence(chosen, plots):
    for number, own in enumerate(chosen.values()):
        for cost in ("samples", "steps", "flops"):
            for solver, line in plots("convergence", cost, PRIMARY, number=number).items():
                runs = own[solver]
                if any(not np.array_equal(run[cost], runs[0][cost]) for run in runs):
                    continue
                values = np.array([run[PRIMARY] for run in runs])
                at = [np.abs(runs[0][cost] - x).argmin() for x in line["x"]]
                for name, q in (("low", 0.25), ("y", 0.5), ("high", 0.75)):
                    expected = np.quantile(values, q, axis=0)[at]
                    assert line[name] == pytest.approx(expected, rel=REL, abs=1e-300)


def test_tuning(scores, plots):
    problems = dict.fromkeys(problem for problem, _ in scores)
    for number, problem in enumerate(problems):
        drawn = plots("tuning", "step", "tuning score", number=number)
        assert len(drawn) == 6
        for solver, line in drawn.items():
            expected = sorted((dict(p)["step"], s) for p, s in scores[problem, solver].items())
            assert line["x"] == pytest.approx([x for x, _ in expected], rel=REL)
            assert line["y"] == pytest.approx([y for _, y in expected], rel=REL)


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


@pytest.mark.parametrize("cost", COSTS)
def test_targets_reached(chosen, plots, cost):
    for words, above in (
        ("of the gap", lambda g: LADDER * g),
        ("as in COCO", lambda g: COCO + 0 * g),
    ):
        reached = defaultdict(list)
        for own in chosen.values():
            for solver, row in hits(own, cost, above)[0].items():
                reached[solver].extend(row.ravel())
        for solver, line in plots("ecdf", cost, words).items():
            assert_shares(line, reached[solver])


@pytest.mark.parametrize("cost", COSTS)
def test_quality_against_cost(chosen, plots, cost):
    points = defaultdict(lambda: defaultdict(list))
    for problem, own in chosen.items():
        start = np.max([[run[PRIMARY][0] for run in runs] for runs in own.values()], axis=0)
        lowest = np.min([[run[PRIMARY].min() for run in runs] for runs in own.values()], axis=0)
        spent = {s: np.median([r[cost].max() for r in runs]) for s, runs in own.items()}
        for solver, runs in own.items():
            ends = np.array([run[PRIMARY].min() for run in runs])
            gap = np.median(np.clip((ends - lowest) / (start - lowest), LADDER[-1], 1))
            point = math.log(
                max(spent[solver], UNITS[cost]) / max(min(spent.values()), UNITS[cost])
            )
            points[solver][problem.split()[0]].append((point, math.log(gap)))
    for solver, line in plots("pareto", cost).items():
        mean = np.exp(np.mean([np.mean(own, axis=0) for own in points[solver].values()], axis=0))
        assert [line["x"][0], line["y"][0]] == pytest.approx(mean, rel=REL)


def test_the_level_is_the_one_that_the_page_states(text):
    assert f"p &lt; {LEVEL}" in text
