"""Exhibits: their solvers and their seed."""

from records import altered

from orthobench.harness.stopping import RunStatus
from orthobench.report.plots.exhibits import exhibitions
from orthobench.results.tuning import choose


def test_all_solvers_are_shown_at_one_seed_and_loaded_once(three, exhibit):
    calls = []

    def spy(records):
        calls.append([(r.solver.label, r.seed) for r in records])
        return {f"digits k=4 {s} {{}} {seed}": exhibit(s, seed) for s, seed in calls[0]}

    (found,) = exhibitions(three, spy)
    assert found.about == ("PCA", "seed 0")
    assert sorted(calls[0]) == [(s, 0) for s in ("hooi", "pgd", "spgd")]
    assert [entry.solver for entry, _ in found.shown] == ["hooi", "pgd", "spgd"]


def test_problems_without_exhibits_have_no_exhibition(three):
    assert exhibitions(three, lambda records: {r.key: {} for r in records}) == []
    assert exhibitions([], lambda records: {}) == []


def test_solvers_without_exhibits_are_named(three, exhibit, runs, record):
    failed = runs("meg", 1.0, failed=1)
    waiting = [altered(record("oja", s, 1.0), trace=(), status=RunStatus.MISSING)
               for s in range(2)]  # fmt: skip
    refused = [altered(r, status=RunStatus.REFUSED, trace=()) for r in runs("cp", 1.0)]
    every = [r for e in three for r in e.records if r.seed or r.solver.label != "spgd"]
    every = choose([*every, *failed, *waiting, *refused])

    def load(records):
        return {
            r.key: {} if r.solver.label == "pgd" else exhibit(r.solver.label, r.seed)
            for r in records
        }

    (found,) = exhibitions(every, load)
    assert found.about == ("PCA", "seed 1", "without exhibits: pgd and oja")
