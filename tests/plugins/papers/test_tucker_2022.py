"""The claims of Jin, Kileel, Kolda and Ward (2022): formulae, and red if a solver breaks."""

import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
from orthobench_papers.runs import final_ratios
from orthobench_papers.tucker_2022 import (
    dense,
    figure_2,
    grassmann,
    section_5_1,
    section_5_2,
    section_6,
    table_1,
    table_2,
)
from orthobench_papers.tucker_2022.section_5_1 import Scene
from orthobench_papers.tucker_2022.section_5_2 import Outcome

import orthobench as ob
from orthobench.contract.exhibits import Curve
from orthobench.registry.claims import Verdict
from orthobench.registry.plugins import catalogue
from orthobench.registry.suite_file import load
from orthobench.reproduce.check import check, select
from orthobench.reproduce.runs import Runs
from orthobench.tools.geometry import random_point

paper_of = catalogue().paper


def found(names, folder, **options):
    """Check the claims of these names, and return the results by name."""
    runs = Runs(paper_of("tucker-2022"), folder, "quick", quiet=True, **options)
    return {one.claim.name: one for one in check(select(paper_of("tucker-2022"), names), runs)}


class TestFormulae:
    """The formulae that solvers are compared with are right themselves."""

    @pytest.mark.parametrize("order", [2, 3, 4])
    def test_the_moment_is_the_mean_of_powers(self, order):
        X = np.random.default_rng(order).standard_normal((4, 7))
        powers = list(X.T)
        for _ in range(order - 1):
            powers = [np.multiply.outer(T, x) for T, x in zip(powers, X.T, strict=True)]
        np.testing.assert_allclose(dense.moment(X, order), np.mean(powers, axis=0), atol=1e-14)

    def test_products_are_those_of_einsum(self):
        rng = np.random.default_rng(0)
        T, A, B = (
            dense.symmetric(4, 3, rng), rng.standard_normal((4, 2)), rng.standard_normal((4, 3)),
        )  # fmt: skip
        np.testing.assert_allclose(
            dense.multiplied(T, np.eye(4), A, B), np.einsum("abc,bi,cj->aij", T, A, B), atol=1e-13
        )
        S = rng.standard_normal((5, 2, 3))
        inner = dense.inner_but_first(dense.multiplied(T, np.eye(4), A, B), S)
        np.testing.assert_allclose(inner, np.einsum("abc,bi,cj,kij->ak", T, A, B, S), atol=1e-13)

    def test_a_geodesic_is_orthonormal_and_begins_along_its_tangent(self):
        rng = np.random.default_rng(1)
        Q = random_point(6, 2, rng)
        for D in grassmann.tangents(Q):
            end = grassmann.geodesic(Q, D, 0.1)
            np.testing.assert_allclose(end.T @ end, np.eye(2), atol=1e-13)
            step = grassmann.projector(grassmann.geodesic(Q, D, 1e-6)) - grassmann.projector(Q)
            np.testing.assert_allclose(step / 1e-6, D, atol=1e-5)

    def test_components_equal_the_tucker_decomposition(self):
        rng = np.random.default_rng(2)
        X = rng.standard_normal((8, 300))
        instance, Q = ob.symmetric_tucker(X.T, order=4, rank=3), random_point(8, 3, rng)
        made = table_2.as_components(instance, Q, rng)
        T = np.einsum("i,ai,bi,ci,di->abcd", made.weights, *[made.point] * 4)
        C = dense.core(dense.moment(X, 4), Q)
        np.testing.assert_allclose(T, dense.multiplied(C, *[Q.T] * 4), atol=1e-10)

    def test_the_rows_of_table_3_come_from_cumulative_returns(self):
        y = np.random.default_rng(3).standard_normal(700)
        rows = section_5_2.statistics(100 * (np.cumprod(1 + y / 100) - 1))
        assert rows["annual_return"] == pytest.approx(100 * (np.prod(1 + y / 100) ** (1 / 3) - 1))
        for d in (2, 3, 4):
            assert rows[f"m{d}"] == pytest.approx(np.mean((y - y.mean()) ** d))

    def test_detection_rates_sum_up_to_the_area_under_the_curve(self):
        from sklearn.metrics import roc_auc_score

        rng = np.random.default_rng(4)
        Z, anomalies = rng.standard_normal((500, 3)) * [1, 2, 9], np.arange(500) % 9 == 0
        Z[anomalies] *= 1.5
        scores = np.einsum("ij,ij->i", Z, np.linalg.solve(Z.T @ Z, Z.T).T)
        rates = section_5_1.detected(Z, anomalies)
        assert len(rates) == np.sum(~anomalies)
        assert np.mean(rates) == pytest.approx(roc_auc_score(anomalies, scores), abs=1e-12)

    def test_lowest_takes_groups_of_five(self):
        assert list(table_2.lowest(np.arange(10.0))) == [0, 5]
        assert list(table_2.lowest(np.array([3.0, 2.0]))) == [2]


HOLDS, FAILS = Verdict.HOLDS, Verdict.FAILS


def test_overhead_is_what_the_first_gradient_does_not_explain():
    """Of order 3, for each sample and each of n³/6 entries a product and a sum, at least."""
    assert table_1.overhead(10, 40, "implicit") == table_1.streaming_overhead(50) == 0
    formed = table_1.overhead(10, 40, "explicit")
    assert 10**3 / 6 * 40 * 2 < formed < 10**3 * 40 * 3


def test_memory_is_that_of_a_run_without_its_data():
    """Ten batches of 50 samples, of which ten steps keep an iterate and the one before."""
    peaks = []
    for n in (400, 800):
        samples = np.random.default_rng(0).exponential(size=(n, 1000)) - 1
        made = ob.symmetric_tucker(samples.T, order=3, rank=5)
        peaks.append(table_1.peak_memory(made, "spgd", batch=50, hoevd_steps=0))
    assert np.diff(peaks) == pytest.approx(2 * 400 * 5, rel=0.05)
    assert not tracemalloc.is_tracing()


SCENE = Scene(
    sparse=np.array([[0.1, -5.0, 0.2], [4.0, 1.0, -3.0]]),
    anomalies=np.array([[0, 1, 0], [1, 1, 0]], dtype=bool),
    false=np.array([0.0, 0.5, 1.0]),
    true=np.array([0.0, 0.8, 1.0]),
)


def test_the_area_is_that_of_trapezia():
    assert section_5_1.area_under(SCENE) == pytest.approx(0.2 + 0.45)


def test_hits_are_anomalies_among_as_many_of_the_brightest():
    assert section_5_1.hits(SCENE) == pytest.approx(2 / 3)


def test_contrast_is_a_ratio_of_means():
    assert section_5_1.contrast(SCENE) == pytest.approx((10 / 3) / 1.1)


def outcome(low=(1, 1, 1, 1), sample=(0, 2, 2, 2), equal=(0, 3, 3, 3), **more):
    """Return the outcome of a window with the rows of its three strategies."""
    rows = {
        name: dict(zip(section_5_2.ROWS, row, strict=True))
        for name, row in (("low rank", low), ("sample", sample), ("equal", equal))
    }
    return Outcome(rows, **{"curves": {}, "errors": (0.0,) * 3, "moved": 0.5} | more)


def test_no_year_is_out_of_sample_twice():
    assert section_5_2.SPLITS[0] == 1968
    assert set(np.diff(section_5_2.SPLITS)) == {3}
    assert section_5_2.SPLITS[-1] + 2 == 2015


def test_the_preferred_score_is_the_largest_return_or_the_least_moment():
    found = outcome(low=(1, -5, 0.1, 5), sample=(2, 4, -0.2, 1), equal=(1.5, 6, 3, -0.5))
    assert [section_5_2.preferred(found, row) for row in section_5_2.ROWS] == [
        "sample", "sample", "low rank", "equal"
    ]  # fmt: skip
    assert section_5_2.preferred(outcome(low=(-1, 0, 0, 0)), "annual_return") == "sample"


@pytest.mark.parametrize(("wins", "verdict"), [(16, HOLDS), (0, FAILS)])
def test_low_rank_is_to_be_best_in_every_row_of_most_windows(wins, verdict, monkeypatch):
    made = [outcome()] * wins + [outcome(low=(1, 1, 1, 5))] * (16 - wins)
    monkeypatch.setattr(section_5_2, "windows", lambda evidence: made)
    found = section_5_2.every_row(None)
    assert (found.value, found.verdict) == (wins / 16, verdict)
    assert f"{wins / 16:.2f} (m4)" in found.text


@pytest.mark.parametrize("rival", ["low", "sample"])
@pytest.mark.parametrize(("m2", "verdict"), [(2.9, HOLDS), (3, FAILS)])
def test_equal_weights_vary_more_than_either(rival, m2, verdict, monkeypatch):
    made = [outcome(**{rival: (0, m2, 0, 0)})] * 16
    monkeypatch.setattr(section_5_2, "windows", lambda evidence: made)
    assert section_5_2.stable(None).verdict is verdict


def test_portfolios_are_of_the_low_rank_all_moments_and_equal_weights():
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


@pytest.mark.parametrize(("sign", "value"), [(1, 0.8893), (-1, -1.0954)])
def test_the_tensor_has_the_eigenvalues_that_others_found(sign, value):
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


class TestBreaks:
    """Broken solvers turn claims red."""

    def red(self, name, folder):
        return found([name], folder)[name].red

    def test_hoevd_downhill(self, tmp_path, monkeypatch):
        from orthobench_tucker import streaming

        weights = streaming.hoevd_weights
        assert not self.red("hoevd-gradient", tmp_path)
        monkeypatch.setattr(streaming, "hoevd_weights", lambda *given: -weights(*given))
        assert self.red("hoevd-gradient", tmp_path)

    def test_one_step_size_for_all_columns(self, tmp_path, monkeypatch):
        from orthobench_tucker._kernels import ascent as kernels

        def ascent(X, batch, rows, gamma, order, step, *table):
            del table
            for x in X.reshape(-1, batch, X.shape[1]):
                G = (rows @ x.T) @ (x @ rows.T @ rows @ x.T) ** (order - 1) @ x
                rows[:] = np.linalg.qr((rows + step * G / np.linalg.norm(G)).T)[0].T
            return len(X) // batch

        monkeypatch.setattr(kernels, "tucker_ascent", ascent)
        assert self.red("batch-gradient", tmp_path)
        assert self.red("algorithm-2-matches-with-adagrad", tmp_path)

    def test_trailing_eigenvectors(self, tmp_path, monkeypatch):
        from orthobench_tucker.solvers import hoevd

        found_basis = hoevd.hoevd_basis

        def trailing(oracle, form):
            Q = found_basis(oracle, form)
            return np.linalg.qr(np.hstack([Q, np.eye(oracle.n)]))[0][:, -oracle.k :]

        monkeypatch.setattr(hoevd, "hoevd_basis", trailing)
        assert self.red("implicit-hoevd", tmp_path)

    def test_a_sum_in_place_of_a_mean(self, tmp_path, monkeypatch):
        from orthobench_tucker import oracle as tucker_oracles

        formed = tucker_oracles.moment_tensor
        monkeypatch.setattr(tucker_oracles, "moment_tensor", lambda X, d: len(X) * formed(X, d))
        assert self.red("implicit-objective", tmp_path)

    def test_a_core_of_the_wrong_samples(self, tmp_path, monkeypatch):
        from orthobench_tucker.judge import DataTensor

        core = DataTensor.core
        monkeypatch.setattr(DataTensor, "core", lambda own, Q: 1.01 * core(own, Q))
        assert self.red("core-of-samples", tmp_path)


def at_the_papers_size(folder, suite, seeds):
    """Run a suite of the paper's size with few seeds."""
    moved = load(
        paper_of("tucker-2022").suites / f"{suite}.toml", catalogue(), {"seeds": list(range(seeds))}
    )
    return ob.run(moved, folder / f"{suite}.sqlite", executor="inline", quiet=True)


def medians(results, metric):
    """Return the median final value of each solver on each problem."""
    return {
        (e.problem, e.solver): np.median([r.trace[-1].metrics[metric] for r in e.records])
        for e in results.entries
    }


@pytest.mark.slow
class TestWhatThePaperDoesNotSay:
    """Numbers measured here that are no claims of the paper."""

    def test_iterations_fall_as_n_grows(self):
        steps = {}
        for n in (50, 200):
            problem = catalogue().problem("nig-factor", {"n": n, "samples": 5 * n, "test": 0})
            options = {"rule": "adagrad", "step": 1000.0, "form": "implicit"}
            runs = [ob.solve("pgd", problem, seed=seed, **options) for seed in range(5)]
            steps[n] = np.median([run.work.steps for run in runs])
        assert steps[50] > 1.3 * steps[200]
        assert steps[200] <= 6

    def test_the_errors_of_figure_3(self, tmp_path):
        streamed = medians(at_the_papers_size(tmp_path, "figure-3a", 3), "subspace_error")
        assert 0.07 < np.sqrt(2) * streamed["pool", "shoevd b=100"] < 0.11
        assert np.sqrt(2) * streamed["pool", "shoevd b=100 c=0.05"] > 2.3
        both = medians(at_the_papers_size(tmp_path, "figure-3b", 3), "subspace_error")
        assert 0.07 < np.sqrt(2) * both["pool", "spgd b=100"] < 0.11
        full = medians(at_the_papers_size(tmp_path, "figure-3-full", 2), "subspace_error")
        assert all(0.04 < np.sqrt(2) * error < 0.05 for error in full.values())
        pca = medians(at_the_papers_size(tmp_path, "figure-3-pca", 2), "subspace_error")
        assert 0.02 < np.sqrt(2) * pca["pool", "pca"] < 0.025

    def test_the_toolboxs_stopping_rule_ends_above_table_2(self):
        """One failed epoch and no least improvement: the rate falls to 0.005 only."""
        settings = {"n": 500, "samples": 10_000, "rank": 3, "true_rank": 3, "test": 0}
        problem = catalogue().problem("gaussian-factor", {**settings, "passes": 100})
        options = {"components": 27, "fails": 1, "improvement": 0.0}
        for seed in range(2):
            run = ob.solve("cp-adam", problem, seed=seed, **options)
            assert 0.05 < 100 * run.trace[-1].metrics["relative_error"] < 1

    def test_the_advantage_of_implicit_methods_is_larger_for_order_4(self, tmp_path):
        runs = Runs(paper_of("tucker-2022"), tmp_path, "quick", quiet=True)
        pair = figure_2.PGD, figure_2.IMPLICIT
        (third, *_), (*_, fourth) = (
            [
                np.median(final_ratios(runs, "figure-2", problem, pair, "flops"))
                for problem in runs.problems("figure-2", f"nig-factor order={order}")
            ]
            for order in (3, 4)
        )
        assert fourth > third > 1
