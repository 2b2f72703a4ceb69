"""Performance profiles: how often each solver is among the cheapest, over all problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orthobench.contract.panel import Axis, Key, Panel, Plot
from orthobench.errors import unknown
from orthobench.report.plots.distributions import costs, distribution_panel, small_print
from orthobench.report.words import clean
from orthobench.results.tuning import Entry
from orthobench.stats.profiles import Runs, gather, performance_profile

ACCURACIES: Mapping[str, float] = {"10 %": 1e-1, "1 %": 1e-2, "0.1 %": 1e-3, "0.001 %": 1e-5}
"""How much of the gap from the start to the best value is left where an instance is solved."""

NAMES: Mapping[str, str] = {
    "seconds": "time",
    "flops": "floating-point operations",
    "samples": "samples",
    "steps": "steps",
}


def profile(entries: Sequence[Entry]) -> Plot:
    """Return the performance profiles of one family: a panel for each cost and accuracy.

    Parameters
    ----------
    entries : sequence of Entry
        Of all problems of the family, at least one of which takes part.
    """
    runs, offered = gather(entries), costs(entries)

    def draw(key: Key) -> Panel:
        cost, accuracy = key
        return profile_panel(runs, cost, accuracy)

    return Plot(
        name=f"{clean(entries[0].facts.family)}: performance profiles",
        kind="profile",
        choices={"cost": offered, "accuracy": tuple(ACCURACIES)},
        draw=draw,
        sheet=[(offered[0], accuracy) for accuracy in list(ACCURACIES)[:3]],
        about=small_print(
            entries,
            runs,
            "solved to 10 %, say: at most 10 % of the gap between the start and the best value "
            "that any solver reached is left (Moré and Wild 2009), at the first checkpoint where "
            "it is so",
        ),
    )


def profile_panel(runs: Runs, cost: str, accuracy: str) -> Panel:
    """Return the share of instances that each solver solves within a factor of the least cost.

    Parameters
    ----------
    runs : Runs
    cost : str
        One of `orthobench.stats.curves.AXES`.
    accuracy : str
        One of `ACCURACIES`.

    Raises
    ------
    UsageError
        On an unknown cost or accuracy.
    """
    if accuracy not in ACCURACIES:
        raise unknown("accuracy", accuracy, ACCURACIES)
    found = performance_profile(runs.costs(cost, ACCURACIES[accuracy]))
    x = Axis("ratio", f"{NAMES[cost]}, as a multiple of the least of any solver")
    y = Axis("share", f"share of instances solved to {accuracy}", log=False)
    return distribution_panel(runs, found, x, y, begin=1.0)
