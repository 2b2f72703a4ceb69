"""The map: a race on each problem of a grid over sizes.

No configuration is dropped before ten times the time of the leader, which counts as a miss. One run
at a time, with one thread; the two cheapest calls are then timed on each seed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from orthobench.atlas.answers import expected_order
from orthobench.decide.answer import MISS
from orthobench.errors import DataError, unknown
from orthobench.harness.cell import instance_of
from orthobench.harness.executors import Executor, Limits
from orthobench.harness.suite import SuiteProblem
from orthobench.racing.entrants import Entrants, entrants
from orthobench.racing.race import run, stored
from orthobench.racing.standing import Rules
from orthobench.registry.plugins import catalogue
from orthobench.registry.suite_file import load
from orthobench.results.results import Results
from orthobench.tools.formatting import plural

PREFIX = "map-"
"""Prefix of the names of suites that are grids."""

FINALISTS, SEEDS = 10, 5
"""Maximum numbers of configurations that run on fresh seeds, and of seeds."""

TIMED = 2
"""Number of the cheapest calls that are timed on each seed; of a long race, its finalists."""

RUNS = 6.0
"""Maximum time of one race, in units of the budget of its problem."""

MORE = 3.0
"""Time of a second race on a point that names no call after the first, over that of the first."""

WITHIN = 60.0
"""Maximum time of one race on a problem without a budget in seconds; longer races are long."""


@dataclass(frozen=True)
class Point:
    """A problem of a grid, with its entrants, its store, and the maximum seconds of its race.

    ``again`` is whether this is the second race on it.
    """

    entrants: Entrants
    store: Path
    seconds: float = WITHIN
    again: bool = False

    @property
    def rules(self) -> Rules:
        """The rules of its race."""
        most = FINALISTS if self.seconds <= WITHIN else TIMED
        return Rules(
            self.entrants.order, self.seconds, factor=MISS, finalists=most, seeds=SEEDS,
            endless=self.entrants.endless, timed_on_all=TIMED,
        )  # fmt: skip

    @property
    def is_done(self) -> bool:
        """Whether its race came to an end, with the current code."""
        known, stale = stored(self.entrants.suite, self.store)
        if not known or stale:
            return False
        return Results.read(self.store, self.entrants.suite.name).session()["ended"] is not None


def grids() -> dict[str, str]:
    """Return the suites that are grids, by part of the map."""
    return {n.removeprefix(PREFIX): n for n in catalogue().suites if n.startswith(PREFIX)}


def points(parts: Sequence[str], folder: Path) -> list[Point]:
    """Return the problems of some parts of the map or families, by default of all."""
    known = catalogue()
    suites = {part: load(known.suite(name), known) for part, name in grids().items()}
    families = {part: suite.problems[0].problem.family for part, suite in suites.items()}
    named = {*families, *families.values()}
    for part in parts:
        if part not in named:
            raise unknown("part of the map", part, named)
    return [
        Point(own, folder / part / f"{own.suite.name}.sqlite", race_seconds(problem))
        for part, suite in suites.items()
        if not parts or part in parts or families[part] in parts
        for problem in suite.problems
        for own in (entrants(suite, problem, expected_order(problem.problem)),)
    ]


def race_seconds(problem: SuiteProblem) -> float:
    """Return the maximum seconds of the race on a problem."""
    seconds = problem.budget.seconds
    return RUNS * seconds if seconds < math.inf else WITHIN


def measure(some: Sequence[Point], within: float, tell: Callable[[str], None] | None = None) -> int:
    """Race on the remaining points, one after the other; return the number that remains.

    Short races come first, and none begins after ``within`` seconds. A race that names no call
    goes on once, in the end, for `MORE` times as long. Points without their data are skipped.
    ``tell`` is called with a line for each race.
    """
    began, left = time.monotonic(), [point for point in some if not point.is_done]
    left.sort(key=lambda point: point.seconds)
    say = tell or (lambda _: None)
    while left and time.monotonic() - began < within:
        point = left.pop(0)
        alone = Executor("local", 1, point.entrants.suite.threads, Limits(None, None))
        problem = point.entrants.suite.problems[0].problem
        try:
            # without its data, a race would store that all solvers fail
            point = replace(point, entrants=point.entrants.on(instance_of(problem, 0)))
            race = run(point.entrants, point.rules, store=point.store, executor=alone)
        except DataError as error:
            say(f"{point.entrants.suite.problems[0].label}: skipped: {error}")
            continue
        if not (race.decided or race.interrupted or point.again):
            left.append(replace(point, seconds=MORE * point.seconds, again=True))
        say(f"{race.problem}: {race.sentence} {plural(len(left), 'race')} left")
        if race.interrupted:
            return len(left) + 1
    return len(left)
