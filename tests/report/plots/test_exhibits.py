"""Exhibits: whose are shown, and at which seed."""

from dataclasses import replace

from records import altered

from orthobench.harness.stopping import RunStatus
from orthobench.report.plots.exhibits import exhibitions, typical_seed
from orthobench.results.tuning import choose


def of_level(record, values, **more):
    """Runs of a solver, one for each seed, that end at these values."""
    found = []
    for seed, value in enumerate(values):
        run = record(more.pop("solver", "msg") if seed == 0 else found[0].solver.label, seed, 1.0)
        last = replace(run.trace[-1], metrics={"gap": value, "val": value})
        found.append(replace(run, trace=(last,)))
    return found


class TestSeed:
    def test_of_one_solver_it_is_the_median(self, record):
        assert typical_seed(choose(of_level(record, [5.0, 1.0, 3.0, 2.0, 4.0]))) == 2
        assert typical_seed(choose(of_level(record, [4.0, 4.0, 4.0]))) == 1

    def test_of_several_it_is_the_nearest_to_all_medians(self, record):
        one = of_level(record, [1.0, 2.0, 3.0, 4.0, 5.0])  # its median is that of seed 2
        other = of_level(record, [1.0, 2.0, 5.0, 3.0, 4.0], solver="oja")  # and here of seed 3
        assert typical_seed(choose(one + other)) == 3
        assert typical_seed(choose(one + other + [altered(r, solver="x") for r in one])) == 2

    def test_where_solvers_failed_it_is_one_at_which_most_have_a_run(self, record):
        runs = of_level(record, [5.0, 1.0, 3.0, 2.0, 4.0])
        runs[2] = altered(runs[2], status=RunStatus.DIVERGED)
        other = of_level(record, [5.0, 1.0, 3.0, 2.0, 4.0], solver="oja")
        assert typical_seed(choose(runs + other)) == 3


class TestExhibitions:
    def test_all_solvers_are_shown_at_one_seed_and_loaded_once(self, three, exhibit):
        calls = []

        def spy(records):
            calls.append([(r.solver.label, r.seed) for r in records])
            return {f"digits k=4 {s} {{}} {seed}": exhibit(s, seed) for s, seed in calls[0]}

        (found,) = exhibitions(three, spy)
        where = "where the solvers are nearest to their medians over 5 seeds"
        assert found.about("more") == ("PCA", f"seed {found.seed}, {where}", "more")
        assert calls == [[(s, found.seed) for s in ("hooi", "pgd", "spgd")]]
        assert [entry.solver for entry, _ in found.shown] == ["hooi", "pgd", "spgd"]
        assert not found.absent

    def test_one_seed_is_not_the_nearest_to_anything(self, runs, load):
        (found,) = exhibitions(choose(runs("a", 1.0, seeds=1)), load)
        assert found.about() == ("PCA", "seed 0")
        (found,) = exhibitions(choose(runs("a", 1.0, seeds=2)), load)
        assert found.about()[1].endswith(" over 2 seeds")

    def test_nothing_to_look_at_is_nothing(self, three, exhibit):
        assert exhibitions(three, lambda records: {r.key: {} for r in records}) == []
        assert exhibitions([], lambda records: {}) == []

    def test_who_failed_is_missing_or_has_nothing_is_named(self, three, exhibit, runs, record):
        failed = runs("meg", 1.0, failed=5)
        absent = [altered(record("oja", s, 1.0), trace=(), status=RunStatus.MISSING,
                          reason="not run yet") for s in range(5)]  # fmt: skip
        few = runs("few", 1.0, failed=1)[:1]
        more = choose([*failed, *absent, *few])
        every = choose([r for e in (*three, *more) for r in e.records])

        def without_pgd(records):
            return {
                r.key: {} if r.solver.label == "pgd" else exhibit(r.solver.label, r.seed)
                for r in records
            }

        (found,) = exhibitions(every, without_pgd)
        assert typical_seed(three) == found.seed > 0
        assert [entry.solver for entry, _ in found.shown] == ["hooi", "spgd"]
        assert found.absent == (
            "few is not shown (there is no finished run)",
            "meg is not shown (diverged: the solution at step 7 is not finite)",
            "oja is not shown (missing: not run yet)",
            "pgd is not shown (its run has no exhibits in the store)",
        )

    def test_who_takes_no_part_is_left_out(self, three, load, runs):
        refused = [
            altered(r, status=RunStatus.REFUSED, trace=(), reason="needs a tensor")
            for r in runs("cp", 1.0)
        ]
        every = [r for e in three for r in e.records] + refused
        (found,) = exhibitions(choose(every), load)
        assert not found.absent
        assert len(found.entries) == 3
