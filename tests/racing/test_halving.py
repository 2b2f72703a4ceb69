"""The rule of a race on simulated curves: its regret, its time, and its drops."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from trials import made_trial

from orthobench.racing.halving import MOST, Halving, NextRun
from orthobench.racing.standing import SEEDS, Rules, Trial

OVERHEAD = 0.2
SLACK = 2.0


@dataclass(frozen=True)
class Curve:
    """A configuration: it waits, then falls at a rate to its end."""

    solver: str
    wait: float
    rate: float
    end: float
    noise: float

    def trial(self, name: str, seed: int, cap: float) -> Trial:
        """Return a run: values fall from 1 as exp(-rate t), and end a little differently."""
        rng = np.random.default_rng([seed, *name.encode()])
        speed = math.exp(self.noise * rng.standard_normal())
        end = self.end * math.exp(0.1 * rng.standard_normal())
        over = self.wait + 20 / self.rate
        t = np.concatenate([[0.0], self.wait + np.geomspace(over / 1000, over, 60)])
        values = np.maximum(np.exp(-self.rate * np.maximum(t - self.wait, 0)), end)
        t = t * speed
        within = (t <= cap) | ((np.arange(len(t)) < 2) & (t <= cap + SLACK))
        t, values = t[within], values[within]
        return made_trial(name, seed, cap, values, t, ended=bool(within.all()))


def field_of(
    rng: np.random.Generator, scale: float, prior: float, solvers: int = 20
) -> dict[str, Curve]:
    """Return configurations whose rates differ by a factor of thousand; some end above others.

    Those that are expected to be fast come first, with an error of `prior` decades.
    """
    found = {}
    for i in range(solvers):
        rate = 5 / scale * 10 ** -rng.uniform(0, 3)
        ends = 10 ** -rng.uniform(1, 3) if rng.random() < 0.4 else 1e-6
        wait = 2 / rate if rng.random() < 0.2 else 0.0
        for j in range(1 if rng.random() < 0.5 else 5):
            own = rate * 10 ** (-rng.uniform(0, 1.5) if j else 0.0)
            curve = Curve(f"s{i}", wait, own, ends, 0.15)
            found[f"s{i}" + (f" step={j}" if j else "")] = curve
    first = {c.solver: -math.log10(c.rate) + prior * rng.standard_normal() for c in found.values()}
    order = sorted(found, key=lambda name: (" " in name, first[found[name].solver]))
    return {name: found[name] for name in order}


def true_costs(curves: dict[str, Curve], tolerance: float = 0.01) -> dict[str, float]:
    """Return the median cost of each to the tolerance of the gap, had all run to their ends."""
    runs = {
        (n, s): c.trial(n, s, math.inf) for n, c in curves.items() for s in range(100, 111)
    }  # fmt: skip
    best = {s: min(runs[n, s].lowest for n in curves) for _, s in runs}
    return {
        n: float(np.median([
            runs[n, s].cost(best[s] + tolerance * (1 - best[s])) for s in best
        ]))
        for n in curves
    }  # fmt: skip


def raced(
    curves: dict[str, Curve], total: float, until: Callable[[Halving], bool] | None = None
) -> tuple[Halving, float]:
    """Return a race as it ends, and the time that it took, with one run at a time."""
    rules = Rules({name: c.solver for name, c in curves.items()}, total)
    trials: list[Trial] = []
    spent = 0.0
    while (ask := Halving(rules, tuple(trials)).next(total - spent, OVERHEAD)) is not None:
        trial = curves[ask.configuration].trial(ask.configuration, ask.seed, ask.cap)
        killed = ask.cap + SLACK if len(trial.values) < 2 else 0.0
        spent += max(float(trial.seconds[-1]), killed) + OVERHEAD
        if spent > total:
            break
        trials.append(trial)
    return Halving(rules, tuple(trials)), spent


def regret(seed: int, scale: float, total: float, prior: float = 0.7) -> tuple[float, float]:
    """Return the cost of the winner over that of the best, and the share of the time."""
    curves = field_of(np.random.default_rng(seed), scale, prior)
    field, spent = raced(curves, total)
    costs = true_costs(curves)
    leader = field.leader
    lost = costs[leader] / min(costs.values()) if leader else math.inf
    return min(lost, 10.0), spent / total


@pytest.mark.parametrize(
    ("scale", "total", "races"),
    [
        (0.1, 120.0, 2),
        *(
            pytest.param(*case, 25, marks=pytest.mark.slow)
            for case in ((0.01, 30.0), (0.01, 120.0), (0.1, 30.0), (0.1, 120.0), (1.0, 120.0))
        ),
    ],
)
def test_the_winner_costs_hardly_more_than_the_best(scale: float, total: float, races: int) -> None:
    lost, shares = zip(*[regret(seed, scale, total) for seed in range(races)], strict=True)
    assert math.exp(np.mean(np.log(lost))) <= 1.1
    assert max(shares) <= 1.1  # the harness kills what would take longer


def test_a_slow_starter_that_is_first_in_the_end_wins() -> None:
    fast = {f"s{i}": Curve(f"s{i}", 0.0, 1.0 / (i + 1), 1e-6, 0.1) for i in range(4)}
    exact = Curve("exact", 0.9, 1000.0, 1e-9, 0.1)
    field, _ = raced({**fast, "exact": exact}, 120.0)
    assert field.leader == "exact"


def test_runs_that_end_above_the_best_are_dropped() -> None:
    curves = {
        "best": Curve("best", 0.0, 20.0, 1e-6, 0.1),
        "poor": Curve("poor", 0.0, 200.0, 0.4, 0),
    }
    field, _ = raced(curves, 60.0)
    assert field.leader == "best"
    assert field.dropped["poor"].startswith("ends 4")


def test_nobody_has_more_than_a_few_times_what_the_leader_needed() -> None:
    curves = {
        "quick": Curve("quick", 0.0, 50.0, 1e-6, 0.1),
        "slow": Curve("slow", 0.0, 0.01, 1e-6, 0.1),
    }
    field, spent = raced(curves, 120.0)
    most = max(t.cap for t in field.trials if t.configuration == "slow")
    assert most <= max(MOST * field.lead, MOST * field.floor)
    assert field.dropped["slow"].startswith("more than")
    assert spent < 60.0


def test_runs_that_fail_are_out_and_the_next_one_begins() -> None:
    nothing = np.zeros(0)
    rules = Rules({"broken": "broken", "sound": "sound"}, 60.0)
    broken = made_trial("broken", 0, 6.0, nothing, nothing, False, "it raised")
    field = Halving(rules, (broken,))
    ask = field.next(60.0)
    assert ask is not None
    assert ask.configuration == "sound"
    assert field.dropped == {"broken": "failed: it raised"}


def test_the_gap_begins_where_runs_do_even_if_that_does_not_count() -> None:
    t, counts = np.array([0.0, 1.0]), np.array([math.inf, 0.5])
    trials = [
        made_trial("good", 0, 9.0, counts, t, True, start=1.0),
        made_trial("poor", 0, 9.0, counts + 0.4, t, True, start=1.0),
    ]
    field = Halving(Rules({"poor": "poor", "good": "good"}, 60.0), trials)
    assert field.gaps[0] == (1.0, 0.5)
    assert field.leader == "good"
    assert field.dropped == {"poor": "ends 80 % of the gap above good"}


def test_nothing_runs_twice_at_once() -> None:
    curves = {f"s{i}": Curve(f"s{i}", 0.0, 10.0, 1e-6, 0.1) for i in range(3)}
    rules = Rules({name: name for name in curves}, 60.0)
    field = Halving(rules, (curves["s0"].trial("s0", 0, 6.0),))
    asks = [field.next(60.0, 0.0, running) for running in ([], [("s1", 0)])]
    assert [ask and ask.configuration for ask in asks] == ["s1", "s2"]


def test_deterministic_runs_are_repeated_once() -> None:
    values, t = np.array([1.0, 0.1, 0.0]), np.array([0.0, 0.1, 0.2])
    trials = [
        made_trial(name, seed, 6.0, values + (name == "b") * t * 1e-4, t * factor, True)
        for name, factor in (("a", 1.0), ("b", 2.0)) for seed in (0, 1)
    ]  # fmt: skip
    field = Halving(Rules({"a": "a", "b": "b"}, 60.0), trials)
    assert field.next(60.0) is None
    assert [d.as_good for d in field.decisions()] == [True, True]
    assert field.leader == "a"


def test_a_number_of_steps_is_tested_on_all_seeds() -> None:
    t = np.arange(21.0)
    for reached, seeds, settled in ((1, 5, False), (1, SEEDS, True), (20, 5, True)):
        values = np.where(t < reached, 1.0, 0.0)
        trials = [
            made_trial("a", seed, 60.0, values + 1e-4 * seed, t, True) for seed in range(seeds)
        ]
        assert Halving(Rules({"a": "a"}, 600.0), trials).settled is settled, (reached, seeds)


def test_runs_that_end_outside_a_level_do_not_lead() -> None:
    clock = np.array([0.0, 1.0, 2.0])
    inside = made_trial("inside", 0, 9.0, np.array([math.inf, 0.6, 0.4]), clock, True, start=1.0)
    outside = made_trial("outside", 0, 9.0, np.full(3, math.inf), clock, True, start=1.0)
    rules = Rules({"outside": "a", "inside": "b"}, 30.0)
    race = Halving(rules, [outside, inside])
    assert race.leader == "inside"
    assert race.gaps == {0: (1.0, 0.4)}
    assert "level" in race.dropped["outside"]
    assert race.finalists == ["inside"]
    nobody = Halving(rules, [outside])
    assert (nobody.leader, nobody.gaps, nobody.finalists) == (None, {}, [])
    assert nobody.dropped == {}
    ask = nobody.next(60.0)
    assert ask is not None
    assert ask.configuration == "inside"


TWO = Rules({"a": "a", "b": "b"}, 100.0)
"""On the first seed a run has 5 s at least and 10 s at most, unless the leader says otherwise."""


def run(
    name: str, values: list[float], seconds: list[float], cap: float = 10.0, seed: int = 0,
    ended: bool = True,
) -> Trial:  # fmt: skip
    at = np.array(seconds, dtype=float)
    return made_trial(name, seed, cap, np.array(values, dtype=float), at, ended)


def asked(*trials: Trial, overhead: float = 0.0) -> NextRun | None:
    return Halving(TWO, trials).next(100.0, overhead)


LEADER = run("a", [1, 0.5, 0.1], [0, 0.2, 0.8])


@pytest.mark.parametrize(
    ("cut", "cap"),
    [
        (run("b", [1, 0.505], [0, 0.4], cap=1.0, ended=False), 5.0),  # the leader was behind that
        (run("b", [1, 0.6], [0, 0.4], cap=1.0, ended=False), 0.0),
        (run("b", [1, 0.51, 0.4], [0, 1, 2], cap=2.0, ended=False), 8.0),  # in three doublings
        (run("b", [1, 0.45, 0.4], [0, 1, 2], cap=2.0, ended=False), 0.0),
        (run("b", [1, 0.9, 0.1], [0, 1, 2], cap=2.0, ended=False), 0.0),  # it is there
        (run("b", [1], [0], cap=0.5, ended=False), 5.0),  # no step yet
        (run("b", [1], [0], cap=0.9, ended=False), 0.0),  # and no sooner than the leader
    ],
)
def test_a_run_that_was_cut_goes_on_if_it_may_still_win(cut: Trial, cap: float) -> None:
    assert asked(LEADER, cut) == (NextRun("b", 0, cap) if cap else NextRun("a", 1, 5.0))


def test_finalists_run_by_cost_and_again_after_a_kill() -> None:
    trials = [run("b", [1, 0.1], [0, 8]), run("a", [1, 0.1], [0, 4])]
    assert asked(*trials) == NextRun("a", 1, 10.0)
    assert asked(*trials, overhead=12.0) == NextRun("a", 1, 12.0)
    trials.append(run("a", [1, 0.2], [0, 4], seed=1))
    assert asked(*trials) == NextRun("b", 1, 20.0)  # 2.5 times the seconds of its own end
    trials.append(run("b", [], [], seed=1, ended=False))
    assert asked(*trials) == NextRun("b", 1, 40.0)
    trials.append(run("b", [], [], cap=40.0, seed=1, ended=False))
    assert asked(*trials) == NextRun("a", 2, 10.0)


def test_a_race_ends_at_five_seeds_where_the_cheapest_is_as_good() -> None:
    trials = [
        run(name, [1, 1e-3 * (seed + 1) + above], [0, cost], seed=seed)
        for seed in range(5) for name, above, cost in (("a", 0.0, 1.0), ("b", 1e-4, 2.0))
    ]  # fmt: skip
    assert asked(*trials) is None
    assert asked(*trials[:8]) == NextRun("a", 4, 5.0)


@pytest.mark.parametrize(
    ("cost", "overhead", "cap"), [("seconds", 40, 8.1), ("samples", 0, 37.5), ("samples", 40, 40)]
)
def test_grids_of_the_best_solver_run_first(cost: str, overhead: float, cap: float) -> None:
    rules = Rules({"a": "a", "b": "b", "a x=1": "a", "b x=1": "b"}, 100.0, cost=cost)
    field = Halving(rules, [run("a", [1, 0.5], [0, 1]), run("b", [1, 0.1], [0, 2])])
    assert field.next(100.0, overhead) == NextRun("b x=1", 0, cap)


@pytest.mark.parametrize(
    ("end", "seconds", "stays"),
    [(0.29, 4.0, True), (0.31, 4.0, False), (0.29, 6.0, False)],
)
def test_early_ends_within_thirty_tolerances_are_finalists(
    end: float, seconds: float, stays: bool
) -> None:
    late = run("b", [1, 0.9, end], [0, 0.1, seconds])
    field = Halving(TWO, [run("a", [1, 0], [0, 1]), late])
    assert ("b" not in field.dropped) is stays
    assert field.finalists == ["a", "b"][: 1 + stays]


def test_race_goes_on_if_every_finalist_was_killed() -> None:
    trials = [
        run(name, [1, 1e-3 * (seed + 1)], [0, cost], seed=seed)
        for seed in range(5) for name, cost in (("a", 1.0), ("b", 2.0))
    ]  # fmt: skip
    trials[4] = run("a", [], [], cap=20.0, seed=2, ended=False)
    trials[7] = run("b", [], [], cap=20.0, seed=3, ended=False)
    assert asked(*trials) == NextRun("a", 5, 5.0)


def test_a_finalist_counts_by_where_it_ends() -> None:
    trials = [
        run(name, [1, 1e-3 * (seed + 1), end], [0, cost, cost + 1], seed=seed)
        for seed in range(5) for name, end, cost in (("a", 0.5, 1.0), ("b", 1e-4, 2.0))
    ]  # fmt: skip
    race = Halving(TWO, trials)
    assert race.leader == "b"
    assert {d.solver: d.as_good for d in race.decisions()} == {"b": True}


def test_a_trial_counts_from_where_it_stays_at_or_below_a_value() -> None:
    trial = run("a", [1, 0.5, 0.25, 0.5], [0, 2, 3, 4])
    assert (trial.lowest, trial.cost(0.5), trial.seconds_to(0.5)) == (0.25, 2.0, 2.0)
    assert trial.cost(0.3) == math.inf  # it was there, and left again
    assert (trial.cost(0.2), trial.seconds_to(0.2)) == (math.inf, math.inf)
    assert [trial.at(seconds) for seconds in (-1, 0, 2, 3.9, 4)] == [math.inf, 1, 0.5, 0.25, 0.25]


@pytest.mark.parametrize(("finalists", "chosen"), [(2, ["a", "b"]), (3, ["a", "a x=1", "b"])])
def test_finalists_are_the_best_of_each_solver_first(finalists: int, chosen: list[str]) -> None:
    order = {"a": "a", "a x=1": "a", "b": "b"}
    trials = [
        run(name, [1, 0.1], [0, cost])
        for name, cost in (("a", 1.0), ("a x=1", 2.0), ("b", 3.0))
    ]  # fmt: skip
    assert Halving(Rules(order, 100.0, finalists=finalists), trials).finalists == chosen


def test_no_run_begins_that_cannot_end_in_time() -> None:
    cut = run("b", [1, 0.51, 0.4], [0, 2, 4], cap=4.0, ended=False)
    race = Halving(TWO, [LEADER, cut])
    assert race.next(100.0, 1.0) == NextRun("b", 0, 10.0)
    # what was cut after 4 seconds takes longer than the 3 that are left beside the overhead
    assert race.next(4.0, 1.0, workers=10) == NextRun("a", 1, 3.0)
    assert race.next(1.5, 1.0, workers=100) is None  # the leader takes 0.8
    assert Halving(TWO, [LEADER]).next(1.0, 1.0, workers=100) is None


def test_seeds_go_to_finalists_with_time_for_five() -> None:
    trials = [run("a", [1, 1e-3], [0, 2]), run("b", [1, 1e-3], [0, 8])]
    trials.append(run("a", [1, 2e-3], [0, 2], seed=1))
    race = Halving(TWO, trials)
    assert race.next(50.0) == NextRun("b", 1, 20.0)  # 4 times 8 seconds, and 3 times 2
    assert race.next(24.0) == NextRun("a", 2, 5.0)


def test_the_first_run_on_endless_data_is_short() -> None:
    order = {"a": "a", "b": "b"}
    assert Halving(Rules(order, 100.0), []).next(100.0) == NextRun("a", 0, 10.0)
    endless = Rules(order, 100.0, endless={"a", "b"})
    assert Halving(endless, []).next(100.0) == NextRun("a", 0, 0.1)
    falls = run("a", [1, 0.5, 0.1], [0, 0.05, 0.1], cap=0.1, ended=False)
    assert Halving(endless, [falls]).next(100.0) == NextRun("a", 0, 0.5)  # it falls on


@pytest.mark.parametrize(
    ("seconds", "left", "then"),
    [
        (6.0, 97.0, NextRun("b", 0, 12.0)),  # 4 * (6 + 12) s are for four seeds of the leader
        (6.0, 95.0, NextRun("a", 1, 15.0)),  # no other fits before them
        (6.0, 71.0, NextRun("b", 0, 12.0)),  # nor do four seeds: nothing will be shown
        (8.0, 95.0, NextRun("b", 0, 12.0)),  # the leader takes more than a twentieth of 150 s
    ],
)
def test_five_seeds_of_the_leader_come_before_other_solvers(
    seconds: float, left: float, then: NextRun
) -> None:
    race = Halving(
        Rules({name: name for name in "abcdefghijklmn"}, 150.0), [run("a", [1, 0.1], [0, seconds])]
    )
    assert race.next(left, overhead=12.0) == then
