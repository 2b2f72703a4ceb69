"""How often `orthobench compare` cries wolf, and how often it sees one.

    python benchmarks/false_alarms.py --comparisons 200                  # A/A
    python benchmarks/false_alarms.py --comparisons 100 --slowdown 0.05  # A/B: one solver slower
    python benchmarks/false_alarms.py --comparisons 20 --on torch:cuda   # A/A on a GPU

Compares this installation with itself, while another process loads the machine. With ``--slowdown``
one solver of HEAD spends that part more CPU time in all that it does, another solver in each
comparison; all other cells are unchanged, and an alarm on one of them is false too. Each comparison
is a line of the output file; a second call continues after the last one.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import multiprocessing
import os
import site
import subprocess
import sys
import tempfile
import time
import venv
from dataclasses import replace
from pathlib import Path

import click
import numpy as np

import orthobench as ob
from orthobench.compare.comparison import Comparison
from orthobench.compare.options import Options, Question
from orthobench.compare.run import compare
from orthobench.compare.sides import Side
from orthobench.errors import OrthobenchError
from orthobench.registry.suite_file import load
from orthobench.stats.run_pairs import Change
from orthobench.tools.places import place_of

SLOWER = """
import os
import time

from orthobench.registry.plugins import Registry

name, part = os.environ["ORTHOBENCH_SLOWER"].split()
known = Registry.installed


def longer(function):
    def spends_more(*arguments):
        begin = time.process_time_ns()
        result = function(*arguments)
        end = begin + (1 + float(part)) * (time.process_time_ns() - begin)
        while time.process_time_ns() < end:
            pass
        return result

    return spends_more


def installed():
    found = known()
    slowed = found.solvers[name].item
    for method in "init", "advance", "solution":
        setattr(slowed, method, longer(getattr(slowed, method)))
    return found


if float(part):
    Registry.installed = staticmethod(installed)
"""


PLACED = """
seeds = 2
on = "PLACE"
budget = { samples = 2000 }
[[problem]]
name = "spiked-covariance"
[[problem]]
name = "nig-factor"
n = 40
[[solver]]
name = "batch-pca"
[[solver]]
name = "block-krylov"
[[solver]]
name = "oja"
[[solver]]
name = "spgd"
"""
"""The suite of solvers that are compared at a place."""


def main() -> None:
    """Run the comparisons that are left, and print what all of them found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--comparisons", type=int, default=200)
    parser.add_argument("--slowdown", type=float, default=0.0)
    parser.add_argument("--budget", type=float, default=Options().budget)
    parser.add_argument("--load", type=int, default=1, help="processes that load the machine")
    parser.add_argument("--solver", action="append", default=[], help="compare this one only")
    parser.add_argument("--suite", type=Path, help="compare its cells, not those by default")
    parser.add_argument("--on", help="compare solvers at this place, by wall time")
    parser.add_argument("--out", type=Path, default=None)
    given = parser.parse_args()
    if given.on and (why := place_of(given.on).missing()):
        raise SystemExit(f"nothing can be compared on {given.on}: {why}")
    out = given.out or Path(f"false-alarms-{given.slowdown:g}.jsonl")
    done = out.read_text().splitlines() if out.exists() else []
    names = solvers()
    with tempfile.TemporaryDirectory() as folder:
        head = environment(Path(folder))
        # no source differs
        options = Options(
            budget=given.budget, every=True, suite=given.suite, solvers=tuple(given.solver)
        )
        if given.on:
            suite = Path(folder) / "placed.toml"
            suite.write_text(PLACED.replace("PLACE", given.on))
            options = replace(options, suite=suite, clock="wall")
        loads = [
            multiprocessing.Process(target=load_machine, daemon=True) for _ in range(given.load)
        ]
        for process in loads:
            process.start()
        for number in range(len(done), given.comparisons):
            slowed = names[number % len(names)]
            os.environ["ORTHOBENCH_SLOWER"] = f"{slowed} {given.slowdown}"
            with out.open("a") as file:
                file.write(json.dumps(compared(head, slowed, given.slowdown, options)) + "\n")
            click.echo(summary(out, given.slowdown))
    click.echo(f"{summary(out, given.slowdown)}\n{exits(out)}")


def solvers() -> list[str]:
    """Return the solvers of the suite that is compared by default."""
    suite = load(ob.catalogue().suite("regression"), ob.catalogue())
    return [planned.solver.name for planned in suite.solvers]


def derived(name: str) -> set[str]:
    """Return a solver and those that have their methods from it."""
    classes = {name: found.item for name, found in ob.catalogue().solvers.items()}
    return {one for one, item in classes.items() if issubclass(item, classes[name])}


def environment(folder: Path) -> Side:
    """Return an environment with the packages of this one, and a module that slows a solver."""
    venv.EnvBuilder(symlinks=os.name == "posix").create(folder)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    words = [str(python), "-c", "import site; print(site.getsitepackages()[0])"]
    packages = Path(subprocess.check_output(words, text=True).strip())
    here = [f"import site; site.addsitedir({path!r})" for path in site.getsitepackages()]
    (packages / "a_here.pth").write_text("\n".join(here))
    (packages / "slower.py").write_text(SLOWER)
    (packages / "z_slower.pth").write_text("import slower\n")
    return Side("HEAD", "environment", str(folder), python)


def compared(head: Side, slowed: str, slowdown: float, options: Options) -> dict[str, object]:
    """Return what one comparison found: alarms of unchanged cells, and whether the slow one is."""
    base, begin = Side("BASE", "environment", sys.prefix, Path(sys.executable)), time.monotonic()
    try:
        found = compare(base, head, options, lambda _: None)
    except OrthobenchError as error:
        spent = time.monotonic() - begin
        found = Comparison(base, head, "", options, seconds=spent, reason=str(error))
    slow = derived(slowed) if slowdown > 0 else set()
    alarms: dict[str, list[str]] = {}
    hits = []
    for row in found.rows:
        is_slow = row.solver.split()[0] in slow
        if is_slow and row.question is Question.TIME:
            hits.append(row.finding.change.value)
        elif row in found.regressions:
            alarms.setdefault(row.question.value, []).append(f"{row.label}: {row.ratio}")
    return {
        "slowed": slowed if slowdown else "",
        "slow_cells": hits,
        "alarms": alarms,
        "exit": found.exit_code,
        "open": [f"{row.question.value} {row.label}: {row.said}" for row in found.open],
        "reason": found.reason,
        "cells": len(found.cells),
        "undecided": len(found.found(Change.UNDECIDED, Question.TIME)),
        "rounds": found.rounds,
        "seconds": round(found.seconds, 1),
        "budget": options.budget,
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def summary(out: Path, slowdown: float) -> str:
    """Return what the comparisons so far found, in a line."""
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    alarmed = {q.value: sum(q.value in row["alarms"] for row in rows) for q in Question}
    told = ", ".join(f"{name} {count}" for name, count in alarmed.items())
    seconds = [row["seconds"] for row in rows]
    codes = ", ".join(f"{code}: {sum(row['exit'] == code for row in rows)}" for code in range(3))
    text = f"{len(rows)} comparisons: exit codes {codes}; with a false alarm on {told}"
    if slowdown:
        found = sum(Change.WORSE.value in row["slow_cells"] for row in rows)
        text += f"; the slower solver found in {found}"
    return f"{text}; {np.median(seconds):.0f} s each, {max(seconds):.0f} s at most"


def exits(out: Path) -> str:
    """Return a table of the exit codes so far, by the load of the machine."""
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    lines = ["load        exit 0  exit 1  exit 2  median s"]
    for low, high in itertools.pairwise((0, 2, 5, 10, 20, math.inf)):
        own = [row for row in rows if low <= (row["load"] or 0) < high]
        counts = [sum(row["exit"] == code for row in own) for code in range(3)]
        if own:
            seconds = np.median([row["seconds"] for row in own])
            cells = "".join(f"{count:8}" for count in counts)
            lines.append(f"{f'{low} to {high}':10}{cells}{seconds:10.0f}")
    return "\n".join(lines)


def load_machine() -> None:
    """Use a core and its caches, until killed."""
    rng = np.random.default_rng(0)
    while True:
        a = rng.standard_normal((400, 400))
        np.linalg.eigh(a @ a.T)
        rng.standard_normal(2_000_000).cumsum()
        time.sleep(0)


if __name__ == "__main__":
    main()
