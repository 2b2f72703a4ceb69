"""The texts of a race: its table, its standing, and a provisional sentence."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from orthobench.decide.rule import Comparison, Verdict
from orthobench.decide.wording import stop_text, verdict_text, within_text
from orthobench.racing.standing import Standing
from orthobench.stats.calls import Call, Stop
from orthobench.stats.costs import ALL_COSTS
from orthobench.tools.formatting import clean, duration, plural

SHOWN = 6
"""Maximum number of rows of the table of a running race."""


def at(seconds: float) -> str:
    """Return a time of a race for the beginning of a line."""
    return f"{seconds:6.1f} s "


def standing(race: Standing, running: str, elapsed: float, left: float) -> str:
    """Return the table of a running race, and a line with the leader, counts and time left.

    ``running`` is the current configuration, for a race without a leader; times are in seconds.
    """
    counts = f"{len(race.ran)} of {len(race.rules.order)} raced, {len(race.dropped)} dropped"
    lead = f"first: {running}" if running else "the first run begins"
    shown = list[str]()
    if race.leader:
        lead = f"{race.leader} leads with {duration(race.lead)}"
        shown = [*lines(rows(race, None, race.leading, race.leader, {}), race.rules.cost, SHOWN)]
    now = f"{at(elapsed)} {clean(lead)}; {counts}; {duration(max(left, 0.0))} left"
    return "\n".join([*shown, now])


def provisional(race: Standing, call: Call | None, more: str = "", over: bool = False) -> str:
    """Return the sentence about a leader with too few seeds for a decision.

    ``more`` is added if more time would help; it does not if the race is ``over``.
    """
    if race.leader is None or call is None:
        ends = [trial.end for trial in race.trials if trial.ended]
        if ends and min(ends) == math.inf:
            return "No solver yet: all runs end outside the level at which solvers are compared."
        if race.failed:
            return f"No solver yet: {clean(next(iter(race.failed.values())))}."
        return f"No solver yet: no run came to an end: give it more time.{more}"
    cost = ALL_COSTS[race.rules.cost].text(call.cost)
    advice = "give it more time"
    if over:
        advice = "all runs are done and show no call to be as good; a larger tolerance may decide"
    return (
        f"Use {clean(race.leader)}{stop_text(call.stop)} for now, {cost}: untested on "
        f"{plural(len(race.costs(race.leader)), 'seed')}. It is the cheapest of {len(race.ran)} of "
        f"{plural(len(race.rules.order), 'configuration')} {within_text(race.rules.tolerance)}; "
        f"{advice}.{more}"
    )


def too_long(seconds: float, advised: str) -> str:
    """Return the sentences about a problem whose calls take too long for a race of some seconds."""
    said = f" {duration(seconds)} is too short for a race on this problem."
    return f"{said} Unless you have longer, follow the map: {advised}" if advised else said


def evidence(race: Standing, call: Call | None, alone: bool, workers: int, decided: bool) -> str:
    """Return the conditions of the timing, and the numbers of configurations and seeds.

    ``alone``: calls were timed one after another. ``decided``: the call is shown to be as good.
    """
    how = "one after another" if alone else f"with up to {plural(workers, 'run')} at once"
    tested = "" if decided else "untested, "
    seeds = f", the one named {tested}on {plural(call.seeds, 'seed')}" if call else ""
    return (
        f"Timed with 1 thread, {how}. {len(race.ran)} of "
        f"{plural(len(race.rules.order), 'configuration')} ran{seeds}."
    )


def rows(
    race: Standing, comparison: Comparison | None, call: Call | None, first: str | None,
    firsts: Mapping[str, float],
) -> list[dict[str, Any]]:  # fmt: skip
    """Return a row for each configuration, that of the call to make first.

    ``call`` is that call, ``first`` its configuration; ``firsts`` has the seconds of first calls.
    There is no comparison during a race.
    """
    decided = comparison.by_solver if comparison else {}
    found = []
    for name, solver in race.rules.order.items():
        d, why, costs = decided.get(name), race.dropped.get(name, ""), race.costs(name)
        own = call if name == first else d.call if d else None
        cost = own.cost if own else race.cost(name)
        under_way = "leads" if name == first else ""
        verdict = verdict_text(d) if d else "not run" if comparison or not costs else under_way
        found.append({
            "configuration": name, "solver": solver,
            "verdict": verdict if name == first or not why else "dropped",
            "cost": cost, "first_cost": firsts.get(name, math.nan),
            "stop": dict(own.stop.limits) if own else None,
            "reached": own.reached if own else sum(cost < math.inf for cost in costs),
            "seeds": own.seeds if own else len(costs),
            "factor": cost / call.cost if call else math.nan, "why": why,
        })  # fmt: skip
    good = ("as good", "exact")
    return sorted(
        found, key=lambda r: (r["configuration"] != first, r["verdict"] not in good, r["cost"])
    )


def lines(rows: Sequence[Mapping[str, Any]], cost: str, most: int = 10) -> Iterator[str]:
    """Yield the table of a race: configurations within the tolerance, and the number of others."""
    there = [row for row in rows if row["seeds"] and row["cost"] < math.inf][:most]
    calls = [
        clean(row["configuration"]) + (f", {Stop.at(**row['stop'])}" if row["stop"] else "")
        for row in there
    ]
    width = max(map(len, calls), default=0)
    timed = any(not math.isnan(row["first_cost"]) for row in there)
    brackets = [cost == "seconds" and timed and math.isnan(row["first_cost"]) for row in there]
    for call, row, bracket in zip(calls, there, brackets, strict=True):
        amount, first = ALL_COSTS[cost].text(row["cost"]), row["first_cost"]
        amount = f"({amount})" if bracket else amount
        also = f"  (first call {ALL_COSTS[cost].text(first)})" if first > 2 * row["cost"] else ""
        untested = row["verdict"] == Verdict.UNTESTED.value
        seeds = plural(row["seeds"], "seed")
        seeds = seeds if untested else f"{row['reached']}/{seeds}"
        yield f"{call:{width}}  {amount:>9}  {seeds:>11}  {row['verdict']}{also}".rstrip()
    waiting = sum(not row["seeds"] for row in rows)
    others = len(rows) - waiting - len(there)
    rest = ["(in brackets: on the clock of a run)"] * any(brackets)
    rest += [f"{others} more cost more, or end higher"] * (others > 0)
    rest += [f"{waiting} not run"] * (waiting > 0)
    if rest:
        yield "; ".join(rest)
