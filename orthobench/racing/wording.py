"""What a race says: its standing, its table, a sentence before anything is shown, and the code."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from orthobench.decide.rule import Comparison, Decision, chosen
from orthobench.decide.wording import factor_text, verdict_text
from orthobench.racing.halving import Field
from orthobench.stats.calls import Call, calls_of
from orthobench.stats.costs import ALL_COSTS, Cost
from orthobench.tools.formatting import clean, duration, plural

SHOWN = 6
"""The most rows of the table of a race under way."""


def at(seconds: float) -> str:
    """Return a time of a race, as a line begins with it."""
    return f"{seconds:6.1f} s "


def standing(race: Field, cost: str, running: str, elapsed: float, left: float) -> str:
    """Return the table of a race under way, and who leads, how many are in it, and the time left.

    Parameters
    ----------
    race : Field
    cost : str
    running : str
        The configuration that runs now, for as long as nothing leads.
    elapsed, left : float
        Seconds.
    """
    raced = len({name for name, _ in race.latest})
    counts = f"{raced} of {len(race.rules.order)} raced, {len(race.dropped)} dropped"
    if race.leader:
        lead = f"{race.leader} leads with {duration(race.lead)}"
    else:
        lead = f"first: {running}" if running else "the first run begins"
    now = f"{at(elapsed)} {clean(lead)}; {counts}; {duration(max(left, 0.0))} left"
    rows = table(race, race.leader, {}, "leads") if race.leader else []
    return "\n".join([*lines(rows, cost, SHOWN), now])


def timing_line(elapsed: float, calls: int) -> str:
    """Return the line that says that calls are timed."""
    return f"{at(elapsed)} {plural(calls, 'call')} timed one after another"


def leading_call(race: Field) -> Call | None:
    """Return the call of the leader on the first seed, where nothing is shown yet."""
    trial = race.latest.get((race.leader or "", 0))
    if trial is None or trial.curve is None:
        return None
    calls = calls_of([trial.curve], [False], trial.ratio)
    costs, target = calls.costs([trial.spent]), np.array([race.target(0)])
    own = [calls.call(j, costs[j], target) for j in range(len(calls.stops))]
    first = max((j for j, call in enumerate(own) if call.misses), default=-1) + 1
    return chosen(own[first:])


def provisional(race: Field, call: Call | None, cost: Cost) -> str:
    """Return what leads if too few seeds show that it is as good as the best."""
    if race.leader is None or call is None:
        ended = any(t.ended for t in race.trials)
        missed = "all runs end outside the level at which solvers are compared"
        none = missed if ended else "no run came to an end: give it more time"
        why = next(iter(race.failed.values()), none)
        return f"No solver yet: {clean(why)}."
    raced = len({name for name, _ in race.latest})
    stop = "" if call.stop.own else f" with {call.stop}"
    return (
        f"Use {clean(race.leader)}{stop} for now, {cost.text(call.cost)}: untested on "
        f"{plural(len(race.costs(race.leader)), 'seed')}. It is the cheapest of {raced} of "
        f"{plural(len(race.rules.order), 'configuration')} within {100 * race.rules.tolerance:g} % "
        "of the gap above the best value seen; give it more time."
    )


def table(
    race: Field, first: str | None, decided: Mapping[str, Decision], title: str = "winner"
) -> list[dict[str, Any]]:
    """Return a row for each configuration, the first one on top, then by cost.

    Parameters
    ----------
    race : Field
    first : str, optional
        The configuration that wins or leads.
    decided : mapping
        What is decided of configurations.
    title : str
        The verdict on the first.
    """
    least = race.cost(first) if first else math.nan
    rows = []
    for name, solver in race.rules.order.items():
        cost, seeds, why = race.cost(name), len(race.costs(name)), race.dropped.get(name, "")
        verdict = verdict_text(decided[name]) if name in decided else "" if seeds else "not run"
        rows.append({
            "configuration": name, "solver": solver,
            "verdict": title if name == first else "dropped" if why else verdict,
            "cost": cost, "factor": cost / least, "seeds": seeds, "why": why,
        })  # fmt: skip
    return sorted(rows, key=lambda r: (r["configuration"] != first, r["cost"], not r["seeds"]))


def race_evidence(race: Field, call: Call | None, alone: bool, workers: int) -> str:
    """Return how a race timed calls, and how many configurations ran on how many seeds.

    Parameters
    ----------
    race : Field
    call : Call, optional
        The call to make.
    alone : bool
        Whether calls were timed alone; otherwise with other runs of the race.
    workers : int
        How many runs the race had at once.
    """
    raced = len({name for name, _ in race.latest})
    how = "one after another" if alone else f"with up to {plural(workers, 'run')} at once"
    seeds = f", the one named on {plural(call.seeds, 'seed')}" if call else ""
    return (
        f"Timed with 1 thread, {how}. {raced} of "
        f"{plural(len(race.rules.order), 'configuration')} ran{seeds}."
    )


def final_rows(
    race: Field, comparison: Comparison | None, call: Call | None, first: str | None,
    firsts: Mapping[str, float],
) -> list[dict[str, Any]]:  # fmt: skip
    """Return a row for each configuration, that of the call to make first.

    Parameters
    ----------
    race : Field
    comparison : Comparison, optional
        What is decided.
    call : Call, optional
        The call to make.
    first : str, optional
        Its configuration.
    firsts : mapping
        The seconds of first calls, by configuration.
    """
    decided = comparison.by_solver if comparison else {}
    rows = []
    for name, solver in race.rules.order.items():
        d, why = decided.get(name), race.dropped.get(name, "")
        own = call if name == first else d.call if d else None
        cost = own.cost if own else race.cost(name)
        verdict = verdict_text(d) if d else "not run"
        rows.append({
            "configuration": name, "solver": solver,
            "verdict": verdict if name == first or not why else "dropped",
            "cost": cost, "first_cost": firsts.get(name, math.nan),
            "stop": dict(own.stop.limits) if own else None,
            "reached": own.reached if own else 0,
            "seeds": own.seeds if own else len(race.costs(name)),
            "factor": cost / call.cost if call else math.nan, "why": why,
        })  # fmt: skip
    good = ("as good", "exact")
    return sorted(
        rows,
        key=lambda r: (r["configuration"] != first, r["verdict"] not in good, r["cost"]),
    )


def final_lines(rows: Sequence[Mapping[str, Any]], cost: str, most: int = 10) -> Iterator[str]:
    """Yield the lines of the table of a race that is over."""
    there = [row for row in rows if row["seeds"] and row["cost"] < math.inf][:most]
    names = [
        clean(row["configuration"])
        + "".join(f", {v:,.0f} {n}" for n, v in (row["stop"] or {}).items())
        for row in there
    ]
    width = max(map(len, names), default=0)
    for name, row in zip(names, there, strict=True):
        amount, first = ALL_COSTS[cost].text(row["cost"]), row["first_cost"]
        if cost == "seconds" and math.isnan(first):
            amount = f"({amount})"
        also = f"  (first call {ALL_COSTS[cost].text(first)})" if first > 2 * row["cost"] else ""
        seeds = f"{row['reached']}/{row['seeds']}"
        yield f"{name:{width}}  {amount:>9}  {seeds:>6} seeds  {row['verdict']}{also}"
    waiting = sum(not row["seeds"] for row in rows)
    others = len(rows) - waiting - len(there)
    rest = ["(in brackets: on the clock of a run)"] * any(
        cost == "seconds" and math.isnan(row["first_cost"]) for row in there
    )
    rest += [f"{others} more cost more, or end higher"] * (others > 0)
    rest += [f"{waiting} not run"] * (waiting > 0)
    if rest:
        yield "; ".join(rest)


def lines(rows: Sequence[Mapping[str, Any]], cost: str, most: int = 10) -> Iterator[str]:
    """Yield the lines of a table: those that got there, and how many did not."""
    there = [row for row in rows if row["cost"] < math.inf]
    width = max((len(row["configuration"]) for row in there[:most]), default=0)
    for row in there[:most]:
        amount = ALL_COSTS[cost].text(row["cost"])
        factor = factor_text(row["factor"]) if row["factor"] < math.inf else ""
        yield (
            f"{clean(row['configuration']):{width}}  {amount:>9}  {factor:>7}  "
            f"{plural(row['seeds'], 'seed'):>8}  {row['verdict']}"
        )
    waiting = sum(not row["seeds"] for row in rows)
    others = len(rows) - waiting - len(there[:most])
    rest = [f"{others} more: dearer, or not as good"] * (others > 0)
    rest += [f"{waiting} not run"] * (waiting > 0)
    if rest:
        yield "; ".join(rest)
