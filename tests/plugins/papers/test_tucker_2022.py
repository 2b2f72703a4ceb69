"""The claims of Jin, Kileel, Kolda and Ward (2022): formulae, and red if a solver breaks."""

from types import SimpleNamespace

import numpy as np
import pytest
from orthobench_papers.reproduce.check import check, select
from orthobench_papers.reproduce.runs import Evidence
from orthobench_papers.tucker_2022 import (
    dense,
    grassmann,
    section_3,
    section_5_1,
    section_5_2,
    section_6,
    table_2,
)
from orthobench_tucker.reference import moment, multiplied

import orthobench as ob
from orthobench.registry.plugins import catalogue
from orthobench.tools.geometry import random_point

paper_of = catalogue().paper


def found(names, folder, **options):
    """Check the claims of these names, and return the results by name."""
    runs = Evidence(paper_of("tucker-2022"), folder, "quick", quiet=True, **options)
    return {one.claim.name: one for one in check(select(paper_of("tucker-2022"), names), runs)}


class TestFormulae:
    """The formulae that solvers are compared with are right themselves."""

    @pytest.mark.parametrize("order", [2, 3, 4])
    def test_the_moment_is_the_mean_of_powers(self, order):
        X = np.random.default_rng(order).standard_normal((4, 7))
        powers = list(X.T)
        for _ in range(order - 1):
            powers = [np.multiply.outer(T, x) for T, x in zip(powers, X.T, strict=True)]
        np.testing.assert_allclose(moment(X.T, order), np.mean(powers, axis=0), atol=1e-14)

    def test_products_are_those_of_einsum(self):
        rng = np.random.default_rng(0)
        T, A, B = (
            dense.symmetric(4, 3, rng), rng.standard_normal((4, 2)), rng.standard_normal((4, 3)),
        )  # fmt: skip
        np.testing.assert_allclose(
            multiplied(T, np.eye(4), A, B), np.einsum("abc,bi,cj->aij", T, A, B), atol=1e-13
        )
        S = rng.standard_normal((5, 2, 3))
        inner = dense.inner_but_first(multiplied(T, np.eye(4), A, B), S)
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
        C = multiplied(moment(X.T, 4), *[Q] * 4)
        np.testing.assert_allclose(T, multiplied(C, *[Q.T] * 4), atol=1e-10)

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

    def test_the_cost_of_a_batch_has_the_bias_of_its_formula(self):
        """E f_b = (1 - 1/b) f + mean |y|^2d / b: of b² pairs of samples b are one sample twice."""
        ratios, facts = section_3.bias(SimpleNamespace(seeds=range(3), sized=lambda *sizes: 300))
        assert facts["formula"] == pytest.approx(1, abs=0.1)
        assert min(ratios) > 1

    def test_lowest_takes_groups_of_five(self):
        assert list(table_2.lowest(np.arange(10.0))) == [0, 5]
        assert list(table_2.lowest(np.array([3.0, 2.0]))) == [2]


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
