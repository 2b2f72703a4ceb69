"""The value of an answer for a person who follows it literally, in a fresh process.

    python benchmarks/follow.py                          # the 30 problems for development
    python benchmarks/follow.py --set held-out           # the 30 that are run once
    python benchmarks/follow.py --problems FILE.py       # your own: --help says how to write it
    python benchmarks/follow.py --compare OLD.json NEW.json
    python benchmarks/follow.py --smoke                  # three tiny ones, in 20 s

On each problem `orthobench.race` and `orthobench.advise` answer. The code of each answer is pasted
into a fresh process, and judged there in numpy alone:

- *runs*: whether the printed code runs, or its line ``outcome = ob.solve(...)`` if the data are in
  a variable.
- *wall / said*: the wall-clock time of a call, the median of five after the first, over the cost
  that the race said; 1 if they differ by less than 20 ms.
- *as good*: number of fresh seeds on which the call ends within 1 % of the gap from a random start
  to the optimum; to the best value that any call here reached, if the optimum is not known.
- *regret*: its wall-clock time less 0.05 s over that of the cheapest literal call that is as good,
  at least 1; both timed in turns in one process. It is 10 if the code does not run, or if the call
  is as good on less than half as many seeds as that one. The literal calls are the other answer and
  those of each solver of the race, with defaults and as the race found it cheapest. Each runs to
  its own end, and with budgets of a half, a quarter and a sixteenth of those steps. They are tried
  in the order of the race, for as long as they might be the cheapest.

The output is one JSON file, written after each problem; ``--resume`` goes on with it.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import click
import numpy as np
from scipy.stats import binom

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import follow_problems  # noqa: E402
from follow_problems import PROBLEMS, AbsentError, Posed, Problem  # noqa: E402

TOLERANCE = 0.01
"""The part of the gap within which a call is as good."""

CALLS = 5
"""Calls after the first whose median is the wall-clock time, and rounds of the timing in turns."""

UNCOUNTED = 0.02
"""Seconds by which a cost may differ from what was said."""

FREE = 0.05
"""Seconds that an answer may lose."""

MISS = 10.0
"""The regret of an answer that does not run, or misses."""

FRESH = 1000
"""The first of the fresh seeds; races use small ones."""

SEEDS, FEWEST = 20, 5
"""Fresh seeds, and their number if calls are expensive."""

STOPS = 2, 4, 16
"""The steps of a whole run are divided by these."""

CANDIDATES = 3
"""Calls that are as good among which the cheapest is found by timing them in turns."""

SCANNING = 0.6
"""The share of the time of literal calls in which each is tried once."""

CONFIRMING = 0.8
"""The share in which those that may be as good run on fresh seeds; then they take turns."""

MAKING = 300.0
"""Maximum seconds in which a process imports orthobench and makes its data."""

LONG = 1.0
"""Seconds of a call that is not called again to warm up."""

SHORTEST = 0.25
"""Seconds of the shortest whole run."""

LEVEL = 0.05
"""The level of the tests of a stated share."""

SMOKE = ("linnerud-pairs", "geometric-brockett-30", "breast-cancer-sparse")
"""The problems of a smoke run."""

Row = dict[str, Any]


# calls, in a process that has imported orthobench


class Calls:
    """Evaluates lines ``ob.solve(...)`` on a problem, and keeps what they gave.

    Parameters
    ----------
    posed : Posed
    problem : object
        Makes it from the module orthobench.
    keep : callable
        Called with all facts after each call, so that a killed process leaves what it found.
    """

    def __init__(self, posed: Posed, problem: Any, keep: Callable[[Row], None]) -> None:
        import orthobench as ob

        self.posed, self.keep = posed, keep
        self.names = {"ob": ob, "np": np, "problem": problem}
        self.facts: Row = {}

    def __call__(self, line: str, seed: int | None = None) -> tuple[float, float, Any]:
        """Return the seconds, the value and the outcome of a call, on another seed if it is given.

        A call that raises ends infinitely high, with the exception as its outcome.
        """
        code = compile(_with_seed(line, seed), "<call>", "eval")
        begun = time.perf_counter()
        try:
            outcome = eval(code, dict(self.names))  # noqa: S307 - what the product printed
        except Exception as error:
            return time.perf_counter() - begun, math.inf, error
        seconds = time.perf_counter() - begun
        if outcome.solution is None:
            return seconds, math.inf, outcome
        weights = None if outcome.weights is None else np.asarray(outcome.weights)
        return seconds, self.posed.value(np.asarray(outcome.solution), weights), outcome

    def pose(self) -> None:
        """Make the instance that calls are made on, as the first line of printed code does."""
        if isinstance(self.names["problem"], str):
            self.names["problem"] = self.names["ob"].instance(self.names["problem"])

    def add(self, **facts: Any) -> None:
        """Add to the facts."""
        self.facts.update(facts)
        self.keep(self.facts)


def _with_seed(line: str, seed: int | None) -> ast.Expression:
    """Return the expression of a call, with another seed."""
    tree = ast.parse(line, mode="eval")
    if seed is not None and isinstance(tree.body, ast.Call):
        tree.body.keywords = [k for k in tree.body.keywords if k.arg != "seed"]
        tree.body.keywords.append(ast.keyword("seed", ast.Constant(seed)))
    return ast.fix_missing_locations(tree)


def solve_line(code: str) -> str:
    """Return the call of the line ``outcome = ob.solve(...)`` of printed code; "" if none is."""
    found = [line for line in code.splitlines() if line.startswith("outcome = ob.solve(")]
    return found[0].removeprefix("outcome = ") if len(found) == 1 else ""


def answers(calls: Calls, within: float) -> None:
    """Race, and ask for advice."""
    ob, problem = calls.names["ob"], calls.names["problem"]
    begun = time.perf_counter()
    try:
        race = ob.race(problem, within=within)
        rows = [
            {"configuration": r["configuration"], "solver": r["solver"], "cost": _number(r["cost"])}
            for r in race.table
        ]
        named = race.table[0]
        calls.add(race={
            "sentence": race.sentence, "code": race.code, "exact": getattr(race, "exact", None),
            "solver": named["solver"], "cost": _number(named["cost"]), "seeds": named["seeds"],
            "reached": named.get("reached", named["seeds"]), "table": rows,
        })  # fmt: skip
    except Exception as error:
        calls.add(race={"error": _message(error), "table": []})
    calls.facts["race"]["seconds"] = time.perf_counter() - begun
    begun = time.perf_counter()
    try:
        advice = ob.advise(problem)
        settings = "".join(f", {name}={value!r}" for name, value in advice.parameters.items())
        plain = f"outcome = ob.solve({advice.use!r}, problem{settings})"
        code = getattr(advice, "code", plain)
        calls.add(advise={
            "sentence": advice.sentence, "code": code, "solver": advice.use,
            "doubt": getattr(advice, "doubt", ""),
        })  # fmt: skip
    except Exception as error:
        calls.add(advise={"error": _message(error)})
    calls.facts["advise"]["seconds"] = time.perf_counter() - begun
    calls.keep(calls.facts)


def follow(calls: Calls, code: str, patience: float) -> None:
    """Follow printed code: the first call, five more, and fresh seeds while there is time.

    If code reads files, all its lines run first, in a process of their own.
    """
    begun, line = time.perf_counter(), solve_line(code)
    if not line:
        calls.add(error=f"no single line outcome = ob.solve(...) in {code!r}")
        return
    if isinstance(calls.names["problem"], str) and "import orthobench" in code:
        pasted = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True
        )
        if pasted.returncode:
            calls.add(error=pasted.stderr.strip().splitlines()[-1][:300])
            return
    calls.pose()
    first, value, outcome = calls(line)
    if isinstance(outcome, Exception):
        calls.add(error=_message(outcome))
        return
    calls.add(line=line, first=first, seconds=[], values={}, value=_number(value))
    for _ in range(CALLS):
        if calls.facts["seconds"] and time.perf_counter() - begun > patience / 2:
            break
        calls.add(seconds=[*calls.facts["seconds"], calls(line)[0]])
    for seed in range(FRESH, FRESH + SEEDS):
        if len(calls.facts["values"]) >= FEWEST and time.perf_counter() - begun > patience / 2:
            break
        calls.add(values={**calls.facts["values"], str(seed): _number(calls(line, seed)[1])})


def literal(
    calls: Calls, race: Row, named: Sequence[str], lowest: float, cap: float, patience: float
) -> None:
    """Find the cheapest literal call that is as good, and time it in turns with those named.

    Parameters
    ----------
    calls : Calls
    race : dict
        Its ``table`` says which configurations there are, the cheapest first.
    named : sequence of str
        The calls of the answers.
    lowest : float
        The least value that they reached.
    cap : float
        Seconds of a whole run.
    patience : float
        Seconds of all of this.
    """
    begun = time.perf_counter()

    def spent() -> float:
        return (time.perf_counter() - begun) / patience

    calls.pose()
    best = scan(calls, race["table"], lowest, cap, spent)
    found = [call for some in calls.facts["tried"].values() for call in some or []]
    for line in named:
        if "seconds=" not in line:  # else it ends elsewhere each time
            took, value, _ = calls(line, FRESH)
            if took < LONG:  # else the first call is as good as any
                took, value, _ = calls(line, FRESH)
            found.append([line, 0, took, _number(value)])
    best, hits = confirmed(calls, sorted(found, key=lambda call: float(call[2])), best, spent)
    most = max(hits.values(), default=0)
    good = [line for line, count in hits.items() if count == most]
    timed = in_turns(calls, [*dict.fromkeys([*named, *good])], spent)
    cheapest = min(good, key=lambda line: timed[line], default="")
    calls.add(best=_number(best), line=cheapest, hits=most, timed=timed)


def confirmed(
    calls: Calls, found: Sequence[Sequence[Any]], best: float, spent: Callable[[], float]
) -> tuple[float, dict[str, int]]:
    """Run calls that may be as good on fresh seeds, the cheapest first, until three are.

    Returns the best value, and the number of seeds on which each call reaches it.
    """
    hits: dict[str, int] = {}
    for line, _, _, value in found:
        if value is None or value > target_of(calls.posed, best) or line in hits:
            continue
        if hits and (spent() > CONFIRMING or list(hits.values()).count(FEWEST) == CANDIDATES):
            break
        values = [calls(line, seed)[1] for seed in range(FRESH, FRESH + FEWEST)]
        hits[line] = sum(value <= target_of(calls.posed, best) for value in values)
        if calls.posed.best is None:
            best = min(best, *values)
    return best, hits


def in_turns(calls: Calls, lines: Sequence[str], spent: Callable[[], float]) -> dict[str, float]:
    """Return the median seconds of calls that take turns."""
    seconds: dict[str, list[float]] = {line: [] for line in lines}
    for turn in range(CALLS + 1):
        for line, own in seconds.items():
            if own and (spent() > 1 or sum(own) > CALLS * LONG):
                continue
            took = calls(line)[0]
            if turn or took > LONG:  # the first warms up, which does not count beside a long call
                own.append(took)
    return {line: float(np.median(own)) for line, own in seconds.items()}


def scan(
    calls: Calls,
    table: Sequence[Mapping[str, Any]],
    lowest: float,
    cap: float,
    spent: Callable[[], float],
) -> float:
    """Try the literal calls of a race while there is time; return the best value that is known.

    If that is not known beforehand, all runs are as long as the cap allows: any may be the lowest.
    """
    posed, tried = calls.posed, dict(calls.facts.get("tried", {}))  # of a process that was killed
    best, cheapest = lowest if posed.best is None else posed.best, math.inf
    left = [spec for spec in configurations(table) if spec not in tried]
    for i, spec in enumerate(left):
        if spent() > SCANNING:
            calls.add(not_tried=left[i:])
            break
        calls.add(tried={**tried, spec: None})  # if the process is killed now, it was this one
        tried[spec] = []
        most = cap if posed.best is None else min(cap, max(SHORTEST, 2 * cheapest))
        for line, steps in stops(calls, spec, most):
            seconds, value, outcome = calls(line, FRESH)
            if isinstance(outcome, Exception):
                continue
            tried[spec].append([line, steps, seconds, _number(value)])
            if posed.best is None:
                best = min(best, value)
            elif value <= target_of(posed, best):
                cheapest = min(cheapest, seconds)
    calls.add(tried=tried)
    return best


def configurations(table: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return for each solver its cheapest configuration, and itself by default; in their order."""
    cheapest: dict[str, str] = {}
    for row in table:
        cheapest.setdefault(row["solver"], row["configuration"])
    return [*dict.fromkeys([*cheapest.values(), *cheapest])]


def stops(calls: Calls, spec: str, cap: float) -> Iterator[tuple[str, int]]:
    """Run a solver to its own end, or the cap; yield the calls that end there and before."""
    head = f"ob.solve({spec!r}, problem"
    _, _, outcome = calls(f"{head}, ob.Budget(seconds={cap}))", FRESH)
    if isinstance(outcome, Exception):
        return
    steps = outcome.work.steps
    if outcome.stop.status.value == "budget":
        yield f"{head}, ob.Budget(steps={steps}))", steps
    else:
        yield f"{head})", steps
    for part in sorted({math.ceil(steps / divisor) for divisor in STOPS} - {steps}, reverse=True):
        yield f"{head}, ob.Budget(steps={part}))", part


def target_of(posed: Posed, best: float) -> float:
    """Return the value from which on a call is as good."""
    return best + TOLERANCE * max(posed.start - best, 0.0) + 1e-12 * abs(best)


def _number(value: Any) -> float | None:
    """Return a number as JSON has it; None for what is not finite."""
    return float(value) if value is not None and math.isfinite(value) else None


def _message(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:400]


# processes


def stage(name: str, problem: Problem, folder: Path, facts: Row) -> None:
    """Do one stage in this process; its facts go to a file of its own in the folder."""
    path = folder / f"{name}.json"
    posed = problem.pose(folder)

    def keep(found: Row) -> None:
        part = path.with_suffix(".part")
        part.write_text(json.dumps(found))
        part.replace(path)

    import orthobench as ob

    calls = Calls(posed, posed.make(ob), keep)
    if path.exists():
        calls.facts = json.loads(path.read_text())
    calls.facts |= {"start": posed.start, "optimum": posed.best}
    (folder / f"{name}.ready").touch()
    if name == "answers":
        answers(calls, facts["within"])
    elif name.startswith("follow"):
        follow(calls, facts["code"], facts["patience"])
    else:
        lowest = math.inf if facts["lowest"] is None else facts["lowest"]
        literal(calls, facts["race"], facts["named"], lowest, facts["cap"], facts["patience"])
    calls.add(done=True)


def in_process(
    name: str, problem: Problem, folder: Path, facts: Row, options: argparse.Namespace
) -> Row:
    """Do a stage in a fresh process; return its facts, and what there was if it was killed.

    A literal call that cannot be interrupted is killed; the others go on in the next process.
    """
    path, request = folder / f"{name}.json", folder / f"{name}-request.json"
    path.unlink(missing_ok=True)
    request.write_text(json.dumps(facts))
    if options.smoke and (name, problem.name) != ("follow-race", SMOKE[0]):  # one is enough
        stage(name, problem, folder, facts)
        return read(path)
    command = [sys.executable, "-W", "ignore", str(HERE / "follow.py"), "--only", problem.name]
    command += ["--stage", name, "--folder", str(folder)]
    command += ["--problems", str(options.problems)] if options.problems else []
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path[1:]])}
    ready, most = folder / f"{name}.ready", 2 * facts["patience"] + 30
    spent, found = 0.0, dict[str, Any]()
    with (folder / f"{name}.log").open("w") as log:
        while spent < most and not found.get("done"):
            ready.unlink(missing_ok=True)
            process = subprocess.Popen(
                command, cwd=folder, stdout=log, stderr=log, env=variables, start_new_session=True
            )
            spent += _wait(process, ready, path, most - spent, facts.get("cap", math.inf) * 3 + 15)
            found = read(path) if path.exists() else {}
            if process.returncode >= 0 or "cap" not in facts:
                break  # it came to its end, or failed, or is no search for literal calls
    if not found:
        last = (folder / f"{name}.log").read_text().strip().splitlines()[-1:]
        found = {"error": last[0][:300] if last else f"no call ended in {most:g} s"}
    return found


def _wait(
    process: subprocess.Popen[bytes], ready: Path, path: Path, most: float, quiet: float
) -> float:
    """Wait for a process; return the seconds that it took beside making its data.

    It is killed after `most` of them, or if it wrote nothing for `quiet` seconds.
    """
    begun, made = time.time(), math.inf
    while process.poll() is None:
        time.sleep(0.1)
        now = time.time()
        if ready.exists():
            made = min(made, now)
        wrote = max(made, path.stat().st_mtime) if path.exists() else made
        late = now - made > most or now - wrote > quiet
        if late or (made == math.inf and now - begun > MAKING):
            os.killpg(process.pid, 9)
            process.wait()
    return time.time() - made if made < math.inf else most


def measured(problem: Problem, options: argparse.Namespace) -> Row:
    """Ask, follow and look for cheaper calls on one problem; return its row."""
    row: Row = {
        "problem": problem.name, "set": problem.set, "family": problem.family,
        "real": problem.real, "rows": problem.rows, "load": os.getloadavg()[0],
    }  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="follow-") as name:
        folder = Path(name)
        try:
            problem.pose(folder)
        except AbsentError as error:
            return {**row, "skipped": str(error)}
        # advice takes a while to load
        ask = {"within": options.within, "patience": options.within + 60}
        found = in_process("answers", problem, folder, ask, options)
        told = {"race": found.get("race", {"error": found.get("error", "killed"), "table": []}),
                "advise": found.get("advise", {"error": found.get("error", "killed")})}  # fmt: skip
        for way, answer in told.items():
            if "error" in answer:
                continue
            ask = {"code": answer["code"], "patience": options.patience}
            followed = in_process(f"follow-{way}", problem, folder, ask, options)
            row["start"] = followed.pop("start", row.get("start"))
            answer["followed"] = followed
        runs = [a["followed"] for a in told.values() if "values" in a.get("followed", {})]
        values = [v for r in runs for v in [r["value"], *r["values"].values()] if v is not None]
        ask = {"race": told["race"], "named": [r["line"] for r in runs], "cap": options.cap,
               "lowest": min(values, default=None), "patience": options.literal}  # fmt: skip
        row |= told | {"literal": in_process("literal", problem, folder, ask, options)}
        row["start"] = row["literal"].get("start", row.get("start"))
    return row


# figures


def figures(row: Row, way: str) -> Row:
    """Return the figures of an answer: runs, wall, ratio, hits of seeds, regret."""
    answer, cheap = row[way], row["literal"]
    followed = answer.get("followed", {})
    found: Row = {
        "runs": bool(followed.get("values")), "said": answer.get("cost"), "wall": math.nan,
        "ratio": math.nan, "hits": 0, "seeds": 0, "regret": MISS, "lost": math.nan,
        "solver": answer.get("solver", "-"),
        "why": followed.get("error") or answer.get("error") or "",
    }  # fmt: skip
    if not found["runs"]:
        found["why"] = found["why"] or "no call came to an end"
        return found
    found["wall"] = float(np.median(followed["seconds"] or [followed["first"]]))
    if found["said"] is not None:
        near = abs(found["wall"] - found["said"]) < UNCOUNTED
        found["ratio"] = 1.0 if near else found["wall"] / found["said"]
    best, start = cheap.get("best", followed.get("optimum")), row["start"]
    if best is None or start is None:
        return found | {"regret": math.nan, "why": "no literal call came to an end"}
    target = best + TOLERANCE * max(start - best, 0.0) + 1e-12 * abs(best)
    values = [math.inf if v is None else v for v in followed["values"].values()]
    found["hits"], found["seeds"] = sum(v <= target for v in values), len(values)
    found["misses"] = float(np.median([(v - best) / max(start - best, 1e-300) for v in values]))
    if found["hits"] / found["seeds"] < cheap.get("hits", 0) / FEWEST / 2 or not found["hits"]:
        return found
    timed = cheap.get("timed", {})
    if not cheap.get("line") or followed["line"] not in timed:
        return found | {"regret": math.nan, "why": "no literal call to compare with"}
    own = timed[followed["line"]]
    least = min(own, timed[cheap["line"]])
    found["lost"] = own - least
    found["regret"] = max(1.0, (own - FREE) / least)
    found["factor"] = own / least
    return found


def totals(rows: Sequence[Row], way: str) -> dict[str, str]:
    """Return the figures over all problems, by name."""
    each = [figures(row, way) for row in rows]
    runs = [f for f in each if f["runs"]]
    ratios = np.array([f["ratio"] for f in runs if f["ratio"] == f["ratio"]])
    regrets = np.array([f["regret"] for f in each if f["regret"] == f["regret"]])
    at_stake = [f.get("factor", MISS) for f in each if f["lost"] == f["lost"] and f["lost"] > 0.1]
    found = {
        "runs": f"{len(runs)} of {len(each)}",
        "regret, geometric mean": _text(np.exp(np.log(regrets).mean()) if len(regrets) else None),
        "does not run, or misses (10)": str(int((regrets == MISS).sum())),
        "more than .1 s lost": f"{len(at_stake)}, at most {_text(max(at_stake, default=1))} times",
        "regret not measured": str(len(each) - len(regrets)),
        "as good on fresh seeds": _share(runs),
    }
    if way == "race":
        answers = [(f, row[way]) for f, row in zip(each, rows, strict=True) if f["runs"]]
        full = [f for f, said in answers if _whole(said) and said["seeds"] >= FEWEST]
        untested = [f for f, said in answers if said["seeds"] < FEWEST]
        below = [
            row["problem"] for f, row in zip(each, rows, strict=True)
            if f["runs"] and not _whole(row[way]) and _below(f, row[way])
        ]  # fmt: skip
        found["as good, said n of n on five seeds or more"] = _share(full)
        found["as good, said to be untested"] = f"{_share(untested)} of {len(untested)} answers"
        found["share below what was said"] = f"{len(below)} of {len(runs) - len(full)}"
        if len(ratios):
            found["wall / said, median"] = _text(float(np.median(ratios)))
            found["wall / said, 95 %"] = _text(float(np.quantile(ratios, 0.95)))
    return found


def _whole(answer: Row) -> bool:
    return bool(answer["reached"] >= answer["seeds"])


def _below(found: Row, answer: Row) -> bool:
    """Return whether fewer seeds reach it than stated, by a one-sided binomial test."""
    said = answer["reached"] / answer["seeds"]
    return bool(binom.cdf(found["hits"], found["seeds"], said) < LEVEL)


def _share(some: Sequence[Row]) -> str:
    hits, seeds = sum(f["hits"] for f in some), sum(f["seeds"] for f in some)
    return f"{hits} of {seeds} ({100 * hits / seeds:.0f} %)" if seeds else "-"


def _text(value: float | None) -> str:
    return "-" if value is None or value != value else f"{value:.3g}"


def summary(record: Row) -> str:
    """Return a row for each problem, and the figures over all of them, as Markdown."""
    rows = [row for row in record["rows"] if "skipped" not in row]
    heads = ["problem", "race", "said/s", "wall/s", "ratio", "said", "fresh", "regret",
             "cheapest as good", "s", "advise", "wall/s", "fresh", "regret"]  # fmt: skip
    lines = [heads, ["---"] * len(heads)]
    for row in rows:
        race, advice, cheap = figures(row, "race"), figures(row, "advise"), row["literal"]
        said = f"{row['race'].get('reached', 0)}/{row['race'].get('seeds', 0)}"
        line = cheap.get("line", "")
        lines.append([
            row["problem"], race["solver"], _text(race["said"]),
            _text(race["wall"]) if race["runs"] else "fails", _text(race["ratio"]), said,
            f"{race['hits']}/{race['seeds']}", _text(race["regret"]),
            line.removeprefix("ob.solve(").removesuffix(")").replace(", problem", ""),
            _text(cheap.get("timed", {}).get(line)), advice["solver"],
            _text(advice["wall"]) if advice["runs"] else "fails",
            f"{advice['hits']}/{advice['seeds']}", _text(advice["regret"]),
        ])  # fmt: skip
    skipped = [f"{r['problem']}: skipped, {r['skipped']}" for r in record["rows"] if "skipped" in r]
    loads = [row["load"] for row in rows if "load" in row]
    record["facts"]["load"] = f"{min(loads, default=0):.1f} to {max(loads, default=0):.1f}"
    facts = ", ".join(f"{name} {value}" for name, value in record["facts"].items())
    table = "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
    reasons = [
        f"{row['problem']}, {way}: {found['why']}"
        for row in rows for way in ("race", "advise")
        if not (found := figures(row, way))["runs"]
    ]  # fmt: skip
    return "\n\n".join([facts, table, compared({"": record}), *skipped, *reasons])


def compared(records: Mapping[str, Row]) -> str:
    """Return the figures over all problems that each of some files has, side by side."""
    sound = {
        title: {row["problem"]: row for row in record["rows"] if "skipped" not in row}
        for title, record in records.items()
    }
    common = set.intersection(*(set(rows) for rows in sound.values()))
    heads = [f"{len(common)} problems", *sound]
    lines = [heads, ["---"] * len(heads)]
    sure = {n for n in common if not any(rows[n]["advise"].get("doubt") for rows in sound.values())}
    for title, way, names in (
        ("race", "race", common), ("advise", "advise", common),
        ("advise that needs no race", "advise", sure),
    ):  # fmt: skip
        columns = [
            totals([row for name, row in rows.items() if name in names], way)
            for rows in sound.values()
        ]
        if names:
            lines += [[f"{title}: {name}", *(c[name] for c in columns)] for name in columns[0]]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


# command line


def facts_of(options: argparse.Namespace) -> Row:
    """Return what a result depends on: commit, machine, and settings."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=12"],  # noqa: S607
        cwd=HERE, capture_output=True, text=True, check=False,
    ).stdout.strip()  # fmt: skip
    return {
        "commit": commit, "date": time.strftime("%Y-%m-%d"), "machine": platform.platform(),
        "processor": platform.processor() or platform.machine(), "cores": os.cpu_count(),
        "python": platform.python_version(),
        "within": options.within, "cap": options.cap,
    }  # fmt: skip


def read(path: Path) -> Row:
    """Return a file of results."""
    record: Row = json.loads(path.read_text())
    return record


def listed(path: Path | None) -> dict[str, Problem]:
    """Return the problems of a list: a Python file, or those here."""
    if path is None:
        return PROBLEMS
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is no Python file")
    before = dict(PROBLEMS)
    PROBLEMS.clear()
    try:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
        return dict(PROBLEMS)
    finally:
        PROBLEMS.clear()
        PROBLEMS.update(before)


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    found = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="A list of your own:\n\n" + str(follow_problems.__doc__),
    )  # fmt: skip
    found.add_argument("--set", default="development", help="development or held-out")
    found.add_argument("--only", default="*", help="pattern of names of problems")
    found.add_argument("--problems", type=Path, help="a Python file with a list of your own")
    found.add_argument("--within", type=float, default=30.0, help="seconds of a race")
    found.add_argument("--cap", type=float, default=5.0, help="seconds of a literal call")
    found.add_argument("--literal", type=float, default=90.0, help="seconds of all literal calls")
    found.add_argument("--patience", type=float, default=60.0, help="seconds to follow a call")
    found.add_argument("--out", type=Path, default=Path("follow.json"))
    found.add_argument("--resume", action="store_true", help="go on with the file --out")
    found.add_argument("--compare", type=Path, nargs=2, metavar=("OLD", "NEW"))
    found.add_argument("--show", type=Path, metavar="FILE", help="print the table of a file")
    found.add_argument("--smoke", action="store_true", help="three tiny problems")
    found.add_argument("--stage", help=argparse.SUPPRESS)
    found.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    return found


def main(arguments: list[str] | None = None) -> int:
    """Measure the problems asked for; print a line for each, and the table."""
    options = parser().parse_args(arguments)
    if options.compare:
        click.echo(compared({path.stem: read(path) for path in options.compare}))
        return 0
    if options.show:
        click.echo(summary(read(options.show)))
        return 0
    if options.problems:
        options.problems = options.problems.resolve()
    problems = listed(options.problems)
    if options.stage:
        request = options.folder / f"{options.stage}-request.json"
        facts = json.loads(request.read_text())
        stage(options.stage, problems[options.only], options.folder, facts)
        return 0
    if options.smoke:
        options.within, options.cap, options.literal, options.patience = 3.0, 0.1, 0.5, 0.5
    wanted = [
        one for one in problems.values()
        if (one.name in SMOKE if options.smoke else options.problems or one.set == options.set)
        and fnmatchcase(one.name, options.only)
    ]  # fmt: skip
    families = [one.family for one in wanted]
    places = {one.name: families[:i].count(one.family) for i, one in enumerate(wanted)}
    wanted.sort(key=lambda one: places[one.name])  # a run that is cut off has seen all families
    record: Row = {"facts": facts_of(options), "rows": []}
    if options.resume and options.out.exists():
        record = read(options.out)
    done = {row["problem"] for row in record["rows"]}
    for one in wanted:
        if one.name in done:
            continue
        begun = time.monotonic()
        try:
            row = measured(one, options)
        except Exception:
            traceback.print_exc()
            row = {"problem": one.name, "skipped": "the benchmark failed: see its output"}
        row["took"] = round(time.monotonic() - begun, 1)
        record["rows"].append(row)
        part = options.out.with_suffix(".part")
        part.write_text(json.dumps(record))
        part.replace(options.out)
        click.echo(f"{one.name}: {row['took']:.0f} s {row.get('skipped', '')}")
    click.echo(summary(record))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
