"""What the checks and pictures of Jin, Kileel, Kolda and Ward (2022) make of numbers given."""

import tracemalloc
from itertools import cycle
from math import cos, sin, sqrt
from types import SimpleNamespace

import numpy as np
import pytest
from orthobench_papers.tucker_2022 import (
    TUCKER_2022,
    figure_2,
    figure_3,
    figure_4,
    figure_5,
    section_2,
    section_5_1,
    section_5_2,
    section_6,
    table_1,
    table_2,
)
from orthobench_papers.tucker_2022.section_5_1 import Scene
from orthobench_papers.tucker_2022.section_5_2 import Outcome
from written import Written, run_of

import orthobench as ob
from orthobench.contract.exhibits import Curve, Image
from orthobench.registry.claims import Verdict

HOLDS, FAILS = Verdict.HOLDS, Verdict.FAILS
CLAIMS = {claim.name: claim for claim in TUCKER_2022.claims}


def line(angle):
    """Return a basis of a line in the plane."""
    return np.array([[cos(angle)], [sin(angle)]])


class TestFigure2:
    SOLVERS = (figure_2.IMPLICIT, *figure_2.EXPLICIT)

    @pytest.mark.parametrize("check", [figure_2.reached, figure_2.further])
    @pytest.mark.parametrize(("largest", "verdict"), [(2e-12, HOLDS), (2.1e-12, FAILS)])
    def test_every_relative_gradient_counts(self, check, largest, verdict):
        def finals(suite, problem, solver, value):
            assert value == "relative_gradient"
            return [largest, 0] if problem.startswith("order 4") else 0

        run = run_of(settings={"n": 10, "order": 4, "samples": 20, "test": 0})
        found = check(written := Written(finals, lambda *_: [run]))
        assert (found.value, found.verdict) == (largest, verdict)
        large = check is figure_2.further
        assert written.asked == {
            ("figure-2-large" if large else "figure-2", problem, solver)
            for problem in (figure_2.FURTHER if large else figure_2.PROBLEMS)
            for solver in (self.SOLVERS[:1] if large else self.SOLVERS)
        }

    @pytest.mark.parametrize(("n", "size"), [(10, "8e-05 GB"), (20_000, "1.28e+09 GB and")])
    def test_the_size_of_the_largest_tensor_is_said_and_whether_it_is_refused(self, n, size):
        run = run_of(settings={"n": n, "order": 4, "samples": 20, "test": 0})
        text = figure_2.further(Written(lambda *_: 0, lambda *_: [run])).text
        assert size in text
        assert ("refused" in text) == ("and" in size)

    @pytest.mark.parametrize(("spread", "verdict"), [(0.9e-9, HOLDS), (1.1e-9, FAILS)])
    def test_values_are_compared_seed_by_seed(self, spread, verdict):
        def finals(suite, problem, solver, value):
            return [4 * (1 - spread) if solver == "hooi explicit" else 4, 9]

        found = figure_2.one_value(Written(finals))
        assert (found.value, found.verdict) == (pytest.approx(spread, abs=1e-14), verdict)

    @pytest.mark.parametrize(("times", "verdict"), [(2, HOLDS), (1.99, FAILS)])
    def test_much_faster_is_twice_as_fast_as_each(self, times, verdict):
        def finals(suite, problem, solver, value):
            slow = {"trust-region explicit": times, "hoevd explicit": times}.get(solver, 9)
            return [1, 1, 50] if solver.endswith("implicit") else 1 * slow

        for check in (figure_2.faster, figure_2.hoevd_faster):
            found = check(Written(finals, seeds=range(3)))
            assert (found.value, found.verdict) == (times, verdict)

    @pytest.mark.parametrize("gain", [1.0, 0.99])
    @pytest.mark.parametrize("loser", ["hoevd explicit", *figure_2.EXPLICIT])
    def test_scaling_is_the_growth_of_the_ratio_of_flops(self, loser, gain):
        def finals(suite, problem, solver, value):
            small = 10 if "implicit" in solver else 30
            if problem.endswith("small"):
                return small
            return small * (2 if "implicit" in solver else 2 * gain if solver == loser else 5)

        first = loser in ("pgd explicit", "hoevd explicit")
        for check, affected in ((figure_2.scales, first), (figure_2.others_scale, not first)):
            found = check(Written(finals))
            assert found.value == pytest.approx(gain if affected else 2.5)
            assert found.verdict is (FAILS if affected and gain < 1 else HOLDS)

    @pytest.mark.parametrize(("share", "verdict"), [(0.101, HOLDS), (0.099, FAILS)])
    def test_another_step_is_a_tenth_of_its_length_away(self, share, verdict, monkeypatch):
        lengths = cycle([3 * share, 3])
        monkeypatch.setattr(figure_2.dense, "distance", lambda *_: next(lengths))
        found = figure_2.power_iteration(Written())
        assert (found.value, found.verdict) == (pytest.approx(share), verdict)

    def test_seconds_are_drawn_against_n_and_further_of_implicit_methods(self):
        sizes = {"small": 10, "medium": 20, "large": 30, "first": 40, "second": 50}

        def n(problem):
            return sizes[problem.split(", ")[1]]

        plot = figure_2.draw(
            Written(
                lambda suite, problem, solver, value: n(problem) * {"seconds": 2}[value],
                lambda suite, problem, solver: [run_of(settings={"n": n(problem)})],
            )
        )
        for order, few in ((3, [10, 20, 30]), (4, [10, 30])):
            first = plot.draw((f"order {order}, HOEVD",)).series
            second = plot.draw((f"order {order}, to a relative gradient of 1e-12",)).series
            assert [one.label for one in first] == list(figure_2.HOEVD)
            assert [one.label for one in second] == list(self.SOLVERS)
            for one in (*first, *second):
                x = [*few, 40, 50] if one.label.endswith("implicit") else few
                assert (one.x.tolist(), one.y.tolist()) == (x, [2 * each for each in x])


class TestFigure3:
    @pytest.mark.parametrize(
        ("name", "solver", "full"),
        [
            ("streaming-hoevd-loses-little", ("figure-3a", "shoevd b=100"), "hoevd full"),
            ("streaming-spgd-loses-little", ("figure-3b", "spgd b=100"), "spgd full"),
            ("step-of-a-twentieth", ("figure-3a", "shoevd b=100 c=0.05"), "hoevd full"),
        ],
    )
    @pytest.mark.parametrize(("ratio", "verdict"), [(2.99, HOLDS), (3.01, FAILS)])
    def test_a_limited_loss_is_three_times_the_median_error(
        self, name, solver, full, ratio, verdict
    ):
        def finals(suite, problem, named, value):
            if (suite, named) == ("figure-3-full", full):
                return [1, 1, 5]
            return ratio if (suite, named) == solver else 50

        found = CLAIMS[name].check(Written(finals, seeds=range(3)))
        assert (found.value, found.verdict) == (pytest.approx(ratio), verdict)

    def test_errors_are_those_of_the_paper(self):
        """Of orthogonal subspaces of rank 5 projectors differ by the root of ten."""
        finals = {"shoevd b=100 c=0.05": sqrt(5), "hoevd full": 1}
        found = figure_3.printed_step(Written(lambda *of: finals[of[2]]))
        assert "median is 3.16, the largest possible 3.16" in found.text

    @pytest.mark.parametrize("slow", ["shoevd b=20", "shoevd b=50", "shoevd b=100",
                                      "spgd b=50", "spgd b=100"])  # fmt: skip
    @pytest.mark.parametrize(("share", "verdict"), [(0.099, HOLDS), (0.101, FAILS)])
    def test_negligible_is_a_tenth_of_the_seconds(self, slow, share, verdict):
        def finals(suite, problem, solver, value):
            return 1 if "full" in solver else share if solver == slow else 0.01

        assert figure_3.seconds(Written(finals)).verdict is verdict

    @pytest.mark.parametrize(("ratio", "verdict"), [(1, HOLDS), (1.01, FAILS)])
    def test_hoevd_is_compared_with_pca(self, ratio, verdict):
        finals = {"pca": 0.5, "hoevd full": 0.5 * ratio}
        found = figure_3.covariance(Written(lambda *of: finals[of[2]]))
        assert (found.value, found.verdict) == (pytest.approx(ratio), verdict)

    @pytest.mark.parametrize(("end", "verdict"), [(0.2, HOLDS), (0.201, FAILS)])
    def test_phase_2_halves_the_error_of_its_start(self, end, verdict):
        run = run_of(subspace_error=(0.4, 9.0))
        found = figure_3.phases(Written(lambda *_: end, lambda *_: [run] * 2))
        assert (found.value, found.verdict) == (pytest.approx(end / 0.4), verdict)

    @pytest.mark.parametrize(
        ("part", "shown"),
        [
            ("a", [*figure_3.STREAMS["a"][1], "shoevd b=100 c=0.05", "hoevd full"]),
            ("b", [*figure_3.STREAMS["b"][1], "spgd full"]),
        ],
    )
    def test_the_level_of_pca_spans_what_is_drawn(self, part, shown):
        def records(suite, problem, solver):
            at = (0, 5, 90) if solver.endswith("full") else (0, 2, 20)
            return [run_of(at, "seconds", subspace_error=(1.0, 0.5, 0.25))] * 2

        plot = figure_3.draw(Written(lambda *_: 0.1, records))
        panel = plot.draw((figure_3.TITLES[part],))
        *lines, level = panel.series
        assert [one.label for one in lines] == shown
        assert all(one.y == pytest.approx([sqrt(2) / 2, sqrt(2) / 4]) for one in lines)
        assert level.x.tolist() == [2, 90]
        assert level.y == pytest.approx([0.1 * sqrt(2)] * 2)


class TestFigure4:
    @pytest.mark.parametrize(
        ("name", "tails", "levels"),
        [
            ("phase-2-improves", "", (0.1, 0.5)),
            ("phase-2-improves-with-noise", "", (1, 1.5, 2)),
            ("phase-2-improves-with-heavy-tails", "heavy tails, ", (0.1, 0.5, 1, 1.5)),
        ],
    )
    def test_both_phases_are_compared_with_the_first_at_each_level(self, name, tails, levels):
        for worse in (None, *levels):

            def finals(suite, problem, solver, value, worse=worse):
                ahead = problem.endswith(f"={worse:g}") if worse else False
                return 0.5 * (1.01 if "II" in problem and ahead else 1)

            found = CLAIMS[name].check(written := Written(finals))
            assert (found.value, found.verdict) == (
                (pytest.approx(1.01), FAILS) if worse else (1, HOLDS)
            )
            assert {p for _, p, s in written.asked if s == "spgd"} == {
                f"{tails}phase {phase} inverse_snr={level:g}"
                for phase in ("I", "II")
                for level in levels
            }

    @pytest.mark.parametrize("worse", [0, 0.1, 0.5, 1, 1.5, 2])
    def test_robustness_is_to_be_no_worse_than_phase_1_at_each_level(self, worse):
        def finals(suite, problem, solver, value):
            return 1.01 if solver == "spgd" and problem.endswith(f"={worse:g}") else 1

        found = figure_4.robustness(Written(finals))
        assert found.verdict is (FAILS if worse else HOLDS)
        assert found.value == pytest.approx(1.01 if worse else 1)

    @pytest.mark.parametrize(("share", "verdict"), [(0.149, HOLDS), (0.151, FAILS)])
    def test_a_good_error_is_a_share_of_the_largest_up_to_level_1(self, share, verdict):
        found = figure_4.good(written := Written(lambda *_: share * sqrt(5)))
        assert (found.value, found.verdict) == (pytest.approx(share), verdict)
        assert {p for _, p, _ in written.asked} == {
            f"phase II inverse_snr={level}" for level in ("0.1", "0.5", "1")
        }

    def test_pictures_show_all_levels_along_the_run_and_at_its_end(self):
        def finals(suite, problem, solver, value):
            return len(solver) + 10 * problem.count("I") + 100 * problem.count("heavy")

        def records(suite, problem, solver):
            at = (0, 3, 7) if "II" in problem else (0, 3)
            return [run_of(at, "steps", subspace_error=(1.0, 0.5, 0.25)[: len(at)])] * 2

        written = Written(finals, records)
        along, ends = figure_4.draw(written), figure_4.draw_ends(written)
        for title, heavy in (("skewness 1.5", 0), ("skewness 3", 1)):
            panel = along.draw((title,))
            assert panel.rules == (3,)
            assert [one.label for one in panel.series] == [
                f"1/SNR = {level}" for level in ("0.1", "0.5", "1", "1.5", "2")
            ]
            assert all(one.y == pytest.approx([sqrt(0.5), sqrt(0.125)]) for one in panel.series)
            for one, value in zip(ends.draw((title,)).series, (14, 24, 26), strict=True):
                assert one.x.tolist() == [0.1, 0.5, 1, 1.5, 2]
                assert one.y == pytest.approx([sqrt(2) * (value + 100 * heavy)] * 5)


def rank_of(problem):
    return int(problem[-1])


class TestFigure5:
    @pytest.mark.parametrize(
        ("ratio", "verdict"), [(0.971, HOLDS), (1.029, HOLDS), (0.969, FAILS), (1.031, FAILS)]
    )
    def test_a_match_is_within_3_percent_from_the_true_rank_on(self, ratio, verdict):
        found = figure_5.matches(written := Written(lambda *_: ratio))
        assert (found.value, found.verdict) == (pytest.approx(ratio), verdict)
        assert {p for _, p, _ in written.asked} == {f"phase II rank={r}" for r in (5, 6, 7)}

    @pytest.mark.parametrize(
        ("name", "phase"), [("lower-rank-lower-objective", "II"), ("lower-rank-worse-start", "I")]
    )
    @pytest.mark.parametrize("equal", [0, 2, 3, 4])
    def test_the_objective_falls_with_each_rank_below_the_true_one(self, name, phase, equal):
        def finals(suite, problem, solver, value):
            rank = rank_of(problem)
            return 2 if rank == equal and rank < 5 else {2: 1, 3: 1.5, 4: 1.8, 5: 1.9}[rank]

        found = CLAIMS[name].check(written := Written(finals))
        assert found.verdict is (FAILS if equal else HOLDS)
        assert {p for _, p, _ in written.asked} == {f"phase {phase} rank={r}" for r in (2, 3, 4, 5)}

    @pytest.mark.parametrize("worse", [0, 2, 3, 4])
    def test_phase_2_improves_at_each_rank_that_is_too_low(self, worse):
        def finals(suite, problem, solver, value):
            return 0.99 if "II" in problem and rank_of(problem) == worse else 1

        found = figure_5.improves(written := Written(finals))
        assert (found.value, found.verdict) == ((0.99, FAILS) if worse else (1, HOLDS))
        assert {rank_of(p) for _, p, _ in written.asked} == {2, 3, 4}

    @pytest.mark.parametrize("larger", [0, 4, 5])
    def test_the_gap_is_compared_with_those_at_4_and_5(self, larger):
        def finals(suite, problem, solver, value):
            rank = rank_of(problem)
            if "II" not in problem:
                return 0.5
            return 1.01 if rank == larger else {2: 1, 4: 1, 5: 0.8}.get(rank, 9)

        found = figure_5.gap_grows(Written(finals))
        assert found.verdict is (FAILS if larger else HOLDS)
        if larger:
            assert found.value == pytest.approx(1 / 1.01)
        assert "2.00 (r = 2), 18.00 (r = 3)" in found.text

    def test_the_level_of_the_true_basis_spans_what_is_drawn(self):
        def records(suite, problem, solver):
            at = (0, 1, 2) if " I " in problem else (0, 1, rank_of(problem))
            return [run_of(at, "steps", objective_ratio=(0.1, 0.5, 0.9))] * 2

        panel = figure_5.draw(Written(records=records)).draw(("F over that of the true basis",))
        *lines, level = panel.series
        assert [one.label for one in lines] == [f"r = {r}" for r in (2, 3, 4, 5, 6, 7)]
        assert (level.x.tolist(), level.y.tolist()) == ([1, 7], [1, 1])
        assert panel.rules == (2,)


class TestTable1:
    @pytest.mark.parametrize(
        ("in_n", "in_p", "none", "verdict"),
        [(2.91, 1, 0, HOLDS), (3.09, 1, 0, HOLDS), (2.89, 1, 0, FAILS), (3.11, 1, 0, FAILS),
         (3, 0.991, 0, HOLDS), (3, 1.009, 0, HOLDS), (3, 0.989, 0, FAILS), (3, 1.011, 0, FAILS),
         (3, 1, 1, FAILS)],
    )  # fmt: skip
    def test_explicit_methods_form_the_tensor_first(self, in_n, in_p, none, verdict, monkeypatch):
        def overhead(n, p, form):
            return n**in_n * p**in_p if form == "explicit" else 0

        monkeypatch.setattr(table_1, "overhead", overhead)
        monkeypatch.setattr(table_1, "streaming_overhead", lambda n: none)
        assert table_1.overheads(None).verdict is verdict

    def test_overhead_is_what_the_first_gradient_does_not_explain(self):
        """Of order 3, for each sample and each of n³/6 entries a product and a sum, at least."""
        assert table_1.overhead(10, 40, "implicit") == table_1.streaming_overhead(50) == 0
        formed = table_1.overhead(10, 40, "explicit")
        assert 10**3 / 6 * 40 * 2 < formed < 10**3 * 40 * 3

    def test_memory_is_that_of_a_run_without_its_data(self):
        """Ten batches of 50 samples, of which ten steps keep an iterate and the one before."""
        peaks = []
        for n in (400, 800):
            samples = np.random.default_rng(0).exponential(size=(n, 1000)) - 1
            made = ob.symmetric_tucker(samples=samples, order=3, rank=5)
            peaks.append(table_1.peak_memory(made, "spgd", batch=50, hoevd_steps=0))
        assert np.diff(peaks) == pytest.approx(2 * 400 * 5, rel=0.05)
        assert not tracemalloc.is_tracing()


PERCENTS = {
    "tucker-errors": ("table-2-tucker", "tucker", table_2.TUCKER, 2),
    "cp-errors": ("table-2-cp", "cp", table_2.CP, 1.25),
    "cp-64-error": ("table-2-cp-cube-4", "cp", {4: 0.0060}, 2),
    "cp-125-error": ("table-2-cp-cube-5", "cp", {5: 0.0084}, 2),
}


class TestTable2:
    @pytest.mark.parametrize("name", PERCENTS)
    def test_errors_agree_with_the_printed_percents_up_to_a_factor(self, name):
        suite, solver, printed, factor = PERCENTS[name]
        for ratio, verdict in ((factor * 0.999, HOLDS), (factor * 1.001, FAILS),
                               (1.001 / factor, HOLDS), (0.999 / factor, FAILS)):  # fmt: skip

            def finals(suite, problem, solver, value, ratio=ratio):
                return printed[rank_of(problem)] * ratio / 100

            found = CLAIMS[name].check(written := Written(finals))
            assert (found.value, found.verdict) == (pytest.approx(ratio), verdict)
            assert written.asked == {(suite, f"r={rank}", solver) for rank in printed}

    def test_the_printed_percents_are_those_of_the_claims(self):
        for name, row in (("tucker-errors", table_2.TUCKER), ("cp-errors", table_2.CP)):
            told = CLAIMS[name].printed.removesuffix(" %").split(", ")
            assert list(map(float, told)) == list(row.values())
        names = ("cp-27-beats-tucker", "cp-64-error", "cp-125-error", "cp-cube-errors")
        told = " ".join(CLAIMS[name].printed for name in names).replace(",", " ").split()
        assert [f"{value:.4f}" for value in table_2.CUBE.values()] == [
            word for word in told if word.startswith("0.") and word != "0.0027"
        ]
        assert list(table_2.CUBE) == [3, 4, 5, 6, 7]

    @pytest.mark.parametrize(("ratio", "verdict"), [(1, HOLDS), (1.01, FAILS)])
    def test_27_components_are_compared_with_tucker(self, ratio, verdict):
        finals = {"cp": 0.5 * ratio, "tucker": 0.5}
        found = table_2.cp_beats(written := Written(lambda *of: finals[of[2]]))
        assert (found.value, found.verdict) == (pytest.approx(ratio), verdict)
        assert {place[:2] for place in written.asked} == {
            ("table-2-cp-cube-3", "r=3"), ("table-2-tucker", "r=3")
        }  # fmt: skip

    @pytest.mark.parametrize(("fourth", "verdict"), [(4, HOLDS), (2.9, FAILS)])
    def test_errors_of_cp_rise_from_rank_to_rank(self, fourth, verdict):
        cells = {3: 1, 4: 2, 5: 3, 6: fourth, 7: 9}
        found = table_2.cp_rises(Written(lambda *of: cells[rank_of(of[1])]))
        assert (found.value, found.verdict) == (pytest.approx(min(4 / 3, fourth / 3)), verdict)

    @pytest.mark.parametrize(
        ("ratio", "verdict"),
        [(10**3.501, HOLDS), (10**4.499, HOLDS), (10**3.499, FAILS), (10**4.501, FAILS)],
    )
    def test_ten_thousand_is_an_order_of_magnitude(self, ratio, verdict):
        finals = {"cp": ratio, "tucker": 1}
        found = table_2.ten_thousand(Written(lambda *of: finals[of[2]]))
        assert (found.value, found.verdict) == (pytest.approx(ratio), verdict)

    @pytest.mark.parametrize(
        ("ratio", "verdict"), [(9.99, HOLDS), (0.1001, HOLDS), (10.01, FAILS), (0.0999, FAILS)]
    )
    def test_similar_is_a_factor_of_ten(self, ratio, verdict):
        finals = {"cp": ratio, "tucker": 1}
        found = table_2.similar(written := Written(lambda *of: finals[of[2]]))
        assert (found.value, found.verdict) == (pytest.approx(ratio), verdict)
        assert {place[:2] for place in written.asked if place[2] == "cp"} == {
            (f"table-2-cp-cube-{rank}", f"r={rank}") for rank in (3, 4, 5)
        }

    def test_cells_are_the_lowest_of_five_runs_in_percent(self):
        errors = np.arange(10.0)[::-1] + 1
        written = Written(lambda *_: errors, seeds=range(10))
        assert table_2.tucker(written, 3).tolist() == [600, 100]

    @pytest.mark.parametrize(("n", "ratio", "verdict"), [(1, 16 / 7, HOLDS), (0, 8 / 5, FAILS)])
    def test_cp_is_to_store_twice_the_numbers(self, n, ratio, verdict, monkeypatch):
        """Of r = 2: 8 weights and vectors, against 2 vectors and the 5 entries of a core."""
        monkeypatch.setattr(table_2, "RANKS", (2,))
        monkeypatch.setattr(table_2, "N", n)
        found = table_2.economical(None)
        assert (found.value, found.verdict) == (pytest.approx(ratio), verdict)

    @pytest.mark.parametrize(("ratio", "verdict"), [(1.011, HOLDS), (1.009, FAILS)])
    def test_tucker_is_more_accurate_by_a_hundredth(self, ratio, verdict, monkeypatch):
        components = SimpleNamespace(point=np.ones((3, 15)))

        def measure(solution):
            return {"relative_error": 0.3 * (ratio if solution is components else 1)}

        made = SimpleNamespace(measure=measure)
        monkeypatch.setattr("orthobench.symmetric_tucker", lambda **given: made)
        monkeypatch.setattr(table_2, "as_components", lambda *_: components)
        found = table_2.components_suffice(Written())
        assert (found.value, found.verdict) == (pytest.approx(ratio), verdict)
        assert "15 components for r = 3" in found.text

    def test_the_picture_has_three_rows_and_what_is_printed(self):
        finals = {"cp": 0.03, "tucker": 0.01}
        plot = table_2.draw(Written(lambda *of: finals[of[2]]))
        series = plot.draw(("relative error",)).series
        assert [one.y.tolist() for one in series[:3]] == [[1] * 5, [3] * 5, [3] * 3]
        assert [one.x.tolist() for one in series[:3]] == [[3, 4, 5, 6, 7]] * 2 + [[3, 4, 5]]
        for one, row in zip(series[3:], (table_2.TUCKER, table_2.CP, table_2.CUBE), strict=True):
            assert dict(zip(one.x, one.y, strict=True)) == row


SCENE = Scene(
    sparse=np.array([[0.1, -5.0, 0.2], [4.0, 1.0, -3.0]]),
    anomalies=np.array([[0, 1, 0], [1, 1, 0]], dtype=bool),
    false=np.array([0.0, 0.5, 1.0]),
    true=np.array([0.0, 0.8, 1.0]),
)


class TestSection51:
    def test_a_scene_is_read_from_its_exhibits(self):
        shown = {
            "sparse detection image": Image(SCENE.sparse),
            "anomalies": Image(SCENE.anomalies.astype(float)),
            "ROC": Curve(SCENE.false, SCENE.true, "", ""),
        }
        places = []

        def exhibits(*place):
            places.append(place)
            return [shown]

        for method in ("SHOEVD", "SPGD"):
            (found,) = section_5_1.scenes(Written(exhibits=exhibits), method)
            for a, b in zip(found, SCENE, strict=True):
                assert np.allclose(a, b)
        assert places == [("section-5-1", f"phase {phase}", "spgd") for phase in ("I", "II")]

    @pytest.mark.parametrize(
        ("bands", "pixels", "verdict"),
        [(191, 10_000, HOLDS), (190, 10_000, FAILS), (192, 10_000, FAILS), (191, 9999, FAILS),
         (191, 10_001, FAILS)],
    )  # fmt: skip
    def test_the_image_has_191_bands_of_10000_pixels(self, bands, pixels, verdict, monkeypatch):
        oracle = SimpleNamespace(n=bands, X=range(pixels))
        made = SimpleNamespace(oracle=oracle)
        monkeypatch.setattr(section_5_1, "instance", lambda *_: made)
        assert section_5_1.size(None).verdict is verdict

    def test_the_area_is_that_of_trapezia(self):
        assert section_5_1.area_under(SCENE) == pytest.approx(0.2 + 0.45)

    def test_hits_are_anomalies_among_as_many_of_the_brightest(self):
        assert section_5_1.hits(SCENE) == pytest.approx(2 / 3)

    def test_contrast_is_a_ratio_of_means(self):
        assert section_5_1.contrast(SCENE) == pytest.approx((10 / 3) / 1.1)

    @pytest.mark.parametrize(
        ("name", "phase", "printed"),
        [("area-of-shoevd", "I", 0.9900), ("area-of-spgd", "II", 0.9947)],
    )
    @pytest.mark.parametrize(
        ("off", "verdict"),
        [(0.0049, HOLDS), (-0.0049, HOLDS), (0.0051, FAILS), (-0.0051, FAILS)],
    )
    def test_an_area_is_near_that_which_is_printed(self, name, phase, printed, off, verdict):
        def finals(suite, problem, solver, value):
            return 0.75 if suite.endswith("orders") else printed + off

        found = CLAIMS[name].check(written := Written(finals))
        assert (found.value, found.verdict) == (pytest.approx(printed + off), verdict)
        assert "0.750 with batches in random order" in found.text
        assert {p for s, p, _ in written.asked if s == "section-5-1"} == {f"phase {phase}"}

    @pytest.mark.parametrize(("area", "verdict"), [(0.9, HOLDS), (0.899, FAILS)])
    def test_areas_above_the_curves_are_compared(self, area, verdict):
        finals = {"phase I": 0.9, "phase II": area}
        found = section_5_1.better(Written(lambda *of: finals[of[1]]))
        assert (found.value, found.verdict) == (pytest.approx((1 - area) / 0.1), verdict)

    @pytest.mark.parametrize(("off", "verdict"), [(4e-5, HOLDS), (6e-5, FAILS), (-6e-5, FAILS)])
    def test_the_area_of_pca_is_known_to_four_digits(self, off, verdict, monkeypatch):
        monkeypatch.setattr(section_5_1, "covariance", lambda: SCENE)
        monkeypatch.setattr(section_5_1, "area_under", lambda shown: 0.8893 + off)
        assert section_5_1.principal(None).verdict is verdict

    @pytest.mark.parametrize(
        ("shares", "verdict"), [((0.5, 0.5), HOLDS), ((0.49, 1), FAILS), ((1, 0.49), FAILS)]
    )
    def test_half_of_the_brightest_pixels_are_to_be_anomalies(self, shares, verdict, monkeypatch):
        found = dict(zip(("SHOEVD", "SPGD"), shares, strict=True))
        monkeypatch.setattr(section_5_1, "scenes", lambda evidence, method: [found[method]] * 2)
        monkeypatch.setattr(section_5_1, "hits", lambda scene: scene)
        assert section_5_1.pronounced(None).verdict is verdict

    @pytest.mark.parametrize(("share", "verdict"), [(0.25, HOLDS), (0.26, FAILS)])
    def test_a_quarter_may_be_with_pca(self, share, verdict, monkeypatch):
        monkeypatch.setattr(section_5_1, "covariance", lambda: SCENE)
        monkeypatch.setattr(section_5_1, "hits", lambda scene: share)
        assert section_5_1.hidden(None).verdict is verdict

    @pytest.mark.parametrize(("ratio", "verdict"), [(1, HOLDS), (0.99, FAILS)])
    def test_spgd_is_clearest_by_contrast(self, ratio, verdict, monkeypatch):
        found = {"SHOEVD": 7.0, "SPGD": 7 * ratio}
        monkeypatch.setattr(section_5_1, "scenes", lambda evidence, method: [found[method]] * 2)
        monkeypatch.setattr(section_5_1, "covariance", lambda: 3.0)
        monkeypatch.setattr(section_5_1, "contrast", lambda scene: scene)
        one = section_5_1.clearest(None)
        assert (one.value, one.verdict) == (pytest.approx(ratio), verdict)

    @pytest.mark.parametrize(("least", "verdict"), [(2e-9, HOLDS), (0, FAILS), (-1e-3, FAILS)])
    def test_above_is_by_more_than_rounding(self, least, verdict):
        found = section_5_1._positive(np.array([least, least, least]), "")
        assert found.verdict is verdict
        assert f"{3 * (least > 0)} of 3" in found.text

    @pytest.mark.parametrize(("quick", "count"), [(True, 20), (False, 200)])
    def test_curves_are_compared_where_that_of_pca_is_open(self, quick, count, monkeypatch):
        """Its rate is 0, 1/2, 1/2 and 1 at four counts of false alarms."""
        base, rates = [0.0, 0.5, 0.5, 1.0], {500: [0.0, 0.6, 0.7, 0.9], 2000: [0.1, 0.9, 0.4, 1]}
        made = SimpleNamespace(oracle=SimpleNamespace(X=np.eye(3), k=2))

        class Run:
            taken = 0

            def advance(self, steps):
                self.taken += steps
                return self

            @property
            def point(self):
                return np.full((3, 1), self.taken)

        def detected(Z, anomalies):
            return np.array(rates[int(Z[0, 0])] if Z.shape[1] == 1 else base)

        monkeypatch.setattr(section_5_1, "instance", lambda *_: made)
        monkeypatch.setattr(section_5_1, "begin", lambda *_, **options: Run())
        monkeypatch.setattr(section_5_1, "covariance", lambda: SCENE)
        monkeypatch.setattr(section_5_1, "detected", detected)
        found = section_5_1.above(Written(quick=quick, seeds=range(300)))
        assert found.value == pytest.approx(-0.1)
        assert f"SHOEVD ({count} of {count} curves strictly above): 0.1" in found.text

    def test_the_picture_has_three_curves_and_chance(self, monkeypatch):
        monkeypatch.setattr(section_5_1, "covariance", lambda: SCENE)
        monkeypatch.setattr(section_5_1, "scenes", lambda evidence, method: [SCENE] * 2)
        series = section_5_1.draw(None).draw(("ROC",)).series
        assert [one.label for one in series] == [
            *(f"{name}, area 0.6500" for name in ("SHOEVD", "SPGD", "PCA")), "random classifier"
        ]  # fmt: skip
        for one in series[:3]:
            assert np.all(np.diff(one.x) > 0)
            assert one.x[[0, -1]].tolist() == [0, 1]
            assert one.y == pytest.approx(np.where(one.x < 0.5, 1.6 * one.x, 0.6 + 0.4 * one.x))
        assert series[3].x.tolist() == series[3].y.tolist() == [0, 1]


def outcome(low=(1, 1, 1, 1), sample=(0, 2, 2, 2), equal=(0, 3, 3, 3), **more):
    """Return the outcome of a window with the rows of its three strategies."""
    rows = {
        name: dict(zip(section_5_2.ROWS, row, strict=True))
        for name, row in (("low rank", low), ("sample", sample), ("equal", equal))
    }
    return Outcome(rows, **{"curves": {}, "errors": (0.0,) * 3, "moved": 0.5} | more)


class TestSection52:
    def test_a_window_has_eight_years_and_three(self, monkeypatch):
        monkeypatch.setattr(section_5_2, "instance", lambda *names, **settings: settings)
        found = section_5_2.window(1968, 3, 15, 7)
        assert (found["first"], found["split"], found["last"]) == ("1960", "1968", "1970")
        assert (found["order"], found["rank"]) == (3, 15)

    def test_no_year_is_out_of_sample_twice(self):
        assert section_5_2.SPLITS[0] == 1968
        assert set(np.diff(section_5_2.SPLITS)) == {3}
        assert section_5_2.SPLITS[-1] + 2 == 2015

    def test_every_other_window_does_at_the_small_size(self, monkeypatch):
        monkeypatch.setattr(section_5_2, "outcome", lambda split, seed: (split, seed))
        seeds = range(7, 99)
        whole = section_5_2.windows(Written(quick=False, seeds=seeds))
        assert whole == [(1968 + 3 * i, 7 + i) for i in range(16)]
        quick = section_5_2.windows(Written(seeds=seeds))
        assert quick == [(1968 + 6 * i, 7 + i) for i in range(8)]

    def test_the_preferred_score_is_the_largest_return_or_the_least_moment(self):
        found = outcome(low=(1, -5, 0.1, 5), sample=(2, 4, -0.2, 1), equal=(1.5, 6, 3, -0.5))
        assert [section_5_2.preferred(found, row) for row in section_5_2.ROWS] == [
            "sample", "sample", "low rank", "equal"
        ]  # fmt: skip
        assert section_5_2.preferred(outcome(low=(-1, 0, 0, 0)), "annual_return") == "sample"

    @pytest.mark.parametrize(("wins", "verdict"), [(16, HOLDS), (0, FAILS)])
    def test_low_rank_is_to_be_best_in_every_row_of_most_windows(self, wins, verdict, monkeypatch):
        made = [outcome()] * wins + [outcome(low=(1, 1, 1, 5))] * (16 - wins)
        monkeypatch.setattr(section_5_2, "windows", lambda evidence: made)
        found = section_5_2.every_row(None)
        assert (found.value, found.verdict) == (wins / 16, verdict)
        assert f"{wins / 16:.2f} (m4)" in found.text

    @pytest.mark.parametrize(("gain", "verdict"), [(0.0011, HOLDS), (0.0009, FAILS)])
    def test_low_rank_earns_more_than_samples(self, gain, verdict, monkeypatch):
        made = [outcome(low=(1 + gain, 1, 1, 1), sample=(1, 2, 2, 2))] * 3
        monkeypatch.setattr(section_5_2, "windows", lambda evidence: made)
        found = section_5_2.higher_return(None)
        assert (found.value, found.verdict) == (pytest.approx(gain), verdict)

    @pytest.mark.parametrize("rival", ["low", "sample"])
    @pytest.mark.parametrize(("m2", "verdict"), [(2.9, HOLDS), (3, FAILS)])
    def test_equal_weights_vary_more_than_either(self, rival, m2, verdict, monkeypatch):
        made = [outcome(**{rival: (0, m2, 0, 0)})] * 16
        monkeypatch.setattr(section_5_2, "windows", lambda evidence: made)
        assert section_5_2.stable(None).verdict is verdict

    @pytest.mark.parametrize("order", [2, 3, 4])
    @pytest.mark.parametrize(("error", "verdict"), [(0.05, HOLDS), (0.051, FAILS)])
    def test_errors_of_half_the_rank_are_small_in_each_order(
        self, order, error, verdict, monkeypatch
    ):
        errors = tuple(error if d == order else 0.0 for d in (2, 3, 4))
        monkeypatch.setattr(section_5_2, "windows", lambda evidence: [outcome(errors=errors)] * 3)
        found = section_5_2.low_rank(None)
        assert found.verdict is verdict
        if verdict is FAILS:
            assert found.value == error
        assert f"order {order}: {error:.3g}" in found.text

    @pytest.mark.parametrize(("moved", "verdict"), [(0.1, HOLDS), (0.09, FAILS)])
    def test_the_last_run_is_to_go_a_tenth_of_the_way(self, moved, verdict, monkeypatch):
        monkeypatch.setattr(section_5_2, "windows", lambda evidence: [outcome(moved=moved)] * 3)
        found = section_5_2.last_step(None)
        assert (found.value, found.verdict) == (moved, verdict)

    def test_each_run_begins_where_the_one_before_ended(self, monkeypatch):
        """Lines in the plane: the runs end at 0.1, 0.2 and 0.3, ascent at 0.6."""
        begun = []

        class Run:
            def __init__(self, angle):
                self.point, self.metrics = line(angle), {"relative_error": 0.25}

            def advance(self, steps):
                ends = {1000: 0.1 * len(begun), 200: 0.3, 300: 0.6}
                self.point = line(ends[steps])
                return self

        def begin(name, made, seed, start=None, /, **options):
            if name == "spgd":
                begun.append((made[1:], None if start is None else start.tolist()))
            return Run(0.1 * (len(begun) - 1))

        monkeypatch.setattr(section_5_2, "window", lambda *given: given)
        monkeypatch.setattr(section_5_2, "begin", begin)
        monkeypatch.setattr(
            section_5_2, "portfolios", lambda low, Q, full: ({"full": full}, {"Q": Q})
        )
        section_5_2.outcome.cache_clear()
        found = section_5_2.outcome(1968, 5)
        section_5_2.outcome.cache_clear()
        assert begun == [
            ((2, 15, 5), None), ((3, 15, 5), line(0.1).tolist()), ((4, 15, 5), line(0.2).tolist())
        ]  # fmt: skip
        assert found.moved == pytest.approx(sin(0.1) / sin(0.4))
        assert found.errors == (0.25,) * 3
        assert found.rows["full"] == (1968, 2, 30, 5)
        assert found.curves["Q"] == pytest.approx(line(0.3))

    def test_portfolios_are_of_the_low_rank_all_moments_and_equal_weights(self):
        def made(value, size):
            def measure(solution):
                assert solution.point.shape == size
                return {"m2": value}

            curve = Curve([1, 2, 3], [0.0, 0.0, 33.1], "", "")
            shown = {"equal weights": curve, "low rank": curve}
            return SimpleNamespace(measure=measure, exhibits=lambda solution: shown)

        Q = np.eye(30, 15)
        rows, curves = section_5_2.portfolios(made(1, (30, 15)), Q, made(2, (30, 30)))
        assert (rows["low rank"]["m2"], rows["sample"]["m2"]) == (1, 2)
        assert rows["equal"]["annual_return"] == pytest.approx(10, rel=1e-5)
        assert curves["low rank"] == pytest.approx([0, 0, 33.1])

    def test_the_picture_is_of_the_last_window(self, monkeypatch):
        def made(split, seed):
            assert (split, seed) == (section_5_2.SPLITS[-1], 0)
            return outcome(curves={"low rank": np.array([1.0, 5.0])})

        monkeypatch.setattr(section_5_2, "outcome", made)
        (one,) = section_5_2.draw(Written()).draw(("30 industries",)).series
        assert (one.x.tolist(), one.y.tolist()) == ([1, 2], [1, 5])


class TestSection2:
    @pytest.mark.parametrize(("error", "verdict"), [(0.29, HOLDS), (0.31, FAILS)])
    def test_the_bound_of_hoevd_is_the_root_of_the_order(self, error, verdict, monkeypatch):
        """Of squared errors, so a factor of 3 and of 4."""
        monkeypatch.setattr(section_2, "best_known", lambda T, rank, seed: (error, 0.1))
        found = section_2.hoevd_bound(Written())
        assert found.value == pytest.approx(sqrt(10 * error / 3))
        assert found.verdict is verdict

    def test_ascents_begin_at_hoevd_and_at_random_points(self, monkeypatch):
        monkeypatch.setattr(section_2, "STARTS", 2)
        begun = []

        def begin(name, made, seed, **options):
            begun.append((name, seed, options))
            return SimpleNamespace(
                advance=lambda steps: SimpleNamespace(metrics={"gap": seed + steps})
            )

        monkeypatch.setattr(section_2, "begin", begin)
        assert section_2.ascents(None, 5, "gap") == [3005, 3005, 3006]
        assert begun == [
            ("pgd", 5, {}), ("pgd", 5, {"start": "random"}), ("pgd", 6, {"start": "random"})
        ]  # fmt: skip

    def test_the_best_known_is_the_least_of_all(self, monkeypatch):
        monkeypatch.setattr(section_2, "ascents", lambda *_: [0.5, 0.2, 0.4])
        T = np.einsum("i,j,k->ijk", *np.eye(3)[[0, 0, 0]])
        hoevd, best = section_2.best_known(T, 1, 0)
        assert hoevd == pytest.approx(0, abs=1e-12)
        assert best == hoevd

    @pytest.mark.parametrize(("gradient", "verdict"), [(1e-6, HOLDS), (0.9e-6, FAILS)])
    def test_a_critical_point_has_no_gradient(self, gradient, verdict):
        found = section_2.hoevd_is_not_critical(Written(lambda *_: gradient))
        assert (found.value, found.verdict) == (gradient, verdict)

    @pytest.mark.parametrize(
        ("values", "reached"),
        [([1, 1, 0.5], True), ([1 - 0.9e-8, 1, 0], True), ([1 - 1.1e-8, 1, 0], False)],
    )
    def test_ascent_from_hoevd_is_compared_with_the_best(self, values, reached, monkeypatch):
        monkeypatch.setattr(section_2, "ascents", lambda *_: values)
        found = section_2.hoevd_attracts(Written(seeds=range(10)))
        assert (found.value, found.verdict) == ((1, HOLDS) if reached else (0, FAILS))
        assert "start 0.50" in found.text


class TestSection6:
    @pytest.mark.parametrize(("sign", "value"), [(1, 0.8893), (-1, -1.0954)])
    def test_the_tensor_has_the_eigenvalues_that_others_found(self, sign, value):
        """Kolda and Mayo 2011, "Shifted power method", Table 1: the largest and the least."""
        entries = section_6.KOFIDIS_REGALIA
        T = np.empty((3,) * 4)
        for at in np.ndindex(T.shape):
            T[at] = sign * entries[tuple(sorted(at))]
        X = np.random.default_rng(0).standard_normal((3, 60))
        for _ in range(400):
            X = np.einsum("abcd,bi,ci,di->ai", T, X, X, X, optimize=True) + 2 * X
            X /= np.linalg.norm(X, axis=0)
        values = np.einsum("abcd,ai,bi,ci,di->i", T, X, X, X, X, optimize=True)
        assert sign * values.max() == pytest.approx(value, abs=6e-5)

    class Run:
        """A run whose point is on the line of a tensor of rank 1, turned by given angles."""

        def __init__(self, angles):
            self.angles = iter(angles)
            self.point = line(next(self.angles))

        def advance(self, steps):
            self.point = line(next(self.angles, 0.0))
            return self

    T = np.einsum("i,j,k->ijk", *np.eye(2)[[0, 0, 0]])

    @pytest.mark.parametrize(
        ("angles", "verdict"), [((0.3, 0.2, 0.1), HOLDS), ((0.3, 0.2, 0.2001, 0.1), FAILS)]
    )
    def test_one_step_that_lowers_the_objective_refutes(self, angles, verdict, monkeypatch):
        made = [(self.T, self.Run(angles))]
        monkeypatch.setattr(section_6, "ascents", lambda evidence: made)
        found = section_6.monotone(None)
        assert found.verdict is verdict
        if verdict is FAILS:
            # the objective of a line at an angle is the sixth power of its cosine
            assert found.value == pytest.approx(cos(0.2001) ** 6 - cos(0.2) ** 6)

    @pytest.mark.parametrize(("angle", "verdict"), [(1e-9, HOLDS), (1e-7, FAILS)])
    def test_ascent_ends_at_a_critical_point(self, angle, verdict, monkeypatch):
        made = [(self.T, self.Run((0.5, angle)))]
        monkeypatch.setattr(section_6, "ascents", lambda evidence: made)
        assert section_6.convergent(None).verdict is verdict

    @pytest.mark.parametrize(("angle", "verdict"), [(0.0, HOLDS), (1.4, FAILS)])
    def test_ascent_ends_where_all_curvatures_are_negative(self, angle, verdict, monkeypatch):
        made = [(self.T, self.Run((0.5, angle)))]
        monkeypatch.setattr(section_6, "ascents", lambda evidence: made)
        found = section_6.second_order(None)
        assert (abs(found.value), found.verdict) == (pytest.approx(1), verdict)

    @pytest.mark.parametrize(
        "check", [section_6.monotone, section_6.convergent, section_6.second_order]
    )
    def test_ascents_of_random_tensors_do_all_that(self, check):
        assert check(Written(seeds=range(1))).verdict is HOLDS
