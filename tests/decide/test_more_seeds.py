"""More seeds for what is undecided: who runs further, how far, and how often that is wrong."""

from dataclasses import replace

import pytest
from decision_errors import KINDS, simulate

import orthobench as ob
from orthobench.decide import more_seeds
from orthobench.decide.comparisons import compare
from orthobench.decide.more_seeds import contenders
from orthobench.decide.rule import Comparison, Decision, Verdict
from orthobench.registry.suite_file import from_table

SUITE = {
    "seeds": 5,
    "budget": {"samples": 300},
    "problem": [{"name": "spiked-covariance", "n": 10, "k": 1, "noise": 0.1}],
    "solver": [{"name": "batch-pca"}, {"name": "oja", "step": [0.001, 1.0]}, {"name": "meg"}],
}


def of(seeds, **verdicts):
    decisions = tuple(
        Decision(name, verdict, more_seeds=more) for name, (verdict, more) in verdicts.items()
    )
    return Comparison("p", "p", "f", "m", None, decisions, seeds=seeds)


def test_undecided_solvers_run_on_with_the_as_good_ones():
    one = of(
        5, good=(Verdict.AS_GOOD, None), open=(Verdict.UNDECIDED, 3), few=(Verdict.UNTESTED, 1),
        never=(Verdict.UNDECIDED, None), bad=(Verdict.WORSE, None), broken=(Verdict.FAILED, None),
    )  # fmt: skip
    assert contenders(one) == ("good", "open", "few")
    assert contenders(one, limit=5) == ()
    assert contenders(of(5, good=(Verdict.AS_GOOD, None), bad=(Verdict.WORSE, None))) == ()


@pytest.mark.wide
def test_a_run_ends_with_nothing_to_decide_or_at_the_limit(tmp_path):
    store = tmp_path / "r.sqlite"
    first = ob.run(SUITE, store, executor="inline", quiet=True)
    ran = contenders(compare(first.entries)[0])
    assert ran
    results = ob.run(SUITE, store, executor="inline", quiet=True, decide=12)
    seeds = {e.solver: sorted(r.seed for r in e.finished) for e in results.entries}
    (comparison,) = compare(results.entries)
    assert max(map(len, seeds.values())) == 12 or not contenders(comparison)
    for solver, own in seeds.items():
        assert own == list(range(len(own)))
        assert len(own) in ((10, 12) if solver in ran else (5,))
    again = ob.run(SUITE, store, executor="inline", quiet=True, decide=12)
    assert [r.key for r in again.records] == [r.key for r in results.records]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("noise", [1.0, 5.0])
def test_no_error_is_above_its_level(kind, noise):
    assert simulate(kind, 48, 500, noise=noise, first=12)["any"] <= 0.05


def test_cells_of_more_seeds_differ_by_their_seed_and_come_last(toys, monkeypatch, tmp_path):
    table = {
        "seeds": 3,
        "budget": {"steps": 1},
        "problem": [{"name": "leading-subspace", "n": [5, 6]}],
        "solver": [{"name": "power", "step": [0.5, 1.0]}],
    }
    suite = from_table(table, "s", toys.registry)
    results = ob.run(suite, tmp_path / "r.sqlite", executor="inline", quiet=True)
    cells, first = suite.cells(), results.entries[0]
    chosen = {first.problem: (first.solver,)}
    monkeypatch.setattr(
        more_seeds, "contenders", lambda c, limit: chosen.get(c.problem, ()) if limit == 5 else ()
    )
    more = more_seeds.more_cells(results, cells, limit=5)
    assert [cell.seed for cell in more] == [3, 4]
    assert [cell.position for cell in more] == [len(cells), len(cells) + 1]
    for cell in more:
        assert (cell.problem_label, cell.solver_label) == (first.problem, first.solver)
        assert replace(cell, seed=0).key in {planned.key for planned in cells}
    assert more_seeds.more_cells(results, cells) == []
    assert more_seeds.more_cells(results, cells, limit=3) == []
