"""Which planted changes `orthobench compare` finds, how long it takes, and what it cries wolf at.

    python benchmarks/planted_changes.py             # all 20; a second call goes on
    python benchmarks/planted_changes.py --smoke     # the first, on one problem

Ten solvers get slower by 10 to 50 %, five worse, and five changes are harmless. Each is written
into a clone of this repository and compared with its newest commit, as while one works on a branch:
HEAD is built, and the suite is that by default. Each comparison is a line of the output file.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from false_alarms import derived

import orthobench as ob
from orthobench.compare.comparison import Comparison, Options, Question
from orthobench.compare.environments import sides
from orthobench.compare.run import compare
from orthobench.stats.run_pairs import Change

ROOT = Path(__file__).parents[1]

SLOWER = """

def _longer(function):
    def spends_more(*arguments):
        import time

        begin = time.process_time_ns()
        result = function(*arguments)
        end = begin + (1 + PART) * (time.process_time_ns() - begin)
        while time.process_time_ns() < end:
            pass
        return result

    return spends_more


for _name in ("init", "advance", "solution"):
    setattr(CLASS, _name, _longer(getattr(CLASS, _name)))
"""

TURNED = """

def _turned(solution):
    def turning(self, state):
        import dataclasses

        import numpy as np

        found = solution(self, state)
        n = len(found.point)
        a = 1e-3 * np.random.default_rng(0).standard_normal((n, n))
        half = np.eye(n) - (a - a.T) / 2
        return dataclasses.replace(found, point=np.linalg.solve(half, half.T @ found.point))

    return turning


CLASS.solution = _turned(CLASS.solution)
"""
"""Solutions are turned by a thousandth, which most metrics feel squared."""

TIMID = """

def _timid(advance):
    def slowly(self, oracle, state, count):
        import copy

        other = copy.copy(self)
        object.__setattr__(other, "step_size", 0.5 * self.step_size)
        advance(other, oracle, state, count)

    return slowly


CLASS.advance = _timid(CLASS.advance)
"""
"""Steps are half as long."""

DEARER = """

def _dearer(advance):
    def counting(self, oracle, state, count):
        before = state.work.flops
        advance(self, oracle, state, count)
        state.work.flops += (state.work.flops - before) // 20

    return counting


CLASS.advance = _dearer(CLASS.advance)
"""
"""Steps take 5 % more flops."""


@dataclass(frozen=True)
class Planted:
    """A change of a solver's module, or of another file.

    Attributes
    ----------
    kind : str
        ``"slower"``, ``"worse"`` or ``"harmless"``.
    solver : str
        The solver that changes; empty where none does.
    code : str
        What is added at the end of the solver's module, for CLASS, its class.
    file : str
        Another file instead.
    old, new : str
        What is replaced there, once; without `old` `new` is added at its end.
    """

    kind: str
    solver: str = ""
    code: str = ""
    file: str = ""
    old: str = ""
    new: str = ""

    @property
    def name(self) -> str:
        """What it is called in the output."""
        return " ".join(filter(None, (self.kind, self.solver or self.file, self.label)))

    @property
    def label(self) -> str:
        """Which code it adds, by the first name in it, and how much of it."""
        part = next((line.split("(1 + ")[1].split(")")[0] for line in self.code.splitlines()
                     if "(1 + " in line), "")  # fmt: skip
        return part or self.code.partition("def _")[2].partition("(")[0] or self.new[:20].strip()

    def write(self, clone: Path) -> None:
        """Plant it into a clone."""
        path, text = clone / self.file, self.new
        if self.solver:
            cls = ob.catalogue().solvers[self.solver].item
            path = clone / "plugins" / f"{cls.__module__.replace('.', '/')}.py"
            text = self.code.replace("CLASS", cls.__qualname__)
        source = path.read_text(encoding="utf-8")
        if self.old and source.count(self.old) < 1:
            raise SystemExit(f"{path} has no {self.old!r} any more: plant another change")
        changed = source.replace(self.old, self.new, 1) if self.old else source + text
        path.write_text(changed, encoding="utf-8")


def slower(solver: str, part: float) -> Planted:
    """Return a slow-down: the methods of a solver spend that part more CPU time."""
    return Planted("slower", solver, SLOWER.replace("PART", str(part)))


PLANTED = (
    slower("history-pca", 0.5),
    Planted("harmless", file="docs/index.md", new="\nOne more line.\n"),
    Planted("worse", "oja", TIMID),
    slower("oja", 0.1),
    slower("hooi", 0.2),
    Planted("worse", "tensor-power", TURNED),
    slower("givens-tensor", 0.3),
    Planted("harmless", file="plugins/orthobench_gpower/gpower.py", old='"""', new='"""As here: '),
    slower("gpower", 0.15),
    Planted("worse", "landing", TURNED),
    slower("wen-yin", 0.2),
    Planted("harmless", file="orthobench/report/changes.py", new="\nUNUSED = 1\n"),
    slower("msg", 0.1),
    Planted("worse", "ccipca", DEARER),
    slower("riemannian-gradient", 0.4),
    Planted("harmless", file="plugins/orthobench_stochastic_pca/mini_batches.py",
            old="exponent = int(np.frexp(largest)[1])\n        state.exponent = exponent if abs("
            "exponent)", new="power = int(np.frexp(largest)[1])\n        state.exponent = power if "
            "abs(power)"),
    slower("givens-sparse-pca", 0.3),
    Planted("worse", "spgd", DEARER),
    slower("pgd", 0.25),
    Planted("harmless", file="orthobench/harness/run.py", new="\n# one more comment\n"),
)  # fmt: skip
"""The planted changes: mixed, so that the first of them are a sample of all."""


def compared(planted: Planted, options: Options) -> dict[str, Any]:
    """Plant a change into a fresh clone, and return what comparing it with its commit finds."""
    with tempfile.TemporaryDirectory() as scratch:
        clone = Path(scratch) / "clone"
        subprocess.run(
            ["git", "clone", "--quiet", "--shared", str(ROOT), str(clone)],  # noqa: S607
            check=True,
        )
        planted.write(clone)
        begin, before = time.monotonic(), sum(os.times()[:4])
        with sides("HEAD", ".", here=clone) as pair:
            ready, cpu_ready = time.monotonic(), sum(os.times()[:4])
            found = compare(*pair, options, lambda _: None)
        end, cpu_end = time.monotonic(), sum(os.times()[:4])
    return {
        "planted": planted.name, "kind": planted.kind, **answers(planted, found),
        "verdict": found.verdict(), "rounds": found.rounds,
        "seconds_of_building": round(ready - begin, 1), "seconds": round(end - ready, 1),
        "cpu_of_building": round(cpu_ready - before, 1), "cpu": round(cpu_end - cpu_ready, 1),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
    }  # fmt: skip


def answers(planted: Planted, found: Comparison) -> dict[str, Any]:
    """Return what was found of the solver that changed, and which other cells raise an alarm."""
    wolves = (Change.WORSE, Change.PROBABLE)
    touched = derived(planted.solver) if planted.solver else set()
    asked = {Question.TIME} if planted.kind == "slower" else {Question.RESULT, Question.WORK}
    own = [row for row in found.rows if row.solver.split()[0] in touched]
    others = [row for row in found.rows if row not in own and row.finding.change in wolves]
    hits = [row for row in own if row.question in asked and row.finding.change in wolves]
    sure = [row for row in hits if row.finding.change is Change.WORSE]
    return {
        "found": Change.WORSE.value if sure else Change.PROBABLE.value if hits else "no",
        "ratios": [row.ratio for row in own if row.question in asked],
        "alarms": [f"{row.label}: {row.finding.change.value} {row.ratio}" for row in others],
        "timed": sum("rounds" in row.finding.explanation for row in found.rows),
    }


def summary(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return what the comparisons so far found, in lines."""
    lines = []
    for kind in ("slower", "worse", "harmless"):
        of_kind = [row for row in rows if row["kind"] == kind]
        if not of_kind:
            continue
        counts = {word: sum(row["found"] == word for row in of_kind) for word in
                  (Change.WORSE.value, Change.PROBABLE.value, "no")}  # fmt: skip
        told = ", ".join(f"{word} {count}" for word, count in counts.items() if count)
        alarms = sum(bool(row["alarms"]) for row in of_kind)
        seconds = [row["seconds"] for row in of_kind]
        lines.append(
            f"{len(of_kind)} {kind}: found: {told}; with a false alarm {alarms}; seconds after "
            f"building {np.median(seconds):.0f}, at most {max(seconds):.0f}; CPU "
            f"{np.median([row['cpu'] for row in of_kind]):.0f}; load "
            f"{np.median([row['load'] or 0 for row in of_kind]):.0f}"
        )
    return "\n".join(lines)


def main() -> None:
    """Compare the planted changes that are left, and print what all of them found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=1, help="the first of them that is compared")
    parser.add_argument("--budget", type=float, default=Options().budget)
    parser.add_argument("--smoke", action="store_true", help="the first, for a second")
    parser.add_argument("--out", type=Path, default=Path("planted-changes.jsonl"))
    given = parser.parse_args()
    chosen = PLANTED[:1] if given.smoke else PLANTED[given.first - 1 :]
    options = Options(budget=1.0 if given.smoke else given.budget)
    lines = given.out.read_text().splitlines() if given.out.exists() else []
    done = {json.loads(line)["planted"] for line in lines}
    for planted in (one for one in chosen if one.name not in done):
        if given.smoke:
            options = replace(
                options, solvers=(planted.solver,), problems=("spiked-covariance n=20 k=2",)
            )
        row = compared(planted, options)
        click.echo(json.dumps(row))
        with given.out.open("a") as file:
            file.write(json.dumps(row) + "\n")
    click.echo(summary([json.loads(line) for line in given.out.read_text().splitlines()]))


if __name__ == "__main__":
    main()
