"""Findings: who stands where, and sentences that claim only what is shown."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from records import altered

from orthobench.contract.solver import Work
from orthobench.harness.stopping import Ending
from orthobench.harness.suite import Level
from orthobench.harness.trace import Mark
from orthobench.report.families import conclusions
from orthobench.report.ranking import rank
from orthobench.report.sentences import sentence
from orthobench.report.standings import comparisons
from orthobench.results.tuning import choose
from orthobench.stats.paired import LEVEL, compare_pairs

INF = math.inf


@pytest.fixture
def ending(record):
    """Return a maker of runs that end at given values; infinite ones failed."""

    def make(solver, values, problem="p", **more):
        bad = {"status": Ending.DIVERGED, "reason": "not finite"}
        return [
            altered(
                record(solver, seed, 1.0, problem=problem, **({} if math.isfinite(v) else bad)),
                trace=(
                    Mark(0.0, 0.0, Work(), {"gap": 1.0}),
                    Mark(1.0, 0.0, Work(9, 9, 9), {"gap": v}),
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
    (comparison,) = compare_pairs({"a": a, "b": b})
    return sentence(comparison, "test_gap")


class TestSentence:
    def test_says_who_ends_lower_by_how_much_and_how_sure(self):
        a = np.arange(1, 11) / 8
        b = a + np.array([2, 3, 4, 5, 6, 7, 8, 9, 10, -1]) / 512
        text = "ends with lower test gap than {} on 9 of 10 seeds, by 0.0107 in the median"
        sure = "(95 % interval 4.88e-3 to 0.0166; p = 0.0039)"
        assert one(a.tolist(), b.tolist()) == f"a {text.format('b')} {sure}"
        assert one(b.tolist(), a.tolist()) == f"b {text.format('a')} {sure}"

    def test_says_that_it_is_corrected_and_who_failed(self):
        first, *_ = compare_pairs({"a": [0.1] * 9, "b": [INF] * 9, "c": [0.1] * 9})
        assert sentence(first, "gap") == (
            "a ends with lower gap than b on all 9 seeds; on half of the seeds or more only b "
            "failed (p = 0.012 after Holm)"
        )

    def test_says_where_there_is_none(self):
        a, b = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.5, 1.5, 3.5, 3.5, 5.5, 6.25]
        assert one(a, b).startswith(
            "no difference shown between a and b: a ends with lower test gap than b on 4 of 6 "
            "seeds, by 0.375 in the median (95 % interval -0.5"
        )
        assert one(a, a) == (
            "no difference shown between a and b: they end equal, or both fail, on all 6 seeds"
        )

    def test_says_how_many_seeds_could_show_one(self):
        assert one([1.0] * 5, [2.0] * 5) == (
            "no difference shown between a and b: 5 seeds cannot show one over 1 comparison, "
            "6 could"
        )
        eight = {str(i): [float(i)] * 5 for i in range(8)}
        text = sentence(compare_pairs(eight)[0], "gap")
        assert text.endswith(": 5 seeds cannot show one over 28 comparisons, 11 could")

    def test_shows_none_where_ranks_and_median_disagree(self):
        b = [-float(i) for i in range(1, 29)] + [float(i) for i in range(29, 51)]
        assert one([0.0] * 50, b).startswith(
            "no difference shown between b and a: one of them ends lower more often, the other by"
        )

    def test_shows_names_on_one_line(self):
        (c,) = compare_pairs({"[b]a\n\x1b": [1.0] * 9, "<i>": [2.0] * 9})
        assert sentence(c, "gap").startswith("[b]a ends with lower gap than <i> on all 9 seeds")

    @given(st.lists(st.tuples(*[st.integers(0, 3) | st.just(INF)] * 3), min_size=1, max_size=12))
    @settings(max_examples=60)
    def test_claims_only_what_is_shown(self, rows):
        values = dict(zip("abc", np.array(rows, dtype=np.float64).T.tolist(), strict=True))
        for c in compare_pairs(values):
            text = sentence(c, "gap")
            assert text.startswith("no difference shown") != c.shown
            if c.shown:
                assert c.adjusted < LEVEL
                assert text.startswith(f"{c.lead} ends with lower gap")
                lower = c.lower if c.lead == c.a else c.higher
                assert lower > 0


class TestComparisons:
    def test_leave_out_who_takes_no_part_and_start_with_the_best(self, ending):
        refused = {"status": Ending.REFUSED, "reason": "solves m = N only"}
        records = ending("b", [2.0] * 9) + ending("a", [1.0] * 9)
        records += ending("none", [0.0] * 9, **refused)
        (c,) = comparisons(choose(records))
        assert (c.a, c.b, c.lead) == ("a", "b", "a")
        assert comparisons(choose(ending("none", [0.0], **refused))) == []

    def test_take_rounding_for_no_difference(self, ending):
        (c,) = comparisons(choose(ending("a", [1e-15] * 9) + ending("b", [2e-15] * 9)))
        assert (c.equal, c.shown) == (9, False)


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
        assert b.factors == pytest.approx({"p": 2, "q": 2 / 8.16, "r": 4})
        assert c.factors == {"p": INF}
        assert list(family.comparisons) == list(family.verdicts) == ["p", "q", "r"]
        assert len(family.comparisons["p"]) == 3

    def test_share_ranks_where_only_rounding_tells_apart(self, ending):
        family = found(ending("a", [1e-15] * 5) + ending("b", [0.0] * 5) + ending("c", [1.0] * 5))
        a, b, c = sorted(family.standings, key=lambda s: s.solver)
        assert (a.rank, b.rank, c.rank) == (1.5, 1.5, 3)
        assert (a.factors["p"], b.factors["p"]) == (1, 1)
        assert math.isnan(c.factors["p"])

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
            "capped-msg has the smallest median gap, 0.522 (95 % interval 0.508 to 0.538); that "
            "of the second, oja, is 2 times as high (95 % interval 2 to 2). It is shown to end "
            "lower than the other (paired Wilcoxon tests, p < 0.05 after Holm)."
        )
        assert failed == "No run failed."

    def test_counts_failed_runs_of_trials_that_were_not_chosen_too(self, ending):
        good = ending("a", [1.0] * 3, tuned={"K": 1}, tuned_by="gap")
        bad = ending("a", [1.0] * 3, tuned={"K": 2}, tuned_by="gap", status=Ending.DIVERGED)
        *_, failed = found(good + bad).sentences
        assert failed == (
            "No run with the chosen parameters failed. Failed with parameters that were not "
            "chosen: 3 runs."
        )
        other = ending("b", [1.0] * 3, status=Ending.ERROR)
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
                "It is shown to end lower than b (paired Wilcoxon tests, p < 0.05 after Holm); no "
                "difference is shown from c."
            )
        )

    def test_says_that_seeds_are_too_few(self, ending):
        records = [r for i in range(8) for r in ending(f"s{i}", near(1.0 + i, 5))]
        text = found(records).verdicts["p"]
        assert text.endswith(
            "No difference is shown: 5 seeds cannot show one over 28 comparisons, 11 could."
        )

    @pytest.mark.parametrize(
        ("second", "words"),
        [
            ([0.0] * 7, "that of the second, b, is equal up to rounding."),
            ([1e-16] * 7, "that of the second, b, is equal up to rounding."),
            ([0.5] * 7, "that of the second, b, is 0.500 higher (95 % interval 0.500 to 0.500)."),
            ([INF] * 4 + [0.5] * 3, "the second, b, failed on half of its runs or more."),
        ],
    )
    def test_says_how_far_the_second_is_from_zero(self, ending, second, words):
        assert words in found(ending("a", [0.0] * 7) + ending("b", second)).verdicts["p"]

    def test_tells_no_factor_of_a_thousandth(self, ending):
        records = ending("a", near(1.0, 9)) + ending("b", near(1.0001, 9))
        assert "that of the second, b, is less than 0.1 % higher." in found(records).verdicts["p"]

    @pytest.mark.parametrize(
        ("least", "words"),
        [
            (1e-8, "that of the second, b, is more than a million times as high. It"),
            (1e-5, "that of the second, b, is 50000 times as high (95 % interval 50000 to 50000)"),
            (1e-15, "gap, 1.00e-15 (95 % interval 1.00e-15 to 1.00e-15), which is at rounding "),
        ],
    )
    def test_tells_no_factor_that_rounding_makes(self, ending, least, words):
        family = found(ending("a", [least] * 7) + ending("b", [0.5] * 7))
        assert words in family.verdicts["p"]

    def test_tells_no_factor_that_rounding_makes_over_problems(self, ending):
        records = [r for p in "pq" for r in ending("b", [0.5] * 7, p)]
        records += ending("a", [0.25] * 7, "p") + ending("a", [1e-10] * 7, "q")
        assert (
            "Where a is first, the median of the second is 2 to more than a million times as high."
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
            "a has the smallest median gap, 0.250; that of the second, b, is 0.250 higher. No "
            "difference is shown: 1 seed cannot show one over 1 comparison, 6 could."
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
        family = found(ending("a", [1.0], status=Ending.REFUSED))
        assert family.sentences == ("No solver takes part.",)
        assert family.standings == ()


class TestOverProblems:
    def test_says_who_wins_where_how_sure_and_by_how_much(self, ending):
        records = []
        for i in range(3):
            records += ending("a", near(1.0, 8), f"p{i}") + ending("b", near(2.0 + i, 8), f"p{i}")
        records += ending("a", near(1.0, 8), "q")
        records += ending("b", [v - 0.01 * (-1) ** i for i, v in enumerate(near(0.995, 8))], "q")
        first, sure, much, ranks, failed = found(records).sentences
        assert first == "Smallest median without a failed run: a on 3 of 4 problems and b on 1."
        assert sure == (
            "Shown to end lower than every other solver (paired Wilcoxon tests, p < 0.05 after "
            "Holm on each problem): a on 3 of its 3."
        )
        assert much == "Where a is first, the median of the second is 2 to 4 times as high."
        assert ranks == (
            "Mean ranks are not tested: tests of ranks need at least 3 solvers on 5 problems, here "
            "are 2 solvers on all 4 problems."
        )
        assert failed == "No run failed."

    def test_says_that_nothing_is_shown(self, ending):
        of_a = [r for p in "pq" for r in ending("a", near(1.0, 5), p)]
        of_b = [r for p in "pq" for r in ending("b", near(2.0, 5), p)]
        told = found(of_a + of_b).sentences[1]
        assert told.endswith("): nobody, since the seeds are too few to show any difference.")
        of_a, of_b = ([r for p in "pq" for r in ending(s, [1.0], p)] for s in "ab")
        assert "nobody, since one seed shows no difference." in found(of_a + of_b).sentences[1]

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
            "Mean ranks are not tested: problems at several levels share their runs."
        ) in family.sentences


def test_the_mark_of_the_close_never_contradicts_a_sentence(ending):
    # the mark speaks of the median's interval, the sentence of a test: both may hold
    rng = np.random.default_rng(3)
    for _ in range(40):
        a = rng.lognormal(size=10)
        b = a + rng.normal(0.4, 1, 10)
        family = found(ending("a", a.tolist()) + ending("b", b.tolist()))
        (c,) = family.comparisons["p"]
        close = sum(s.close for s in family.standings)
        assert close == (c.interval[0] <= 0 <= c.interval[1])
