"""Races are replayed on recorded curves: the winner is the cheapest there."""

import math

import numpy as np
import pytest

from orthobench.racing.halving import Ask, Field, Rules, Trial


@pytest.fixture
def known():
    """Return three methods on two seeds: one is cheap and good, one dear, one not good enough."""
    t = np.linspace(0, 1, 11)
    trials = [
        Trial(name, seed, 60.0, end + (1 + seed - end) * (1 - t) ** 2, t * pace, t * pace, True)
        for name, pace, end in (("dear", 3.0, 0.0), ("cheap", 1.0, 0.0), ("poor", 0.5, 0.4))
        for seed in (0, 1)
    ]
    return Field(Rules({n: n for n in ("dear", "cheap", "poor")}, math.inf), trials)


def test_the_winner_of_a_replay_loses_nothing(script, known):
    race, seconds = script.played(known, 60.0)
    assert script.regret(race, known) == ("cheap", "cheap", 1.0)
    assert seconds < 60


def test_a_seed_that_is_not_recorded_goes_as_the_first(script, known):
    run = script._of(known, Ask("cheap", 4, 1.0))
    assert run.values.tolist() == pytest.approx(known.latest["cheap", 0].values.tolist())
    assert script._cut(run, 0.45).values.tolist() == run.values[:5].tolist()
    assert not script._cut(run, 0.45).ended
