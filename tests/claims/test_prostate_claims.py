"""Figures 1 and 2 of Shalit and Chechik (2014), on the prostate data of Singh et al. (2002).

Figure 1 holds against the greedy power method, whose loadings are denser and explain less, and
does not hold against the block method, which ends at the same density and variance with fewer
flops. Figure 2, whose own data are of brains, is mixed: at 5 % density the streaming method
explains more than the greedy one with 5 and 10 components, at several times the flops, and less
with 3; at 20 % the greedy one is ahead, as the paper says.

The paper's numbers are those of thresholded loadings. With filled ones all methods explain more,
and Figure 1 holds as well.
"""

from functools import cache

import numpy as np
import pytest
from orthobench_givens.sparse_pca import GivensSparsePCA
from orthobench_gpower.gpower import GPower
from orthobench_problems.sparse_pca import Prostate

import orthobench as ob
from orthobench.cell import instance_of
from orthobench.datasets import cache_folder
from orthobench.solver import Status

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (cache_folder() / "singh.RData").exists(),
        reason="singh.RData is not in $ORTHOBENCH_DATA",
    ),
]

SEEDS = range(5)
HOW = ["thresholded", "filled"]
GAMMAS = [0.002, 0.004, 0.006, 0.009, 0.013, 0.02, 0.03, 0.04, 0.06, 0.1, 0.15, 0.25]


@cache
def figure_1():
    return instance_of(Prostate(m=102), 0)


def ended(solver, seed):
    """Non-zeros a component, adjusted explained variance and flops where the solver converges."""
    instance = figure_1()
    state = solver.init(instance.oracle, np.random.default_rng(seed))
    solver.advance(instance.oracle, state, 10**6)
    assert state.status is Status.CONVERGED
    metrics = instance.measure(solver.solution(state))
    return metrics["nonzeros"], metrics["adjusted_explained_variance"], state.work.flops


@cache
def spread(method, how):
    """The lowest and the highest over seeds, (2, 3)."""
    solver = {
        "givens": GivensSparsePCA(gamma=0.25, tolerance=1e-4, loadings=how),
        "greedy": GPower(gamma=0.25, loadings=how),
        "block": GPower(gamma=0.25, block=True, loadings=how),
    }[method]
    runs = [ended(solver, seed) for seed in (SEEDS if method != "greedy" else [0])]
    return np.array([np.min(runs, axis=0), np.max(runs, axis=0)])


@pytest.mark.parametrize("how", HOW)
def test_figure_1_givens_is_sparser_than_the_greedy_method_and_explains_more(how):
    givens, greedy = spread("givens", how), spread("greedy", how)
    assert givens[1, 0] < 0.85 * greedy[0, 0]
    assert givens[0, 1] > greedy[1, 1] + 0.004


def test_figure_1_has_the_numbers_of_thresholded_loadings():
    givens, greedy = spread("givens", "thresholded"), spread("greedy", "thresholded")
    assert 320 < givens[0, 0] <= givens[1, 0] < 326
    assert 0.597 < givens[0, 1] <= givens[1, 1] < 0.604
    assert greedy[0, :2] == pytest.approx([485, 0.585], rel=0.01)


def test_figure_1_givens_is_there_at_the_flops_of_the_greedy_method():
    """To converge takes 4 times as many: most of the gain comes first."""
    greedy, instance = spread("greedy", "thresholded")[0], figure_1()
    solver = GivensSparsePCA(gamma=0.25, tolerance=1e-4, loadings="thresholded")
    for seed in SEEDS:
        state = solver.init(instance.oracle, np.random.default_rng(seed))
        metrics = instance.measure(solver.solution(state))
        while metrics["adjusted_explained_variance"] < greedy[1]:
            solver.advance(instance.oracle, state, 5151)
            metrics = instance.measure(solver.solution(state))
        assert metrics["nonzeros"] < 0.75 * greedy[0]
        assert state.work.flops < 1.5 * greedy[2]
    converged = spread("givens", "thresholded")
    assert converged[0, 2] > 3 * greedy[2]


@pytest.mark.parametrize("how", HOW)
def test_figure_1_does_not_hold_against_the_block_method(how):
    givens, block = spread("givens", how), spread("block", how)
    assert givens[:, :2].mean(axis=0) == pytest.approx(block[:, :2].mean(axis=0), rel=0.01)
    assert block[1, 2] < givens[0, 2]


@cache
def figure_2(folder):
    methods = [
        {"name": "givens-streaming-sparse-pca", "label": "givens"},
        {"name": "gpower", "label": "greedy"},
    ]
    common = {"gamma": {"tune": GAMMAS}, "loadings": "thresholded"}
    table = {
        "seeds": 5,
        "budget": {"flops": 5e9},
        "at": {"density": [0.05, 0.2]},
        "problem": [
            {"name": "prostate", "label": "p", "scaling": "centred", "test": 20, "m": [3, 5, 10]}
        ],
        "solver": [{**method, **common} for method in methods],
    }
    results = ob.run(table, folder / "store.sqlite", quiet=True)
    assert not results.failures
    return {(entry.problem, entry.solver): entry for entry in results.entries}


@pytest.fixture(scope="module")
def at_density(tmp_path_factory):
    """The mean over the splits of a final value, for m components at a density."""
    entries = figure_2(tmp_path_factory.mktemp("figure-2"))

    def mean(method, m, density, value):
        entry = entries[f"p m={m}, density <= {density}", method]
        assert not entry.refused
        return np.mean([value(record.trace[-1]) for record in entry.records])

    return mean


def explained(mark):
    return mark.metrics["adjusted_explained_variance"]


@pytest.mark.parametrize("m", [5, 10])
def test_figure_2_the_streaming_method_explains_more_at_5_percent(at_density, m):
    assert at_density("givens", m, 0.05, explained) > at_density("greedy", m, 0.05, explained)


def test_figure_2_fails_with_3_components(at_density):
    assert at_density("givens", 3, 0.05, explained) < at_density("greedy", 3, 0.05, explained)


@pytest.mark.parametrize("m", [3, 5, 10])
def test_figure_2_the_greedy_method_is_ahead_at_20_percent(at_density, m):
    assert at_density("givens", m, 0.2, explained) < at_density("greedy", m, 0.2, explained)


@pytest.mark.parametrize("m", [3, 5, 10])
def test_figure_2_the_streaming_method_is_not_cheaper(at_density, m):
    flops = [at_density(method, m, 0.05, lambda mark: mark.work.flops)
             for method in ("givens", "greedy")]  # fmt: skip
    assert flops[0] > 1.2 * flops[1]
