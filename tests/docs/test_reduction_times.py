"""Simulated passes over blocks, against a simulation block by block and by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_clusters.passes import run_length
from reduction_times import Costs, MeasuredPass, fitted, simulated

LAN = {"summary_bytes": 3e6, "latency": 1e-3, "bandwidth": 1e9}


def slowly(costs, blocks, workers):
    """The wall time, bytes and merges of the same tree, node by node."""
    owner = [max(w for w in range(workers) if w * blocks // workers <= i) for i in range(blocks)]
    free = [owner.count(w) * costs.summarize for w in range(workers)]
    own, across = [], []
    nodes, width = [(i, i + 1) for i in range(blocks)], 1
    while len(nodes) > 1:
        pairs = [nodes[i : i + 2] for i in range(0, len(nodes), 2)]
        for pair in pairs:
            if len(pair) == 2:
                a, b = owner[pair[0][0]], owner[pair[1][0]]
                (own if a == owner[pair[1][1] - 1] else across).append((width, a, b))
        nodes, width = [(pair[0][0], pair[-1][1]) for pair in pairs], 2 * width
    for _, a, _ in own:
        free[a] += costs.merge
    sent = 0
    for level in sorted({width for width, _, _ in across}):
        before = list(free)
        for width, a, b in across:
            if width == level:
                arrived = before[b] + costs.transfer if a != b else 0.0
                free[a] = max(before[a], arrived) + costs.merge
                sent += a != b
    tasks = 2 * -(-blocks // run_length(blocks, workers)) - 1
    wall = max(free[0], tasks * costs.scheduler) + costs.fixed
    return wall, sent, len(own) + len(across)


@given(st.integers(1, 70), st.integers(1, 12), st.sampled_from([0.0, 0.01, 3.0]))
def test_the_same_as_node_by_node(blocks, workers, scheduler):
    costs = Costs(1.0, 0.3, **LAN, scheduler=scheduler, fixed=2.0)
    wall, sent, merges = slowly(costs, blocks, min(workers, blocks))
    found = simulated(costs, blocks, workers)
    assert found.wall_seconds == pytest.approx(wall, rel=1e-12)
    assert found.bytes_moved == sent * 3e6
    assert merges == blocks - 1


def test_by_hand_eight_blocks_on_four_workers():
    # two blocks and a merge each, then two levels of a transfer and a merge
    found = simulated(Costs(1.0, 0.25, **LAN), 8, 4)
    assert found.wall_seconds == pytest.approx(2 + 0.25 + 2 * (0.004 + 0.25))
    assert found.efficiency == pytest.approx((8 + 7 * 0.25) / (4 * found.wall_seconds))
    assert found.bytes_moved == 3 * 3e6


def test_one_worker_has_efficiency_one_and_moves_nothing():
    found = simulated(Costs(1.0, 0.1, **LAN, fixed=1.0), 1000, 1)
    assert (found.efficiency, found.bytes_moved) == (1.0, 0.0)


def test_workers_share_cores():
    costs = Costs(1.0, 0.0)
    assert simulated(costs, 64, 4, cores=2).wall_seconds == pytest.approx(32)
    assert simulated(costs, 64, 4).wall_seconds == pytest.approx(16)


def test_a_scheduler_slows_workers_that_share_its_cores():
    """16 tasks of a block each for both workers, and 31 merges."""
    costs = Costs(1.0, 0.0, scheduler=0.1)
    assert simulated(costs, 32, 2, cores=2).wall_seconds == pytest.approx(16 + 63 * 0.1)


def test_a_scheduler_bounds_what_workers_gain():
    """A million blocks are tasks of 4 blocks each, of which two merge into one."""
    costs = Costs(1e-3, 0.0, scheduler=1e-3)
    assert simulated(costs, 10**6, 10_000).wall_seconds == pytest.approx(499.999)


def test_ten_thousand_workers_merge_in_fourteen_levels():
    costs = Costs(1.0, 1.0, **LAN)
    wall = simulated(costs, 10_000, 10_000).wall_seconds
    # of the last level the right half is smaller, and has arrived before the left one is done
    assert wall == pytest.approx(1 + 13 * 1.004 + 1)


TRUE = Costs(0.5, 0.05, **LAN, scheduler=0.01, fixed=0.7)


def run(blocks, workers, cores=2):
    wall = simulated(TRUE, blocks, workers, cores).wall_seconds
    return MeasuredPass(blocks, workers, cores, wall, blocks * 0.5 + (blocks - 1) * 0.05)


def test_fitted_costs_are_those_that_runs_were_made_with():
    found = fitted([run(n, w) for n in (32, 256) for w in (1, 2)], Costs(0.0, 0.05, **LAN))
    assert found.summarize == pytest.approx(0.5)
    assert (found.scheduler, found.fixed) == pytest.approx((0.01, 0.7))
    for workers in (1, 2, 4):
        wall = run(512, workers).wall_seconds
        assert simulated(found, 512, workers, 2).wall_seconds == pytest.approx(wall)


def test_fitted_costs_are_never_negative():
    quick = [MeasuredPass(n, 1, 1, 0.1, 0.2) for n in (8, 16)]
    found = fitted(quick, Costs(0.0, 1.0))
    assert (found.summarize, found.scheduler, found.fixed, found.merge) == (0, 0, 0, 1)


def test_without_a_network_summaries_move_at_once():
    assert Costs(1.0, 0.1).transfer == 0
    assert simulated(Costs(1.0, 0.0), 4, 4).wall_seconds == 1


def test_fitting_refuses_runs_that_all_share_cores():
    with pytest.raises(ValueError, match="without shared cores"):
        fitted([run(8, 4)], Costs(0.0, 0.0))


def test_efficiency_falls_with_workers_and_is_at_most_one():
    costs = Costs(1.0, 0.5, **LAN)
    found = [simulated(costs, 4096, 2**i).efficiency for i in range(13)]
    assert np.all(np.diff(found) <= 1e-12)
    assert max(found) == 1.0
    assert math.isclose(found[-1], (4096 + 0.5 * 4095) / (4096 * (1 + 12 * 0.504)))
