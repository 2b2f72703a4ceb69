"""What the checks and pictures of Arora, Cotter and Srebro (2013) make of numbers written down."""

from itertools import cycle
from types import SimpleNamespace

import numpy as np
import pytest
from orthobench_papers.msg_2013 import (
    MSG_2013,
    algorithm_2,
    figure_1,
    figure_2,
    figure_3_cost,
    orthogonal,
    section_5_2,
    theorem_1,
    updates,
)
from written import Written, run_of

from orthobench.registry.claims import Verdict

HOLDS, FAILS = Verdict.HOLDS, Verdict.FAILS
CLAIMS = {claim.name: claim for claim in MSG_2013.claims}
SURELY = range(40)
"""Seeds that are enough to tell a share of one from a half, or from nine tenths."""


def best(k):
    """Return the share of the variance in the first k directions, a geometric series."""
    return (1 - 1.1**-k) / (1 - 1.1**-32)


def gap(k):
    """Return what the best k directions have more than the next best k."""
    return (1 - 1 / 1.1) / (1 - 1.1**-32) * (1.1 ** (1 - k) - 1.1**-k)


class TestTheOrthogonalDistribution:
    def test_its_probabilities_fall_by_a_tenth(self):
        p = orthogonal.probabilities()
        assert p[:-1] / p[1:] == pytest.approx(np.full(31, 1.1))
        assert p.cumsum() == pytest.approx([best(k) for k in range(1, 33)])

    @pytest.mark.parametrize("k", [1, 2, 4])
    def test_half_of_what_the_second_best_misses(self, k):
        assert orthogonal.half_gap(k) == pytest.approx(gap(k) / 2)

    def test_what_is_missed_is_the_variance_outside(self):
        between = np.zeros((32, 1))
        between[:2, 0] = 0.6, 0.8
        p = best(1), best(2) - best(1)
        assert orthogonal.missed(between) == pytest.approx(0.64 * (p[0] - p[1]))


class TestTheorem1:
    @pytest.mark.parametrize(
        ("name", "factor"), [("theorem-1-as-printed", 0.5), ("theorem-1-corrected", 1)]
    )
    @pytest.mark.parametrize(("times", "verdict"), [(0, HOLDS), (1 - 1e-9, HOLDS), (1.001, FAILS),
                                                    (-1e-9, FAILS)])  # fmt: skip
    def test_the_excess_is_compared_with_the_root_of_k_over_t(self, name, factor, times, verdict):
        written = Written(lambda *_: times * factor / np.sqrt(1000))
        found = CLAIMS[name].check(written)
        assert (found.verdict, found.value) == (verdict, pytest.approx(times * factor))
        assert {problem for _, problem, _ in written.asked} == {"k=1", "k=2", "k=4"}

    def test_rounding_is_measured_by_sums_along_the_run(self, monkeypatch):
        class Run:
            point, taken = np.eye(32, 1), 0

            def advance(self, steps=1):
                self.taken += steps
                return self

        run = Run()
        monkeypatch.setattr(theorem_1, "begin", lambda *_, **options: run)
        even = np.diag([0.5, 0.5, *[0.0] * 30])
        monkeypatch.setattr(theorem_1, "iterate", lambda run: even)
        assert theorem_1._rounded(1, 0) == pytest.approx(2 * 1.1 / 2.1)
        assert run.taken == theorem_1.SETTLED + theorem_1.DRAWS

    @pytest.mark.parametrize(
        ("ratio", "verdict"), [(0.98, HOLDS), (1.02, HOLDS), (0.979, FAILS), (1.021, FAILS)]
    )
    def test_rounding_may_change_the_mean_by_two_percent(self, ratio, verdict, monkeypatch):
        monkeypatch.setattr(theorem_1, "_rounded", lambda k, seed: ratio)
        assert theorem_1.rounding(Written()).verdict is verdict


class TestAlgorithm2:
    def test_spectra_are_those_of_iterates_of_trace_k_and_a_sample_more(self, monkeypatch):
        monkeypatch.setattr(algorithm_2, "STEPS", 12)
        found = algorithm_2.spectra(0)
        assert len(found) == 12
        oracle = algorithm_2.instance("digits", 0, k=4).oracle
        oracle.prepare(12)
        norms = (oracle.take(12) ** 2).sum(axis=1)
        traces = [values @ counts for values, counts in found]
        assert traces == pytest.approx(4 + norms / np.sqrt(np.arange(1, 13)), abs=1e-8)
        assert all(counts.sum() == oracle.n for _, counts in found)

    def test_its_corrected_form_finds_the_shift_of_any_spectrum(self):
        for seed in range(40):
            rng = np.random.default_rng(seed)
            n, k = int(rng.integers(3, 8)), int(rng.integers(1, 3))
            values = np.sort(rng.choice(30, n, replace=False)) / rng.choice([10, 20])
            counts = rng.integers(1, 4, n).astype(float)
            S = algorithm_2.shift(values, counts, k, printed=False)
            assert counts @ np.clip(values + S, 0, 1) == pytest.approx(k), seed
            assert algorithm_2.finds(values, counts, k, printed=False), seed

    def test_there_is_none_where_all_eigenvalues_are_too_few(self):
        assert algorithm_2.shift(np.array([0.5]), np.ones(1), 2, printed=False) is None
        assert not algorithm_2.finds(np.array([0.5]), np.ones(1), 2, printed=False)

    @pytest.mark.parametrize(("share", "verdict"), [(1, HOLDS), (0, FAILS)])
    def test_every_spectrum_counts(self, share, verdict, monkeypatch):
        monkeypatch.setattr(algorithm_2, "spectra", lambda seed: [(np.ones(1), np.ones(1))] * 3)
        monkeypatch.setattr(algorithm_2, "finds", lambda *_: bool(share))
        found = algorithm_2.always_finds(Written(), printed=False)
        assert (found.value, found.verdict) == (share, verdict)


class TestUpdates:
    def test_few_capped_steps_are_the_best_of_all_subsets(self, monkeypatch):
        monkeypatch.setattr(updates, "STEPS", 15)
        found = CLAIMS["capped-projection-is-a-subset"].check(Written(seeds=range(1)))
        assert 0 < found.value < 1e-12

    def test_the_capped_step_keeps_the_eigenvalues_that_are_nearest(self):
        """Of these the four largest, shifted down by a quarter each to sum to three."""
        M = np.diag([1.0, 1, 1, 0, 0, 0, 0, 0])
        G = np.diag([0.0, 0, 0, 0.5, 0.1, 0.05, 0, 0])
        found = np.diag(updates.capped_step(M, G))
        assert found == pytest.approx([0.875, 0.875, 0.875, 0.375, 0, 0, 0, 0])

    @pytest.mark.parametrize(("deviation", "verdict"), [(1e-9, HOLDS), (1.1e-9, FAILS)])
    def test_a_deviation_is_rounding_up_to_a_bound(self, deviation, verdict, monkeypatch):
        monkeypatch.setattr(updates, "_deviation", lambda *_, **options: deviation)
        for name in ("algorithm-1-is-projected-gradient", "warmuth-kuzmin-is-mirror-descent",
                     "capped-projection-is-a-subset"):  # fmt: skip
            assert CLAIMS[name].check(Written()).verdict is verdict


class TestFigure1:
    @pytest.mark.parametrize(
        ("late", "verdict"),
        [((11, 13), HOLDS), ((17, 19), HOLDS), ((11, 12.9), FAILS), ((17, 19.1), FAILS)],
    )
    def test_the_rank_is_that_from_iteration_1000_on(self, late, verdict):
        run = run_of((0, 999, 1000, 2000), rank=(0.0, 99.0, *map(float, late)))
        found = figure_1.rank(Written(records=lambda *_: [run] * 2))
        assert (found.value, found.verdict) == (pytest.approx(np.mean(late)), verdict)

    @pytest.mark.parametrize(("ranks", "verdict"), [((1, 2, 1, 2), HOLDS), ((1, 3), FAILS),
                                                    ((2, 2), FAILS)])  # fmt: skip
    def test_an_update_may_add_one_to_the_rank_also_the_first(self, ranks, verdict, monkeypatch):
        D = np.array([[0.5] * rank + [0.0] * (4 - rank) for rank in ranks])
        monkeypatch.setattr(figure_1, "_eigenvalues", lambda evidence: [D] * 3)
        assert figure_1.grows_by_one(None).verdict is verdict

    @pytest.mark.parametrize(("value", "share", "verdict"), [(0.0999, 1, HOLDS), (0.1, 0, FAILS)])
    def test_an_eigenvalue_below_a_tenth_is_very_small(self, value, share, verdict, monkeypatch):
        D = np.array([[0.9] * 4 + [value, 0.0]] * (figure_1.SETTLED + 1))
        monkeypatch.setattr(figure_1, "_eigenvalues", lambda evidence: [D] * 3)
        found = figure_1.small(None)
        assert (found.value, found.verdict) == (share, verdict)

    @pytest.mark.parametrize(("stay", "verdict"), [(10, HOLDS), (11, FAILS)])
    def test_a_handful_of_iterations_is_ten(self, stay, verdict, monkeypatch):
        before, after = figure_1.SETTLED + 1, 3
        inside = np.repeat([0.0, 0.1, 0.0], [before, stay, after])
        monkeypatch.setattr(figure_1, "_eigenvalues", lambda evidence: [inside[:, None]] * 3)
        found = figure_1.leave(None)
        assert (found.value, found.verdict) == (stay, verdict)

    @pytest.mark.parametrize(("quick", "runs", "steps"), [(True, 2, 3000), (False, 10, 10_000)])
    def test_claims_are_about_runs_with_steps_of_one_over_the_root(
        self, quick, runs, steps, monkeypatch
    ):
        monkeypatch.setattr(figure_1, "eigenvalues", lambda *given: given)
        found = figure_1._eigenvalues(Written(quick=quick, seeds=range(4, 99)))
        assert found == [(seed, steps, 1.0) for seed in range(4, 4 + runs)]

    @pytest.mark.parametrize("c", [0.5, 1.0])
    def test_steps_are_c_over_the_root_of_t_until_the_trace_is_k(self, c):
        D = figure_1.eigenvalues(3, 40, c)
        sums = np.minimum(4, c * np.cumsum(1 / np.sqrt(np.arange(1, 41))))
        once = (D.max(axis=1) < 1).cumprod().astype(bool)
        assert D.sum(axis=1)[once] == pytest.approx(sums[once])
        assert D[0].max() == pytest.approx(c)
        assert D.sum(axis=1)[-1] == pytest.approx(4)

    @pytest.mark.parametrize("quick", [True, False])
    def test_the_picture_shows_ranks_and_eigenvalues_in_order(self, quick, monkeypatch):
        def eigenvalues(seed, steps, c):
            assert (seed, steps) == (4, 3000 if quick else 10_000)
            t, i = np.arange(1, steps + 1)[:, None], np.arange(32)
            return np.where(i < np.minimum(t, 20) / c, (i + 1) / (100 * t), 0.0)

        monkeypatch.setattr(figure_1, "eigenvalues", eigenvalues)
        plot = figure_1.draw(Written(quick=quick, seeds=range(4, 9)))
        ranks, spectrum = plot.draw(("rank",)), plot.draw(("eigenvalues",))
        first, second, printed = ranks.series
        assert first.y.tolist() == np.minimum(first.x, 20).tolist()
        assert second.y.tolist() == np.ceil(np.minimum(second.x, 20) / 2).tolist()
        assert printed.x.tolist() == [1, 3000 if quick else 10_000]
        assert printed.y.tolist() == [15, 15]
        for line, i in zip(spectrum.series, (1, 2, 3, 4, 5, 6, 8, 11, 15), strict=True):
            count = np.minimum(line.x, 20)
            expected = np.where(i <= count, (count - i + 1) / (100 * line.x), 0)
            assert line.y == pytest.approx(expected)


class TestFigure2:
    @pytest.mark.parametrize("beyond", [False, True])
    @pytest.mark.parametrize(
        ("name", "ks"), [("incremental-sticks", (1, 4)), ("incremental-escapes-for-k-2", (2,))]
    )
    def test_a_run_is_stuck_where_it_misses_more_than_half_of_the_gap(self, name, ks, beyond):
        def finals(suite, problem, solver, value):
            return orthogonal.half_gap(int(problem[-1])) + 1e-9 * (beyond - 0.5)

        found = CLAIMS[name].check(written := Written(finals, seeds=range(10)))
        holds = beyond == (name == "incremental-sticks")
        assert (found.value, found.verdict) == (float(holds), HOLDS if holds else FAILS)
        assert {problem for _, problem, _ in written.asked} == {f"orthogonal k={k}" for k in ks}
        assert len(written.asked) == 2 * len(ks)

    @pytest.mark.parametrize(
        ("share", "verdict"),
        [(0.1 - 1e-9, HOLDS), (0.101, FAILS), (-1e-13, HOLDS), (-1e-11, FAILS)],
    )
    def test_others_end_at_a_tenth_of_what_a_random_subspace_misses(self, share, verdict):
        def finals(suite, problem, solver, value):
            k = int(problem[-1])
            return share * (best(k) - k / 32)

        found = figure_2.others_converge(Written(finals))
        assert (found.value, found.verdict) == (pytest.approx(share), verdict)

    @pytest.mark.parametrize(
        ("check", "solver", "ratio", "verdict"),
        [
            (figure_2.others_similar, "warmuth-kuzmin", 1.5, HOLDS),
            (figure_2.others_similar, "warmuth-kuzmin", 1.501, FAILS),
            (figure_2.others_similar, "warmuth-kuzmin", 1 / 1.5, HOLDS),
            (figure_2.others_similar, "warmuth-kuzmin", 0.66, FAILS),
            (figure_2.capped_behind, "capped-msg", 1.5, HOLDS),
            (figure_2.capped_behind, "capped-msg", 1.501, FAILS),
            (figure_2.capped_behind, "capped-msg", 0.0, HOLDS),
        ],
    )
    def test_averages_over_the_run_are_compared(self, check, solver, ratio, verdict):
        def records(suite, problem, named):
            middle = ratio if named == solver else 1.0
            return [run_of((0, 10, 20), suboptimality=(middle / 2, middle, 1.5 * middle))] * 2

        found = check(written := Written(records=records))
        assert (found.value, found.verdict) == (pytest.approx(ratio), verdict)
        assert {problem[-1] for _, problem, _ in written.asked} == {"1", "2", "4"}

    def test_the_picture_has_the_four_methods_from_the_first_sample_on(self):
        run = run_of((0, 1, 10), suboptimality=(0.9, 0.5, 0.25))
        plot = figure_2.draw(Written(records=lambda *_: [run] * 2))
        for key in ("k=1", "k=2", "k=4"):
            lines = plot.draw((key,)).series
            assert [line.label for line in lines] == ["incremental-pca", *figure_2.OTHERS]
            for line in lines:
                assert (line.x.tolist(), line.y.tolist()) == ([1, 10], [0.5, 0.25])


MISSES = [
    ("incremental-makes-the-most-progress", 1, 0.999, (1, 4, 8)),
    ("msg-is-comparable-to-incremental", 1.5, 1.501, (1, 4, 8)),
    ("capped-msg-is-comparable-to-incremental", 1.5, 1.501, (1, 4, 8)),
    ("warmuth-kuzmin-fares-well-for-k-1", 1.5, 1.501, (1,)),
    ("warmuth-kuzmin-drops", 1.5, 1.499, (4, 8)),
    ("warmuth-kuzmin-drops-per-feature", 1.5, 1.499, (4, 8)),
    ("grassmannian-beats-warmuth-kuzmin", 1, 1.001, (4, 8)),
    ("grassmannian-is-behind", 1 / 1.3, 0.77, (1, 4, 8)),
    ("grassmannian-is-behind-per-feature", 1 / 1.3, 0.77, (1, 4, 8)),
    ("per-feature-normalization", 1, 0.999, (1, 4, 8)),
]
"""The ratio at which a claim of Figure 3 just holds, one at which it fails, and its k."""


@pytest.mark.parametrize(("name", "just", "beyond", "ks"), MISSES)
def test_what_methods_miss_is_compared_at_the_bounds(name, just, beyond, ks):
    details = CLAIMS[name].check.keywords

    def finals(suite, problem, solver, value):
        assert value == "suboptimality"
        return 2.0 if solver == details["other"] else 2 * ratio

    for ratio, verdict in ((just, HOLDS), (beyond, FAILS)):
        found = CLAIMS[name].check(written := Written(finals))
        assert (found.value, found.verdict) == (pytest.approx(ratio), verdict)
        assert {(s, p) for s, p, _ in written.asked} == {
            (CLAIMS[name].suites[0], f"mnist k={k}") for k in ks
        }
        assert {s for *_, s in written.asked} == {*details["solvers"], details["other"]}


COSTS = [
    ("incremental-is-the-fastest", 1.001, 0.999, (1, 4, 8)),
    ("msg-costs-more", 1.001, 0.999, (1, 4, 8)),
    ("msg-costs-slightly-more", 1.001, 0.999, (1, 4, 8)),
    ("msg-costs-slightly-more", 1.999, 2.001, (1, 4, 8)),
    ("capped-msg-is-significantly-faster", 2.001, 1.999, (1, 4, 8)),
    ("capped-msg-is-almost-as-fast", 1.001, 0.999, (1, 4, 8)),
    ("capped-msg-is-almost-as-fast", 2.499, 2.501, (1, 4, 8)),
    ("warmuth-kuzmin-has-a-larger-rank", 1.001, 0.999, (4, 8)),
]
"""The same of the estimated runtime."""


class TestFigure3Cost:
    @pytest.mark.parametrize(("name", "just", "beyond", "ks"), COSTS)
    def test_runtimes_to_the_end_are_compared_at_the_bounds(self, name, just, beyond, ks):
        details = CLAIMS[name].check.keywords

        def records(suite, problem, solver):
            """Return runs with eigenproblems of size 8, but for the end of the others' runs."""
            last = 8.0 if solver == details["other"] else np.sqrt(256 * ratio - 192)
            return [run_of((0, 10, 20, 40), rank=(7.0, 7.0, 7.0, last - 1))] * 2

        for ratio, verdict in ((just, HOLDS), (beyond, FAILS)):
            found = CLAIMS[name].check(written := Written(records=records))
            assert (found.value, found.verdict) == (pytest.approx(ratio), verdict)
            assert {p for _, p, _ in written.asked} == {f"mnist k={k}" for k in ks}

    @pytest.mark.parametrize(
        ("at", "ranks", "costs"),
        [((0, 10), (0.0, 1.0), [40]), ((0, 10, 20, 40), (0.0, 1.0, 2.0, 4.0), [40, 105, 445])],
    )
    def test_squares_are_summed_by_trapezia(self, at, ranks, costs):
        found = figure_3_cost.runtime([run_of(at, rank=ranks)], 9)
        assert found.tolist() == [costs]

    @pytest.mark.parametrize(("mean", "verdict"), [(78.4, HOLDS), (78.5, FAILS)])
    def test_a_low_rank_is_a_tenth_of_the_pixels_in_the_mean_over_samples(self, mean, verdict):
        run = run_of((0, 10, 40), rank=(500.0, mean + 3, mean - 1))
        found = figure_3_cost.low_rank(Written(records=lambda *_: [run] * 2))
        assert (found.value, found.verdict) == (pytest.approx(mean), verdict)

    @pytest.mark.parametrize(("share", "verdict"), [(0.5, HOLDS), (0.499, FAILS)])
    def test_flops_of_a_step_are_compared_with_half_of_those_of_pca(self, share, verdict):
        def finals(suite, problem, solver, value):
            return {"batch-pca": 800, "warmuth-kuzmin": 800 * share * 5}[solver] if (
                value == "flops"
            ) else 5  # fmt: skip

        found = figure_3_cost.as_much_as_erm(Written(finals))
        assert (found.value, found.verdict) == (pytest.approx(share), verdict)

    def test_the_picture_is_against_samples_and_against_runtime(self):
        def records(suite, problem, solver):
            ranks = {"rank": (0.0, 2.0, 2.0)} if "msg" in solver or "warm" in solver else {}
            return [run_of((0, 1, 11), solver=solver, suboptimality=(9.0, 5.0, 4.0), **ranks)] * 2

        plot = figure_3_cost.draw(Written(records=records))
        for k in (1, 4, 8):
            for axis in ("iterations", "runtime"):
                lines = plot.draw((f"{axis}, k={k}",)).series
                squares = [(k + 1) ** 2, 9, 9, 9, k**2] if axis == "runtime" else [1] * 5
                for line, square in zip(lines, squares, strict=True):
                    assert line.x.tolist() == [square, 11 * square]
                    assert line.y.tolist() == [5, 4]


class TestSection52:
    @pytest.mark.parametrize("beyond", [False, True])
    def test_a_run_has_left_the_trap_below_half_of_what_it_misses_there(self, beyond):
        gaps = (4 / 3 - 1) / 2 + 1e-9 * (beyond - 0.5)
        found = section_5_2.leaves_the_trap(Written(lambda *_: gaps, seeds=SURELY))
        assert (found.value, found.verdict) == ((0, FAILS) if beyond else (1, HOLDS))

    @pytest.mark.parametrize("beyond", [False, True])
    def test_a_run_does_not_stick_below_half_of_the_gap(self, beyond):
        def finals(suite, problem, solver, value):
            return gap(int(problem[-1])) / 2 * (1 + 1e-9 * (beyond - 0.5))

        found = section_5_2.never_stuck(written := Written(finals, seeds=SURELY))
        assert (found.value, found.verdict) == ((0, FAILS) if beyond else (1, HOLDS))
        assert {problem for _, problem, _ in written.asked} == {"k=1", "k=2", "k=4"}

    def test_nine_tenths_are_needed(self):
        half = np.repeat([0.0, 1.0], 20)
        for check in (section_5_2.leaves_the_trap, section_5_2.never_stuck):
            found = check(Written(lambda *_: half, seeds=SURELY))
            assert (found.value, found.verdict) == (0.5, FAILS)

    @pytest.mark.parametrize(("stuck", "verdict"), [(True, HOLDS), (False, FAILS)])
    def test_most_runs_without_a_spare_direction_are_stuck(self, stuck, verdict, monkeypatch):
        def ends_stuck(k, seed, steps):
            assert steps == (3000 if quick else 10_000)
            return stuck

        monkeypatch.setattr(section_5_2, "_ends_stuck", ends_stuck)
        for quick in (True, False):
            written = Written(quick=quick, seeds=SURELY)
            found = section_5_2.without_a_spare_direction(written)
            assert (found.value, found.verdict) == (stuck, verdict)

    @pytest.mark.parametrize(("axes", "stuck"), [((0, 1), False), ((0, 2), True)])
    def test_the_end_is_stuck_at_the_second_best(self, axes, stuck, monkeypatch):
        class Run:
            point = np.eye(32)[:, axes]

            def advance(self, steps):
                return self

        monkeypatch.setattr(section_5_2, "begin", lambda *_, **options: Run())
        assert section_5_2._ends_stuck(2, 0, 1) == stuck

    @pytest.mark.parametrize(
        ("trapped", "of", "verdict"), [(5, 9, HOLDS), (3, 5, FAILS), (1, 2, FAILS)]
    )
    def test_five_runs_of_nine_end_in_the_trap(self, trapped, of, verdict, monkeypatch):
        ends = cycle([1 / 6 + 1e-9] * trapped + [1 / 6 - 1e-9] * (of - trapped))

        class Run:
            def __init__(self, *_):
                self.metrics = {"suboptimality": next(ends)}

            def advance(self, steps):
                return self

        oracle = SimpleNamespace(rewind=lambda rng: None)
        solver = SimpleNamespace(init=lambda oracle, rng: None)
        monkeypatch.setattr(section_5_2, "instance", lambda *_: SimpleNamespace(oracle=oracle))
        monkeypatch.setattr(
            section_5_2, "catalogue", lambda: SimpleNamespace(solver=lambda name: solver)
        )
        monkeypatch.setattr(section_5_2, "DrivenRun", Run)
        found = section_5_2.five_ninths(Written())
        assert "8000 runs" in found.text
        assert (found.value, found.verdict) == (pytest.approx(trapped / of, abs=1e-3), verdict)
