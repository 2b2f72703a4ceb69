"""What the checks and pictures of Shalit and Chechik (2014) make of numbers written down."""

from itertools import pairwise
from math import inf, sqrt
from types import SimpleNamespace

import numpy as np
import pytest
from orthobench_papers.givens_2014 import (
    GIVENS_2014,
    figure_1,
    figure_2,
    mixtures,
    section_2,
    section_3,
    section_4,
    section_5,
)
from orthobench_papers.runs import instance
from written import Written, run_of

from orthobench.contract import random_point
from orthobench.contract.problem import Solution
from orthobench.registry.claims import Verdict
from orthobench.tools.geometry import rotate

HOLDS, FAILS = Verdict.HOLDS, Verdict.FAILS
CLAIMS = {claim.name: claim for claim in GIVENS_2014.claims}
EXPLAINED, NONZEROS = figure_1.EXPLAINED, figure_1.NONZEROS
GREEDY, SPARSER, BLOCK = figure_1.GREEDY, figure_1.SPARSER, figure_1.BLOCK


class TestFigure1:
    @pytest.mark.parametrize(("ratio", "verdict"), [(1 - 2e-9, HOLDS), (1, FAILS)])
    def test_sparser_is_fewer_non_zeros(self, ratio, verdict):
        def finals(suite, problem, solver, value):
            return {"givens": 100 * ratio, GREEDY: 100}[solver]

        found = figure_1.sparser(Written(finals))
        assert (found.value, found.verdict) == (pytest.approx(ratio, abs=1e-12), verdict)

    @pytest.mark.parametrize("behind", [None, GREEDY, SPARSER])
    def test_explaining_more_is_more_than_at_either_penalty(self, behind):
        def finals(suite, problem, solver, value):
            return 0.6 if solver == behind else {"givens": 0.6}.get(solver, 0.6 - 2e-9)

        found = figure_1.explains_more(Written(finals))
        assert found.verdict is (FAILS if behind else HOLDS)

    @pytest.mark.parametrize(("spent", "verdict"), [(101, HOLDS), (100, FAILS)])
    def test_flops_to_the_end_of_the_greedy_method_are_over_its_own(self, spent, verdict):
        run = run_of((0, 100, 300), "flops", **{EXPLAINED: (0.0, 0.6, 0.7), NONZEROS: (9,) * 3})
        greedy = {EXPLAINED: 0.6, NONZEROS: 9, "flops": spent}

        def finals(suite, problem, solver, value):
            return greedy[value] if solver == GREEDY else {"flops": 3 * spent}[value]

        found = figure_1.faster(Written(finals, lambda *_: [run] * 2))
        assert (found.value, found.verdict) == (pytest.approx(100 / spent), verdict)
        assert "converges: 3 times" in found.text

    def test_what_has_more_non_zeros_does_not_count_as_reached(self):
        run = run_of((0, 100, 200), "flops", **{EXPLAINED: (0.0, 0.6, 0.7), NONZEROS: (9, 9, 8)})
        greedy = {EXPLAINED: 0.6, NONZEROS: 8, "flops": 100}
        found = figure_1.faster(
            Written(lambda *of: greedy[of[3]], lambda *_: [run] * 2)
        )  # fmt: skip
        assert found.value == 2

    @pytest.mark.parametrize(("flops", "verdict"), [(99, HOLDS), (100, FAILS)])
    def test_the_block_variant_is_compared_by_three_measures(self, flops, verdict):
        def records(suite, problem, solver):
            at = (0, flops if solver == "givens" else 100)
            return [run_of(at, "flops", **{EXPLAINED: (0.0, 0.99), NONZEROS: (9, 9)})] * 2

        def finals(suite, problem, solver, value):
            return {(EXPLAINED, BLOCK): 1, (EXPLAINED, "givens"): 1.1}.get((value, solver)) or (
                8 if solver == "givens" else 9
            )

        found = figure_1.beats_block(Written(finals, records))
        assert found.verdict is verdict
        assert f"block: {flops / 100:.3g}" in found.text

    @pytest.mark.parametrize(
        ("ratio", "verdict"), [(0.9901, HOLDS), (1.0099, HOLDS), (0.9899, FAILS), (1.0101, FAILS)]
    )
    def test_objectives_are_equal_up_to_one_percent(self, ratio, verdict):
        def finals(suite, problem, solver, value):
            return {"givens": ratio, BLOCK: 1}[solver] * {"squared_objective": 7}[value]

        assert figure_1.same_objective(Written(finals)).verdict is verdict

    def test_non_zeros_are_drawn_for_all_102_components(self):
        run = run_of((0, 1, 10), "flops", **{EXPLAINED: (0.0, 0.1, 0.5), NONZEROS: (9.0, 7.0, 5.0)})
        plot = figure_1.draw(Written(records=lambda *_: [run] * 2))
        for metric, values in ((EXPLAINED, [0.1, 0.5]), (NONZEROS, [714, 510])):
            lines = plot.draw((metric,)).series
            assert [line.label for line in lines] == ["givens", GREEDY, SPARSER, BLOCK]
            assert all(line.y == pytest.approx(values) for line in lines)


def named(m, density):
    return f"prostate m={m}, density <= {density:g}"


class TestFigure2:
    def test_the_interval_of_a_ratio_of_means_is_linearized(self):
        rng = np.random.default_rng(0)
        a, b = rng.uniform(1, 2, (2, 400))
        found = figure_2.means_within(a, b, 0, 2, "")
        ratio = a.mean() / b.mean()
        half = 1.966 * np.std(a - ratio * b, ddof=1) / sqrt(400) / b.mean()
        assert found.value == pytest.approx(ratio)
        assert found.interval == pytest.approx((ratio - half, ratio + half), rel=1e-4)
        drawn = rng.integers(400, size=(500, 400))
        resampled = a[drawn].mean(axis=1) / b[drawn].mean(axis=1)
        assert np.std(resampled) == pytest.approx(half / 1.966, rel=0.1)

    @pytest.mark.parametrize(
        ("name", "m", "density", "ahead"),
        [
            *(
                (f"figure-2-similar-m{m}-{percent}-percent", m, percent / 100, "givens")
                for m in (3, 5, 10)
                for percent in (5, 10)
            ),
            ("figure-2-comparable-m3-20-percent", 3, 0.2, "greedy"),
            ("figure-2-comparable-m5-20-percent", 5, 0.2, "greedy"),
        ],
    )
    @pytest.mark.parametrize(("share", "verdict"), [(0.951, HOLDS), (0.949, FAILS)])
    def test_similar_is_95_percent(self, name, m, density, ahead, share, verdict):
        def finals(suite, problem, solver, value):
            return 5 if value == "flops" else share if solver == ahead else 1

        found = CLAIMS[name].check(written := Written(finals))
        assert (found.value, found.verdict) == (pytest.approx(share), verdict)
        suite = "figure-2-m10" if m == 10 else "figure-2"
        assert {place[:2] for place in written.asked} == {(suite, named(m, density))}
        assert CLAIMS[name].suites == (suite,)

    @pytest.mark.parametrize(("flops", "verdict"), [(1, HOLDS), (1.01, FAILS)])
    def test_comparable_is_at_no_more_flops_too(self, flops, verdict):
        def finals(suite, problem, solver, value):
            return 1 if value == EXPLAINED or solver == "givens" else flops

        assert figure_2.comparable(Written(finals), 3, 0.2).verdict is verdict

    @pytest.mark.parametrize(("share", "verdict"), [(0.949, HOLDS), (0.951, FAILS)])
    def test_less_is_below_95_percent(self, share, verdict):
        def finals(suite, problem, solver, value):
            return share if solver == "greedy" else 1

        found = CLAIMS["figure-2-only-few-components"].check(written := Written(finals))
        assert (found.value, found.verdict) == (pytest.approx(share), verdict)
        assert {place[:2] for place in written.asked} == {("figure-2-m10", named(10, 0.2))}

    @pytest.mark.parametrize("percent", [5, 10])
    @pytest.mark.parametrize(("flops", "verdict"), [(50, HOLDS), (51, FAILS)])
    def test_faster_is_fewer_flops_to_95_percent_of_the_greedy_method(
        self, percent, flops, verdict
    ):
        def records(suite, problem, solver):
            at = (0, flops, 200) if solver == "givens" else (0, 50, 200)
            return [run_of(at, "flops", **{EXPLAINED: (0.0, 0.95, 1.0), NONZEROS: (9,) * 3})] * 2

        written = Written(lambda *_: 1, records)
        found = CLAIMS[f"figure-2-faster-{percent}-percent"].check(written)
        assert (found.value, found.verdict) == (pytest.approx(flops / 50), verdict)
        assert {problem for _, problem, _ in written.asked} == {
            named(m, percent / 100) for m in (3, 5, 10)
        }

    @pytest.mark.parametrize(("share", "verdict"), [(0.951, HOLDS), (0.949, FAILS)])
    def test_few_rotations_are_compared_over_six_problems(self, share, verdict):
        def finals(suite, problem, solver, value):
            m = int(problem.split("m=")[1].split(",")[0])
            spread = {3: -0.1, 5: 0, 10: 0.1}[m]
            return {"m rotations": 3 * (share + spread), "100 rotations": 3}[solver]

        found = figure_2.few_rotations_do(written := Written(finals))
        assert (found.value, found.verdict) == (pytest.approx(share), verdict)
        assert {place[:2] for place in written.asked} == {
            ("rotations", named(m, density)) for m in (3, 5, 10) for density in (0.05, 0.1)
        }

    def test_the_picture_has_nine_panels_with_both_methods(self):
        run = run_of((0, 1, 10), "flops", **{EXPLAINED: (0.0, 0.1, 0.5)})
        plot = figure_2.draw(Written(records=lambda *_: [run] * 2))
        assert len(plot.sheet) == 9
        panel = plot.draw((named(5, 0.2),))
        assert panel.title == "5 components, at most 20 % dense"
        assert [line.label for line in panel.series] == ["givens", "greedy"]
        assert all(line.y == pytest.approx([0.1, 0.5]) for line in panel.series)


POWER_FIRST = {"figure-3-10k-d20", "figure-3-10k-d50", "figure-3-10k-d100"}
OF_MIXTURES = {
    **{f"figure-3-200k-d{d}": ("figures-3-4", f"mixture d={d} samples=200000")
       for d in (20, 50, 100, 200)},
    **{f"figure-3-10k-d{d}": ("mixtures-10k", f"mixture d={d} samples=10000")
       for d in (20, 50, 100)},
    **{f"figure-4-{k}k": ("figures-3-4", f"mixture d=100 samples={k}000") for k in (100, 200)},
    "figure-3-200k-d50-bottom": ("mixtures-50d", "bottom d=50"),
    "figure-3-200k-d100-bottom": ("more-mixtures", "bottom d=100"),
    "more-components": ("more-components", "50 components"),
    "larger-variance": ("more-mixtures", "variance 4"),
}  # fmt: skip
"""Suite and problem of each claim that compares the two methods."""


class TestMixtures:
    @pytest.fixture
    def written(self, monkeypatch):
        """Return what makes evidence of the NMI of Givens and of the power method."""

        def make(givens, power):
            monkeypatch.setattr(
                mixtures, "_of_own_factors", lambda problem, parameters, seed: power
            )
            record = run_of(recipe="gmm-moments", settings={"d": 20})
            return Written(lambda *_: givens, lambda *_: [record] * 2)

        return make

    def test_all_that_compare_are_here(self):
        names = {c.name for c in mixtures.CLAIMS if c.check} - {"figure-4-optimal"}
        assert names == set(OF_MIXTURES)

    @pytest.mark.parametrize("name", OF_MIXTURES)
    def test_the_one_with_the_larger_nmi_is_ahead(self, name, written):
        first = name in POWER_FIRST
        for difference, verdict in ((2e-9, HOLDS), (0, FAILS)):
            nmi = (0.5, 0.5 + difference) if first else (0.5 + difference, 0.5)
            found = CLAIMS[name].check(evidence := written(*nmi))
            assert (found.value, found.verdict) == (pytest.approx(difference), verdict)
            assert {place[:2] for place in evidence.asked} == {OF_MIXTURES[name]}
            assert CLAIMS[name].suites == OF_MIXTURES[name][:1]

    @pytest.mark.parametrize(
        ("value", "verdict"), [(0.9551, HOLDS), (0.9849, HOLDS), (0.9549, FAILS), (0.9851, FAILS)]
    )
    def test_the_optimum_is_that_of_all_sizes_at_d_100(self, value, verdict):
        written = Written(lambda *_: value)
        found = CLAIMS["figure-4-optimal"].check(written)
        assert (found.value, found.verdict) == (pytest.approx(value), verdict)
        assert {place[:2] for place in written.asked} == {
            ("mixtures-10k" if k == 10 else "figures-3-4", f"mixture d=100 samples={k}000")
            for k in (10, 30, 50, 100, 200)
        }

    def test_pictures_have_the_nmi_against_dimension_and_samples(self, written):
        evidence = written(0.25, 0.75)
        third, fourth = mixtures.draw_figure_3(evidence), mixtures.draw_figure_4(evidence)
        assert [title for (title,) in third.sheet] == ["10,000 samples", "200,000 samples"]
        panels = {
            (20, 50, 100, 200): third.draw(("200,000 samples",)),
            (10_000, 30_000, 50_000, 100_000, 200_000): fourth.draw(("100 dimensions",)),
        }
        for x, panel in panels.items():
            for line, y in zip(panel.series, (0.25, 0.75, 0.25, 0.25), strict=True):
                assert line.x.tolist() == list(x)
                assert line.y.tolist() == [y] * len(x)

    def test_the_power_method_is_judged_by_its_own_factors(self, monkeypatch):
        begun = []

        class Run:
            state = SimpleNamespace(factors=np.eye(2))
            instance = SimpleNamespace(measure=lambda solution: {"nmi": solution.point.sum() / 5})

            def advance(self, steps):
                begun.append(steps)
                return self

        def begin(solver, problem, seed, **parameters):
            begun.append((solver, seed, parameters))
            return Run()

        monkeypatch.setattr(mixtures, "begin_as_in_suite", begin)
        mixtures._of_own_factors.cache_clear()
        found = mixtures._of_own_factors("problem", frozenset({"restarts": 3}.items()), 7)
        mixtures._of_own_factors.cache_clear()
        assert found == pytest.approx(0.4)
        assert begun == [("tensor-power", 7, {"restarts": 3}), 1_000_000]


class TestSection2:
    def test_the_objective_of_a_plane_is_that_of_rotated_columns(self):
        A = np.random.default_rng(0).standard_normal((9, 2))
        values = section_2.equation_6(*A.T, 0.4)
        at = 500
        rotate(A, 0, 1, section_2.ANGLES[at])
        expected = np.sum(np.maximum(np.abs(A) - 0.4, 0) ** 2)
        assert values[at] == pytest.approx(expected)
        assert np.ptp(values[[0, -1]]) < 1e-12

    def test_a_reduction_with_too_few_rotations_does_not_count(self, monkeypatch):
        assert section_2._reduced(6, 0)
        monkeypatch.setattr(section_2, "rotate", lambda *_: None)
        assert not section_2._reduced(6, 0)


class TestSection3:
    @pytest.mark.parametrize(("end", "verdict"), [(4e-6, HOLDS), (4.1e-6, FAILS)])
    def test_a_gradient_vanishes_to_a_millionth_of_that_at_the_start(self, end, verdict):
        run = run_of((0, 1, 2), gradient_norm=(4.0, 50.0, end))
        written = Written(records=lambda *_: [run] * 20)
        found = section_3.gradient_vanishes(written)
        assert (found.value, found.verdict) == (verdict is HOLDS, verdict)
        assert len(written.asked) == 6

    def test_the_printed_rate_takes_the_largest_gradient_and_the_last_step(self, monkeypatch):
        squares = np.array([[0.5, 2.0, 0.1], [0.5, 4.0, 0.1]])
        made = section_3.Gradients(4, np.array([0.0, 10.0, 100.0]), squares)
        monkeypatch.setattr(section_3, "_normalized", lambda evidence: made)
        # of d² in place of 2d(d - 1), at T = 100,000
        expected = 3.0 * 2 * 4 * 3 / 4**2 * 100_001
        assert section_3.rate_as_printed(None).value == pytest.approx(expected)

    @pytest.mark.parametrize(
        ("means", "worst", "verdict"),
        [((0.9, 0.05, 0.002), 0.9, HOLDS), ((0.9, 0.2, 0.002), 2, FAILS),
         ((0.01, 0.5, 0.5), 1.01, FAILS), ((0.9, 0.05, 0.0101), 1.0201, FAILS)],
    )  # fmt: skip
    def test_the_corrected_rate_takes_the_least_gradient_so_far(
        self, means, worst, verdict, monkeypatch
    ):
        made = section_3.Gradients(4, np.array([0.0, 9.0, 100.0]), np.array([means, means]))
        monkeypatch.setattr(section_3, "_normalized", lambda evidence: made)
        found = section_3.rate_corrected(None)
        assert (found.value, found.verdict) == (pytest.approx(worst), verdict)

    def test_squares_are_derivatives_over_the_bound(self):
        """Of the derivatives along all rotations of pairs, each pair in both orders."""
        made, h = instance("brockett", 3, n=4), 1e-5
        oracle = made.oracle
        U = random_point(4, 4, np.random.default_rng(0))
        total = 0.0
        for i in range(4):
            for j in range(4):
                ends = [U.copy(), U.copy()]
                for end, angle in zip(ends, (h, -h), strict=True):
                    if i != j:
                        rotate(end, i, j, angle)
                total += ((oracle.cost(ends[0]) - oracle.cost(ends[1])) / (2 * h)) ** 2
        norm = float(made.measure(Solution(U))["gradient_norm"])
        run = run_of(
            (0, 1), gradient_norm=(norm, norm / 2), objective_gap=(3.0, 1.0),
            recipe="brockett", settings={"n": 4}, seed=3,
        )  # fmt: skip
        bound = 2 * section_3.lipschitz(oracle) * 4 * 3 * 3.0
        expected = total / bound * np.array([1, 0.25, 0.25, 0.25])
        assert section_3._squares(run, 4, 4) == pytest.approx(expected, rel=1e-6)

    def test_runs_that_end_early_keep_their_last_gradient(self):
        runs = [
            run_of(
                range(count), "steps", gradient_norm=(4.0, 2.0, 1.0)[:count],
                objective_gap=(1.0,) * count, recipe="brockett", settings={"n": 4},
            )
            for count in (2, 3)
        ]  # fmt: skip
        found = section_3._normalized(Written(records=lambda *_: runs))
        assert (found.d, found.steps.tolist()) == (4, [0, 1, 2])
        assert found.squares / found.squares[0, 0] == pytest.approx(
            np.array([[1, 0.25, 0.25], [1, 0.25, 0.0625]])
        )

    @pytest.mark.parametrize(("quick", "trials", "bad"), [(True, 100, 11), (False, 400, 15)])
    def test_nearly_all_global_minima_are_to_hold(self, quick, trials, bad, monkeypatch):
        for misses, verdict in ((0, HOLDS), (1, Verdict.UNDECIDED), (bad, FAILS)):
            monkeypatch.setattr(
                section_3, "_eigenvectors_hold", lambda seed, misses=misses: seed >= misses
            )
            found = section_3.global_minima_hold(Written(quick=quick, seeds=range(999)))
            assert found.value == 1 - misses / trials
            assert found.verdict is verdict

    @pytest.mark.parametrize(
        ("moved", "holds"),
        [((0.9e-4, 1.1e-2), True), ((1.1e-4, 1.1e-2), False), ((0.9e-4, 0.9e-2), False)],
    )
    def test_a_minimum_is_stayed_at_and_a_saddle_left(self, moved, holds, monkeypatch):
        asked = []

        def moves(made, U, seed):
            asked.append(made.oracle.cost(U))
            return moved[len(asked) - 1]

        monkeypatch.setattr(section_3, "_moved", moves)
        assert section_3._eigenvectors_hold(0) == holds
        assert asked[0] < asked[1]

    @pytest.mark.parametrize(("moved", "stays"), [(0.9e-3, True), (1.1e-3, False)])
    def test_staying_is_up_to_a_thousandth(self, moved, stays, monkeypatch):
        monkeypatch.setattr(section_3, "_moved", lambda *_: moved)
        assert section_3._stays(0) == stays

    def test_a_step_that_rounds_does_not_worsen(self):
        class Run:
            def __init__(self, values):
                self.values = values

            def states(self, steps):
                assert steps == 200
                return iter(self.values)

        values = [5.0, -8.0, -8.0 + 7e-12, -8.0 + 2e-11]
        assert section_3._never_worse(Run(values), float) == [True, True, False]

    def test_few_steps_of_all_four_algorithms_do_not_worsen(self, monkeypatch):
        counts = []

        def briefly(run, value):
            found = [value(state) for state in run.states(8)]
            counts.append(len(found) - 1)
            assert max(found) > min(found)
            return [bool(after <= before + 1e-12) for before, after in pairwise(found)]

        monkeypatch.setattr(section_3, "_never_worse", briefly)
        assert section_3.steps_never_worsen(Written(seeds=range(1))).value == 1
        assert len(counts) == 4


class TestSection4:
    @pytest.mark.parametrize(
        ("count", "verdict"), [(2.5, HOLDS), (20, HOLDS), (2.4, FAILS), (20.1, FAILS)]
    )
    def test_evaluations_of_both_kinds_are_counted_for_each_plane(
        self, count, verdict, monkeypatch
    ):
        tally = SimpleNamespace(values=10 * count - 3, slopes=3, planes=10)
        state = SimpleNamespace(columns=SimpleNamespace(tally=tally))
        run = SimpleNamespace(converge=lambda: SimpleNamespace(state=state))
        monkeypatch.setattr(section_4, "instance", lambda name, seed, m: (name, m))
        monkeypatch.setattr(section_4, "_as_in_figure_1", lambda made, seed: run)
        found = section_4.evaluations_of_an_angle(Written())
        assert (found.value, found.verdict) == (pytest.approx(count), verdict)

    @pytest.mark.parametrize(
        ("power", "verdict"), [(0.91, HOLDS), (1.09, HOLDS), (0.89, FAILS), (1.11, FAILS)]
    )
    def test_linear_is_a_power_of_one_up_to_a_tenth(self, power, verdict, monkeypatch):
        monkeypatch.setattr(section_4, "_flops_a_step", lambda d, seed: 7.0 * d**power)
        found = section_4.cost_in_genes(Written())
        assert (found.value, found.verdict) == (pytest.approx(power), verdict)

    def test_both_formulations_are_one_for_one_component(self):
        assert all(section_4._ordered_alike(1, seed) for seed in range(30))

    def test_equation_5_is_the_norm_where_equation_6_is_its_square(self):
        AU = np.array([[3.0, 0.0], [-4.0, 0.5], [0.9, -0.2]])
        assert section_4._equation_6(AU, 1.0) == pytest.approx(13)
        assert section_4._equation_5(AU, 1.0) == pytest.approx(sqrt(13))
        assert section_4._equation_5(np.c_[AU, AU], 1.0) == pytest.approx(2 * sqrt(13))


class TestSection5:
    def recorded(self, **last):
        end = {"recovery_error": 1e-10, "objective_gap": -1e-10} | last
        metrics = {
            "recovery_error": (1.0, 0.5, end["recovery_error"]),
            "objective_gap": (1.0, 1e-8, end["objective_gap"]),
        }
        return run_of((0, 30, 60), "steps", settings={"d": 5}, **metrics)

    @pytest.mark.parametrize(
        ("last", "exact"),
        [({}, True), ({"recovery_error": 1.01e-10}, False), ({"objective_gap": -1.01e-10}, False)],
    )
    def test_a_factor_is_recovered_to_ten_digits(self, last, exact):
        written = Written(records=lambda *_: [self.recorded(**last)] * 20)
        found = section_5.exact_recovery(written)
        assert found.value == exact
        assert found.verdict is (HOLDS if exact else FAILS)
        assert {(p, s) for _, p, s in written.asked} == {
            (f"{spectrum} d={d}", order)
            for spectrum in ("linear", "equal", "geometric")
            for d in (3, 5, 10, 20, 50)
            for order in ("random", "cyclic")
        }

    def test_sweeps_are_all_pairs_until_the_gap_is_small(self):
        assert section_5._sweeps(self.recorded()) == 3
        late = run_of((0, 30), "steps", settings={"d": 5}, objective_gap=(1.0, 1.1e-8))
        assert section_5._sweeps(late) == inf

    @pytest.mark.parametrize(
        ("start", "step", "verdict"),
        [(3.81, 1.81, HOLDS), (4.19, 2.19, HOLDS), (3.79, 2, FAILS), (4.21, 2, FAILS),
         (4, 1.79, FAILS), (4, 2.21, FAILS)],
    )  # fmt: skip
    def test_powers_of_d_are_quadratic_and_quartic(self, start, step, verdict, monkeypatch):
        monkeypatch.setattr(section_5, "_flops", lambda d, seed: (3.0 * d**start, 7.0 * d**step))
        found = section_5.cost_of_iterations(Written())
        assert found.verdict is verdict
        if verdict is HOLDS:
            assert found.value == pytest.approx(step)

    def test_flops_are_those_of_the_start_and_of_a_mean_step(self, monkeypatch):
        class Run:
            def states(self, steps):
                for i in range(steps + 1):
                    yield run_of((0, 100 + 7 * i), "flops").trace[-1]

        monkeypatch.setattr(section_5, "begin_trial", lambda *_, **options: Run())
        assert section_5._flops(3, 0) == (100, 7)

    def test_a_strict_maximum_is_below_the_global_one_and_above_its_surroundings(self, monkeypatch):
        assert section_5._strict_maximum(0)
        V, weights, _ = section_3.flipped_least(5, 0)
        monkeypatch.setattr(section_5, "flipped_least", lambda d, seed: (V, weights, V))
        assert not section_5._strict_maximum(0)
        between = V.copy()
        rotate(between, 0, 1, 0.6)
        between[:, 2] *= -1
        monkeypatch.setattr(section_5, "flipped_least", lambda d, seed: (V, weights, between))
        assert not section_5._strict_maximum(0)

    def test_the_value_of_the_two_signed_factors_is_said(self):
        """Weights 1 and 3, and the factor of weight 1 negated: 3 - 1."""
        assert ": 2," in section_5.only_factors_are_stable(Written()).text
