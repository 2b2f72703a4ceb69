"""The claims of Jin, Kileel, Kolda and Ward (2022): complete, and red if a solver breaks."""

import numpy as np
import pytest
from orthobench_papers.runs import final_ratios
from orthobench_papers.tucker_2022 import (
    TUCKER_2022,
    dense,
    figure_2,
    grassmann,
    section_5_1,
    section_5_2,
    table_2,
)

import orthobench as ob
from orthobench.registry.claims import Verdict
from orthobench.registry.plugins import catalogue
from orthobench.registry.suite_file import load
from orthobench.reproduce.check import check, select
from orthobench.reproduce.runs import Runs
from orthobench.tools.geometry import random_point

PRINTED = {*(f"Figure {i}" for i in range(1, 11)), "Table 1", "Table 2", "Table 3"}


def found(names, folder, **options):
    """Check the claims of these names, and return the results by name."""
    runs = Runs(TUCKER_2022, folder, quick=True, quiet=True, **options)
    return {one.claim.name: one for one in check(select(TUCKER_2022, names), runs)}


class TestPaper:
    def test_every_figure_and_table_has_a_claim(self):
        sources = {part.strip() for c in TUCKER_2022.claims for part in c.source.split(",")}
        assert sources >= PRINTED

    def test_every_plot_of_the_paper_has_a_picture(self):
        drawn = {picture.source for picture in TUCKER_2022.pictures}
        assert drawn == {"Figure 2", "Figure 3", "Figure 4", "Figure 5", "Figure 8", "Figure 9",
                         "Table 2"}  # fmt: skip

    def test_claims_of_two_tables_cannot_be_tested(self):
        untestable = [c for c in TUCKER_2022.claims if c.check is None]
        assert {c.source for c in untestable} == {"Table 2", "Table 3"}


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
        instance, Q = ob.symmetric_tucker(samples=X, order=4, rank=3), random_point(8, 3, rng)
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


FAST = (
    "best-core", "gradient", "implicit-objective", "batch-gradient", "batch-gradient-as-printed",
    "hoevd-gradient", "implicit-hoevd", "core-of-samples", "objective-value",
    "objective-value-corrected", "one-update-a-subspace", "riemannian-gradient",
    "first-order-change",
)  # fmt: skip


@pytest.mark.wide
def test_identities_are_as_published(tmp_path):
    for name, one in found(FAST, tmp_path).items():
        assert not one.error, (name, one.error)
        assert one.measurement.verdict is one.claim.known, (name, one.measurement)


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
        from orthobench_tucker import streaming_kernels

        def ascent(X, batch, rows, gamma, order, step, *table):
            del table
            for x in X.reshape(-1, batch, X.shape[1]):
                G = (rows @ x.T) @ (x @ rows.T @ rows @ x.T) ** (order - 1) @ x
                rows[:] = np.linalg.qr((rows + step * G / np.linalg.norm(G)).T)[0].T
            return len(X) // batch

        monkeypatch.setattr(streaming_kernels, "tucker_ascent", ascent)
        assert self.red("batch-gradient", tmp_path)
        assert self.red("algorithm-2-matches-with-adagrad", tmp_path)

    def test_trailing_eigenvectors(self, tmp_path, monkeypatch):
        from orthobench_tucker import hoevd

        found_basis = hoevd.hoevd_basis

        def trailing(oracle, form):
            Q = found_basis(oracle, form)
            return np.linalg.qr(np.hstack([Q, np.eye(oracle.n)]))[0][:, -oracle.k :]

        monkeypatch.setattr(hoevd, "hoevd_basis", trailing)
        assert self.red("implicit-hoevd", tmp_path)

    def test_a_sum_in_place_of_a_mean(self, tmp_path, monkeypatch):
        from orthobench.families.symmetric_tucker import problem as tucker_oracles

        formed = tucker_oracles.moment_tensor
        monkeypatch.setattr(tucker_oracles, "moment_tensor", lambda X, d: len(X) * formed(X, d))
        assert self.red("implicit-objective", tmp_path)

    def test_a_core_of_the_wrong_samples(self, tmp_path, monkeypatch):
        from orthobench.families.symmetric_tucker.judge import DataTensor

        core = DataTensor.core
        monkeypatch.setattr(DataTensor, "core", lambda own, Q: 1.01 * core(own, Q))
        assert self.red("core-of-samples", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("first_seed", [0, 1000])
def test_no_claim_is_red(tmp_path, first_seed):
    names = [c.name for c in TUCKER_2022.claims]
    for name, one in found(names, tmp_path, first_seed=first_seed).items():
        assert not one.red, (name, one.measurement, one.error)


def at_the_papers_size(folder, suite, seeds):
    """Run a suite of the paper's size with few seeds."""
    moved = load(TUCKER_2022.suites / f"{suite}.toml", catalogue(), {"seeds": list(range(seeds))})
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
        runs = Runs(TUCKER_2022, tmp_path, quick=True, quiet=True)
        pair = "pgd explicit", figure_2.IMPLICIT
        third, fourth = (
            np.median(final_ratios(runs, "figure-2", problem, pair, "flops"))
            for problem in ("order 3, small", "order 4, large")
        )
        assert fourth > third > 1


def test_more_claims_hold_than_fail():
    counts = {v: sum(c.known is v for c in TUCKER_2022.claims) for v in Verdict}
    assert counts[Verdict.HOLDS] > counts[Verdict.FAILS] > 0
