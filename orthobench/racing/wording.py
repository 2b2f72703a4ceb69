"""What a race says: its standing, its table, a sentence before anything is shown, and the code."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from orthobench.contract.parameters import changed_values
from orthobench.contract.problem import AnyProblem
from orthobench.contract.solver import AnySolver
from orthobench.decide.answer import Answer
from orthobench.decide.rule import Decision
from orthobench.decide.wording import factor_text, verdict_text
from orthobench.harness.given import GivenProblem
from orthobench.racing.halving import FACTOR, Field
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


def provisional(race: Field, cost: Cost) -> str:
    """Return what leads where too few seeds show that it is as good as the best."""
    if race.leader is None:
        ended = any(t.ended for t in race.trials)
        missed = "all runs end outside the level at which solvers are compared"
        none = missed if ended else "no run came to an end: give it more time"
        why = next(iter(race.failed.values()), none)
        return f"No solver yet: {clean(why)}."
    own, leader = race.cost(race.leader), race.leader
    solver = race.rules.order[leader]
    costs = {n: race.cost(n) for n, kin in race.rules.order.items() if kin != solver}
    others = {name: cost for name, cost in costs.items() if cost >= own}
    next_ = min(others, key=lambda n: others[n], default=leader)
    price = ""
    if others and others[next_] < math.inf:
        text = factor_text(others[next_] / own)
        price = f", {clean(next_)} {cost.dearer.format(text)}"
    return (
        f"Use {clean(leader)}: the first within {100 * race.rules.tolerance:g} % of the gap above "
        f"the best value seen, on {plural(len(race.costs(leader)), 'seed')}{price}. More time "
        "would show whether it is as good as the best."
    )


def with_next(found: Answer, others: Mapping[str, float], cost: Cost) -> str:
    """Return the sentence of an answer, and what the next cost where that is not in it.

    Parameters
    ----------
    found : Answer
    others : mapping
        The factors of cost of the other solvers that got as far on some seed.
    cost : Cost
    """
    if not others or not math.isnan(found.factor):
        return found.sentence
    name = min(others, key=lambda n: others[n])
    return (
        f"Use {clean(found.solver)}: as good as the best; the next to get there, {clean(name)}, "
        f"{cost.dearer.format(factor_text(others[name]))}."
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


def code(
    problem: AnyProblem, solver: AnySolver | None, chosen: Mapping[str, Any], race: Field
) -> str:
    """Return the lines that compute the answer; with a budget where the solver does not end."""
    if solver is None:
        return ""
    own = changed_values(problem)
    given = isinstance(problem, GivenProblem)
    made = f"ob.catalogue().problem({problem.name!r}, {own!r})"
    settings = "".join(f", {name}={value!r}" for name, value in chosen.items())
    ends = all(t.ended for (name, _), t in race.latest.items() if name == race.leader)
    seconds = float(f"{FACTOR * race.lead:.2g}")
    budget = "" if ends else f", ob.Budget(seconds={seconds})"
    return "\n".join((
        "import orthobench as ob",
        "",
        f"problem = {'...  # your instance' if given else made}",
        f"outcome = ob.solve({solver.name!r}, problem{budget}{settings})",
        "print(outcome.solution)",
    ))  # fmt: skip
