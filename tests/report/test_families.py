"""Findings: who stands where, and sentences that claim only what is shown."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from records import altered

from orthobench.contract.solver import Work
from orthobench.harness.cell import Level
from orthobench.harness.stopping import RunStatus
from orthobench.harness.trace import Checkpoint
from orthobench.report.families import conclusions
from orthobench.report.ranking import rank
from orthobench.report.sentences import sentence
from orthobench.results.tuning import choose
from orthobench.stats.paired import LEVEL, Decision, compare_to_best

INF = math.inf


@pytest.fixture
def ending(record):
    """Return a maker of runs that end at given values; infinite ones failed."""

    def make(solver, values, problem="p", **more):
        bad = {"status": RunStatus.DIVERGED, "reason": "not finite"}
        return [
            altered(
                record(solver, seed, 1.0, problem=problem, **({} if math.isfinite(v) else bad)),
                recipe=problem,
                trace=(
                    Checkpoint(0.0, 0.0, Work(), {"gap": 1.0}),
                    Checkpoint(1.0, 0.0, Work(9, 9, 9), {"gap": v}),
                ),
                **more,
            )
            for seed, v in enumerate(values)
        ]

    return make


def found(records):
    (family,) = conclusions(rank(choose(records)))
    return family


def one(a, b):
    (comparison,) = compare_to_best({"a": a, "b": b}, "a")
    return sentence(comparison, "test_gap")


class TestSentence:
    def test_says_who_is_not_the_best_by_how_much_and_how_sure(self):
        a = np.arange(1, 11) / 8
        b = a * np.array([1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0, 0.9])
        assert one(a.tolist(), b.tolist()) == (
            "b is shown not to be the best: a ends with lower test gap on 9 of 10 seeds, b 1.55 "
            "times as high in the median (95 % interval 1.25 to 1.79; p = 0.0039)"
        )
        shifted = [a - 1, a - 1 + np.array([2, 3, 4, 5, 6, 7, 8, 9, 10, -1]) / 512]
        assert one(*(x.tolist() for x in shifted)) == (
            "b is shown not to be the best: a ends with lower test gap on 9 of 10 seeds, b 0.0107 "
            "higher in the median (95 % interval 5.86e-3 to 0.0156; p = 0.0039)"
        )

    def test_says_that_it_is_corrected_and_who_failed(self):
        rows = {"a": [0.1] * 9, "b": [INF] * 9, "c": [0.1, 0.2] * 4 + [0.05]}
        first, _ = compare_to_best(rows, "a")
        assert sentence(first, "gap") == (
            "b is shown not to be the best: a ends with lower gap on all 9 seeds; on half of the "
            "seeds or more only b failed (p = 0.0078 after Holm)"
        )

    def test_says_where_there_is_none(self):
        a, b = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.5, 1.5, 3.5, 3.5, 5.5, 6.25]
        assert one(a, b).startswith(
            "no difference shown between a and b: a ends with lower test gap on 4 of 6 seeds, b "
            "1.07 times as high in the median (95 % interval 1 to 1.5"
        )
        assert one(a, a) == "a and b end equal, or both fail, on all 6 seeds"

    def test_says_how_many_seeds_could_show_one(self):
        assert one([1.0] * 5, [2.0] * 5) == (
            "undecidable between a and b: 5 seeds cannot show a difference over 1 "
            "comparison, 6 could"
        )
        assert one([1.0] * 8, [1.0] * 4 + [2.0] * 4).endswith(
            "8 seeds, 4 of them ties, cannot show a difference over 1 comparison, 12 could"
        )
        eight = {str(i): [1.0 + i] * 5 for i in range(8)}
        text = sentence(compare_to_best(eight, "0")[0], "gap")
        assert text.endswith("5 seeds cannot show a difference over 7 comparisons, 9 could")

    def test_shows_none_where_ranks_and_median_disagree(self):
        b = [-float(i) for i in range(1, 29)] + [float(i) for i in range(29, 51)]
        assert one([0.0] * 50, b).startswith(
            "no difference shown between a and b: one of them ends lower more often, the other by"
        )

    def test_shows_names_on_one_line(self):
        (c,) = compare_to_best({"[b]a\n\x1b": [1.0] * 9, "<i>": [2.0] * 9}, "[b]a\n\x1b")
        assert sentence(c, "gap").startswith("<i> is shown not to be the best: [b]a ends with low")

    @given(st.lists(st.tuples(*[st.integers(1, 3) | st.just(INF)] * 3), min_size=1, max_size=12))
    @settings(max_examples=60)
    def test_claims_only_what_is_shown(self, rows):
        values = dict(zip("abc", np.array(rows, dtype=np.float64).T.tolist(), strict=True))
        for c in compare_to_best(values, "a"):
            text = sentence(c, "gap")
            assert ("is shown not to be the best" in text) == (c.decision is Decision.BEHIND)
            assert text.startswith("undecidable") == (c.decision is Decision.UNDECIDABLE)


def near(value, seeds):
    """Values around one, the same for all solvers."""
    return [value * (1 + i / 100) for i in range(seeds)]


class TestStandings:
    def test_count_wins_ranks_factors_and_failures(self, ending):
        records = ending("a", near(1.0, 5)) + ending("b", near(2.0, 5)) + ending("c", [INF] * 5)
        records += ending("a", near(8.0, 5), "q") + ending("b", [2.0, 2.0, 2.0, 2.0, INF], "q")
        records += ending("a", near(1.0, 5), "r") + ending("b", near(4.0, 5), "r")
        family = found(records)
        assert (family.name, family.problems) == ("PCA", ("p", "q", "r"))
        a, b, c = family.standings
        assert [s.solver for s in (a, b, c)] == ["a", "b", "c"]
        assert [(s.wins, s.problems) for s in (a, b, c)] == [(3, 3), (0, 3), (0, 1)]
        assert [s.rank for s in (a, b, c)] == [4 / 3, 5 / 3, 3]
        assert [(s.failed, s.planned) for s in (a, b, c)] == [(0, 15), (1, 15), (5, 5)]
        assert b.factors == pytest.approx({"p": 2, "q": 2 / 8.08, "r": 4})
        assert c.factors == {"p": INF}
        assert list(family.comparisons) == list(family.verdicts) == ["p", "q", "r"]
        assert len(family.comparisons["p"]) == 2

    def test_share_ranks_where_only_rounding_tells_apart(self, ending):
        family = found(ending("a", [1e-15] * 5) + ending("b", [0.0] * 5) + ending("c", [1.0] * 5))
        a, b, c = sorted(family.standings, key=lambda s: s.solver)
        assert (a.rank, b.rank, c.rank) == (1.5, 1.5, 3)
        assert (a.factors["p"], b.factors["p"]) == (1, 1)
        assert c.factors["p"] == pytest.approx(1e12)

    def test_keep_families_apart(self, ending):
        records = ending("a", [1.0]) + ending("a", [1.0], "q", family="tensor")
        assert [f.name for f in conclusions(rank(choose(records)))] == ["PCA", "tensor"]

    def test_of_nothing_are_none(self):
        assert conclusions([]) == []


class TestVerdict:
    def test_says_who_is_best_by_how_much_and_how_sure(self, ending):
        family = found(ending("capped-msg", near(0.5, 10)) + ending("oja", near(1.0, 10)))
        told, failed = family.sentences
        assert told == (
            "capped-msg has the smallest median gap, 0.522 (95 % interval 0.508 to 0.538). The "
            "second, oja, ends 2 times as high in the median over the seeds (95 % interval 2 to "
            "2). It is shown to end lower than the other (the largest p of paired Wilcoxon tests "
            "is below 0.05)."
        )
        assert failed == "No run failed."

    def test_counts_failed_runs_of_trials_that_were_not_chosen_too(self, ending):
        good = ending("a", [1.0] * 3, tuned={"K": 1}, tuned_by="gap")
        bad = ending("a", [1.0] * 3, tuned={"K": 2}, tuned_by="gap", status=RunStatus.DIVERGED)
        *_, failed = found(good + bad).sentences
        assert failed == (
            "No run with the chosen parameters failed. Failed with parameters that were not "
            "chosen: 3 runs."
        )
        other = ending("b", [1.0] * 3, status=RunStatus.ERROR)
        *_, failed = found(good + bad + other).sentences
        assert failed == (
            "Failed: b 3 of 3 runs. Failed with parameters that were not chosen: 3 runs."
        )

    def test_names_from_whom_no_difference_is_shown(self, ending):
        mixed = [0.49, 0.52, 0.50, 0.54, 0.51, 0.56, 0.52, 0.58, 0.53, 0.60]
        records = ending("a", near(0.5, 10)) + ending("b", near(1.0, 10)) + ending("c", mixed)
        assert (
            found(records)
            .verdicts["p"]
            .endswith(
                "Shown not to be the best: b (paired Wilcoxon tests, p < 0.05 after Holm). No "
                "difference is shown from c: at most 1.07 times as high."
            )
        )

    def test_says_that_seeds_are_too_few(self, ending):
        records = [r for i in range(8) for r in ending(f"s{i}", near(1.0 + i, 5))]
        text = found(records).verdicts["p"]
        assert text.endswith(
            "Undecidable: s1, s2, s3, s4, s5 and 2 others, since 5 seeds cannot show a difference "
            "over 7 comparisons, 9 could."
        )

    @pytest.mark.parametrize(
        ("second", "words"),
        [
            ([0.0] * 7, "Trivial: all 2 solvers end equal, up to rounding, on all 7 seeds."),
            ([1e-16] * 7, "Trivial: all 2 solvers end equal, up to rounding, on all 7 seeds."),
            ([0.5] * 7, "The second, b, ends more than a million times as high in the median over"),
            ([INF] * 4 + [0.5] * 3, "The second, b, failed on half of its runs or more."),
        ],
    )
    def test_says_how_far_the_second_is_from_zero(self, ending, second, words):
        assert words in found(ending("a", [0.0] * 7) + ending("b", second)).verdicts["p"]

    def test_of_a_trivial_problem_nobody_is_best(self, ending):
        family = found(ending("a", [1e-30] * 9) + ending("b", [2e-30] * 9))
        assert [s.wins for s in family.standings] == [0, 0]
        assert [r.mark for r in rank(choose(ending("a", [0.0] * 9) + ending("b", [0.0] * 9)))] == [
            "", "equal",
        ]  # fmt: skip

    def test_tells_no_factor_of_a_thousandth(self, ending):
        records = ending("a", near(1.0, 9)) + ending("b", near(1.0001, 9))
        assert (
            "The second, b, ends within 0.5 % of it in the median" in found(records).verdicts["p"]
        )

    @pytest.mark.parametrize(
        ("least", "words"),
        [
            (1e-8, "b, ends more than a million times as high in the median over the seeds. It"),
            (
                1e-5,
                "b, ends 50000 times as high in the median over the seeds (95 % interval 50000 ",
            ),
            (1e-15, "gap, <1e-12 (95 % interval <1e-12 to <1e-12), which is at rounding level"),
        ],
    )
    def test_tells_no_factor_that_rounding_makes(self, ending, least, words):
        family = found(ending("a", [least] * 7) + ending("b", [0.5] * 7))
        assert words in family.verdicts["p"]

    def test_tells_no_factor_that_rounding_makes_over_problems(self, ending):
        records = [r for p in "pq" for r in ending("b", [0.5] * 7, p)]
        records += ending("a", [0.25] * 7, "p") + ending("a", [1e-10] * 7, "q")
        assert (
            "Where a is first, the nearest other solver ends 2 to more than a million times as "
            "high in the median over the seeds."
        ) in found(records).sentences

    def test_says_who_is_ahead_with_failed_runs(self, ending):
        records = ending("lucky", [0.1] * 6 + [INF]) + ending("safe", [0.3] * 7)
        family = found(records)
        assert family.verdicts["p"].startswith(
            "safe has the smallest median gap, 0.300 (95 % interval 0.300 to 0.300), of those of "
            "which no run failed. lucky has a smaller one, but 1 of its 7 runs failed."
        )
        assert family.sentences[-1] == "Failed: lucky 1 of 7 runs."
        assert "shown to end lower" not in family.verdicts["p"]

    def test_of_one_seed_has_no_interval(self, ending):
        text = found(ending("a", [0.25]) + ending("b", [0.5])).verdicts["p"]
        assert text == (
            "a has the smallest median gap, 0.250. The second, b, ends 2 times as high. "
            "Undecidable: b, since 1 seed cannot show a difference over 1 comparison, 6 could."
        )

    def test_of_one_solver(self, ending):
        family = found(ending("a", [0.25] * 3))
        assert family.sentences == (
            "a alone takes part; its median gap is 0.250 (95 % interval 0.250 to 0.250).",
            "No run failed.",
        )
        assert family.comparisons["p"] == ()
        assert found(ending("a", [INF])).sentences == (
            "Nobody is best: every solver failed on half of its runs or more.",
            "Failed: a 1 of 1 run.",
        )

    def test_of_failures_only(self, ending):
        dead = found(ending("a", [INF] * 5) + ending("b", [INF] * 5))
        assert dead.sentences == (
            "Nobody is best: every solver failed on half of its runs or more.",
            "Failed: a 5 of 5 runs and b 5 of 5 runs.",
        )
        assert dead.standings[0].factors == {"p": INF}
        hurt = found(ending("a", [0.5] * 4 + [INF]) + ending("b", [0.75] * 4 + [INF]))
        assert hurt.sentences[0] == (
            "Nobody is best, since every solver has failed runs; the smallest median gap, 0.500 "
            "(95 % interval 0.500 to inf), is that of a: 1 of its 5 runs failed."
        )

    def test_where_nobody_takes_part(self, ending):
        family = found(ending("a", [1.0], status=RunStatus.REFUSED))
        assert family.sentences == ("No solver takes part.",)
        assert family.standings == ()


class TestOverProblems:
    def test_says_who_wins_where_how_sure_and_by_how_much(self, ending):
        records = []
        for i in range(3):
            records += ending("a", near(1.0, 8), f"p{i}") + ending("b", near(2.0 + i, 8), f"p{i}")
        records += ending("a", near(1.0, 8), "q")
        records += ending("b", [v - 0.01 * (-1) ** i for i, v in enumerate(near(0.995, 8))], "q")
        first, sure, behind, much, ranks, failed = found(records).sentences
        assert first == "Smallest median without a failed run: a on 3 of 4 problems and b on 1."
        assert sure == (
            "Shown to end lower than every other solver (the largest p of paired Wilcoxon tests is "
            "below 0.05): a on 3 of its 3."
        )
        assert behind.endswith("p < 0.05 after Holm on each problem): 3 of the 4 others.")
        assert much == (
            "Where a is first, the nearest other solver ends 2 to 4 times as high in the median "
            "over the seeds."
        )
        assert ranks == (
            "Mean ranks are not tested: tests of ranks need at least 3 solvers on 5 problems, here "
            "are 2 solvers on all 4 problems."
        )
        assert failed == "No run failed."

    def test_says_what_is_shown_everywhere_once_and_of_equal_winners_together(self, ending):
        records = []
        for shift, p in enumerate("pqr"):
            for place, s in enumerate("abc"):
                records += ending(s, near(2.0 ** ((place + shift) % 3), 8), p)
            records += ending("d", [*near(0.5, 7), INF], p)
        first, sure, _, much, *_ = found(records).sentences
        assert first.endswith(": a, b and c on 1 of 3 problems each.")
        assert sure.endswith("is below 0.05): nobody, on any problem.")  # d is lower on 7 of 8
        assert much.startswith("The nearest other solver ends 2 times as high")
        sure = found([r for r in records if r.solver.label != "d"]).sentences[1]
        assert sure.endswith("is below 0.05): on each of these problems.")

    def test_says_that_nothing_is_shown(self, ending):
        of_a = [r for p in "pq" for r in ending("a", near(1.0, 5), p)]
        of_b = [r for p in "pq" for r in ending("b", near(2.0, 5), p)]
        told = found(of_a + of_b).sentences[1]
        assert told.endswith("): nobody, since the seeds are too few to show any difference.")
        of_a, of_b = ([r for p in "pq" for r in ending(s, [v], p)] for s, v in (("a", 1), ("b", 2)))
        told = found(of_a + of_b).sentences[1]
        assert "nobody, since one seed shows no difference." in told

    def test_says_on_how_many_problems_the_seeds_are_too_few(self, ending):
        few = ending("a", near(1.0, 5), "p") + ending("b", near(2.0, 5), "p")
        mixed = [1.0 + 0.1 * (-1) ** i for i in range(8)]
        many = ending("a", [1.0] * 8, "q") + ending("b", mixed, "q")
        told = found(few + many).sentences[1]
        assert told.endswith(
            "nobody, on any problem; on 1 the seeds are too few to show any difference."
        )

    def test_says_that_every_solver_failed(self, ending):
        records = [r for p in "pq" for r in ending("a", [1.0, INF], p)]
        assert found(records).sentences == (
            "On each of the 2 problems every solver has failed runs.",
            "Failed: a 2 of 4 runs.",
        )


class TestMeanRanks:
    def fields(self, ending, count, solvers="abcd", **more):
        return [
            r for i in range(count) for rank, s in enumerate(solvers)
            for r in ending(s, [1.0 + rank], f"p{i}", **more)
        ]  # fmt: skip

    def test_are_tested_over_all_problems(self, ending):
        family = found(self.fields(ending, 6))
        assert family.ranks.mean == {"a": 1, "b": 2, "c": 3, "d": 4}
        assert family.ranks.problems == 6
        assert (
            "By mean ranks over 6 problems, a (1.00) is shown to come before c (3.00) and d (4.00) "
            "(Nemenyi's critical difference 1.91; Friedman's test, p < 0.001); no difference is "
            "shown from b (2.00)."
        ) in family.sentences

    def test_that_are_alike_show_nothing(self, ending):
        records = [
            r for i in range(6) for place, s in enumerate("abc")
            for r in ending(s, [1.0 + (place + i) % 3], f"p{i}")
        ]  # fmt: skip
        assert "No difference of mean ranks is shown over 6 problems (Friedman's test, p = 1)." in (
            found(records).sentences
        )

    def test_leave_out_and_name_who_takes_part_in_some(self, ending):
        records = self.fields(ending, 5) + ending("new", [0.5], "p0") + ending("new", [0.5], "p1")
        family = found(records)
        assert "new" not in family.ranks.mean
        # with the newcomer, all others come one later on two problems
        assert {s.solver: s.rank for s in family.standings}["a"] == 1.4
        assert family.ranks.mean["a"] == 1
        assert (
            "Left out of mean ranks, for not taking part in all 5 problems: new (2)."
        ) in family.sentences

    def test_are_not_tested_over_few_problems(self, ending):
        family = found(self.fields(ending, 4))
        assert family.ranks is None
        assert (
            "Mean ranks are not tested: tests of ranks need at least 3 solvers on 5 problems, here "
            "are 4 solvers on all 4 problems."
        ) in family.sentences

    def test_are_not_tested_over_levels_of_the_same_runs(self, ending):
        levels = tuple(Level("gap", 10.0 + i) for i in range(6))
        family = found(self.fields(ending, 1, levels=levels))
        assert len(family.problems) == 6
        assert family.ranks is None
        assert (
            "Mean ranks are not tested: tests of ranks need at least 3 solvers on 5 problems, here "
            "are 4 solvers on all 6 problems, variants of 1."
        ) in family.sentences

    def test_average_the_variants_of_one_problem_first(self, ending):
        records = self.fields(ending, 6)
        for k in range(9):
            variant = [r for rank, s in enumerate("dcba") for r in ending(s, [1.0 + rank], f"v{k}")]
            records += [altered(r, recipe="p0") for r in variant]
        family = found(records)
        assert len(family.problems) == 15
        assert family.ranks.problems == 6
        # in its block, a is first on one problem and last on nine
        assert family.ranks.mean["a"] == pytest.approx((5 * 1 + 37 / 10) / 6)
        assert [s.rank for s in family.standings] == sorted(family.ranks.mean.values())


def test_marks_sentences_and_intervals_are_one_decision(ending):
    rng = np.random.default_rng(3)
    for _ in range(40):
        values = rng.lognormal(rng.choice([0.0, 0.8], (4, 1)), 0.5, (4, 12)).tolist()
        records = [r for s, own in zip("abcd", values, strict=True) for r in ending(s, own)]
        ranked = rank(choose(records))
        family = found(records)
        text = family.verdicts["p"]
        for r in ranked:
            c = r.comparison
            if c is None:
                assert r.mark == "best"
                continue
            said = sentence(c, "gap")
            assert (r.mark == "close") == said.startswith("no difference shown")
            assert (r.mark == "") == ("is shown not to be the best" in said)
            assert (c.interval[0] > 1) <= (r.mark == "")
        shown = "shown to end lower than each of the 3 others" in text
        assert shown == all(r.mark in ("best", "") for r in ranked)
        assert shown == (max(r.comparison.p for r in ranked if r.comparison) < LEVEL)


class TestPartialResults:
    def test_say_what_was_not_run_yet_and_fail_nobody(self, ending):
        waiting = {"status": RunStatus.MISSING, "reason": "not run yet", "trace": ()}
        records = ending("a", near(1.0, 8)) + ending("b", near(2.0, 8))
        records[10:] = [altered(r, **waiting) for r in records[10:]]
        records += [altered(r, **waiting) for s in "ab" for r in ending(s, [1.0] * 8, "q")]
        family = found(records)
        assert [s.failed for s in family.standings] == [0, 0]
        assert family.sentences[-2:] == (
            "No run failed.",
            "Not run yet, and not counted: a 8 of 16 runs and b 14 of 16 runs.",
        )
        assert family.verdicts["q"] == "No run is finished yet."
        (c,) = family.comparisons["p"]
        assert (c.n, c.effect, c.decision) == (2, 2, Decision.UNDECIDABLE)

    def test_of_nothing_run_yet(self, ending):
        waiting = {"status": RunStatus.MISSING, "reason": "not run yet", "trace": ()}
        family = found([altered(r, **waiting) for r in ending("a", [1.0] * 3)])
        assert family.sentences == (
            "No run is finished yet.", "Not run yet, and not counted: a 3 of 3 runs.",
        )  # fmt: skip
