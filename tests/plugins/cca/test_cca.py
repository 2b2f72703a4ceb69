"""Canonical correlation analysis: closed forms, transcriptions, and the door to its maker."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_cca.canonical import whitened
from orthobench_cca.covariances import SINGULAR, normalized
from orthobench_cca.judge import Judge
from orthobench_cca.oracle import PairsMatrices
from orthobench_cca.problems.pairs import NpyCCA, PlantedCorrelations, SparsePairs
from orthobench_cca.solvers.alternating import AlternatingLeastSquares
from orthobench_cca.solvers.app_grad import AppGrad
from orthobench_cca.solvers.exact import Exact
from orthobench_cca.solvers.krylov import BlockKrylov
from orthobench_cca.solvers.sklearn_methods import SklearnCCA, SklearnPLSSVD
from orthobench_cca.solvers.stochastic import CCAEY, SGHA, GammaEigengame
from orthobench_kit.polar import inverse_root
from scipy.linalg import eigh
from scipy.sparse import csc_array, csr_matrix

import orthobench as ob
from orthobench.contract.problem import Solution
from orthobench.contract.solver import Status
from orthobench.errors import DataError, UsageError
from orthobench.tools.geometry import random_point

RHO = np.array([0.9, 0.6, 0.3])


def planted(p=6, q=5, N=60, rho=RHO, seed=0):
    """Pairs whose sample correlations are exactly those asked for, and their weights."""
    rng = np.random.default_rng(seed)
    white = rng.standard_normal((N, p + q))
    white = np.sqrt(N) * np.linalg.qr(white - white.mean(axis=0))[0]
    x, y = white[:, :p], white[:, p:].copy()
    k = len(rho)
    y[:, :k] = rho * x[:, :k] + np.sqrt(1 - rho**2) * y[:, :k]
    P, Q = rng.standard_normal((p, p)), rng.standard_normal((q, q))
    weights = np.linalg.inv(P)[:, :k], np.linalg.inv(Q)[:, :k]
    return x @ P, y @ Q, weights


def ended(solver, instance, most=5000, seed=0):
    oracle = instance.oracle
    oracle.start = random_point(oracle.n, oracle.k, np.random.default_rng(seed))
    oracle.rewind(np.random.default_rng(0))
    state = solver.init(oracle, np.random.default_rng(seed))
    if solver.batch:
        most = int(oracle.remaining()) // solver.batch
        oracle.prepare(most * solver.batch)
    solver.advance(oracle, state, most)
    return state


@given(p=st.integers(3, 9), q=st.integers(3, 9), seed=st.integers(0, 2**32 - 1))
def test_exact_and_alternating_recover_the_closed_form(p, q, seed):
    X, Y, (A, B) = planted(p, q, seed=seed)
    for solver in (Exact(), AlternatingLeastSquares()):
        instance = ob.cca(X, Y, k=3)
        state = ended(solver, instance, seed=seed)
        assert state.status is Status.CONVERGED
        metrics = instance.measure(solver.solution(state))
        assert abs(metrics["suboptimality"]) < 1e-10
        assert metrics["correlation"] == pytest.approx(0.9, abs=1e-10)
        assert max(metrics["x_error"], metrics["y_error"]) < 1e-6
    truth = instance.measure(Solution(np.vstack([A, B])))
    assert abs(truth["suboptimality"]) < 1e-10


def test_it_is_a_generalized_eigenvalue_problem():
    X, Y, _ = planted(4, 3)
    S = np.cov(np.hstack([X, Y]).T, bias=True)
    off, diagonal = S.copy(), S.copy()
    off[:4, :4] = off[4:, 4:] = diagonal[:4, 4:] = diagonal[4:, :4] = 0
    values = eigh(off, diagonal, eigvals_only=True)[::-1]
    np.testing.assert_allclose(ob.cca(X, Y, k=3).measure.correlations, values[:3], atol=1e-10)


def test_alternating_least_squares_is_regression_on_each_half_in_turn():
    X, Y, _ = planted(7, 5)
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    instance, solver = ob.cca(X, Y, k=2), AlternatingLeastSquares(tolerance=0.0)
    start = random_point(12, 2, np.random.default_rng(0))
    B = start[7:]
    for steps in (1, 2, 3):
        A = np.linalg.lstsq(X, Y @ B, rcond=None)[0]
        B = np.linalg.lstsq(Y, X @ A, rcond=None)[0]
        B = np.linalg.qr(B)[0]
        state = ended(solver, instance, steps)
        for found, expected in ((state.A, A), (state.B, B)):
            rest = expected - found @ np.linalg.lstsq(found, expected, rcond=None)[0]
            assert np.linalg.norm(rest) < 1e-9 * np.linalg.norm(expected)


def test_alternating_never_falls_at_the_rate_of_the_correlations():
    rho = np.array([0.9, 0.8, 0.4])
    X, Y, _ = planted(8, 7, rho=rho)
    instance, solver = ob.cca(X, Y, k=2), AlternatingLeastSquares(tolerance=0.0)
    states = [ended(solver, instance, steps) for steps in range(1, 9)]
    metrics = [instance.measure(solver.solution(state)) for state in states]
    gaps = np.array([each["suboptimality"] for each in metrics])
    assert np.all(np.diff(gaps) < 1e-12)
    errors = np.array([each["x_error"] for each in metrics])
    np.testing.assert_allclose(errors[5] / errors[4], (0.4 / 0.8) ** 2, rtol=0.1)


def test_a_stochastic_step_is_the_published_one():
    X, Y, _ = planted(6, 5)
    solver = AppGrad(batch=10, step_size=0.5, relative=False)
    instance = ob.cca(X, Y, k=2)
    state = ended(solver, instance)
    start = random_point(11, 2, np.random.default_rng(0))
    F, G = start[:6], start[6:]
    A, B = F, G
    for x, y in zip(np.split(X - X.mean(axis=0), 6), np.split(Y - Y.mean(axis=0), 6), strict=True):
        old_A, old_B, halves = A, B, []
        for data, weights, target in ((x, F, y @ old_B), (y, G, x @ old_A)):
            eta = 0.5 / np.mean(np.sum(data**2, axis=1))
            weights = weights - eta * data.T @ (data @ weights - target) / 10
            S = weights.T @ (data.T @ data / 10) @ weights
            halves.append((weights, weights @ inverse_root(S, SINGULAR)))
        (F, A), (G, B) = halves
    np.testing.assert_allclose(state.free_a, F, atol=1e-10)
    np.testing.assert_allclose(state.B, B, atol=1e-8)
    assert state.work.samples == 60


def test_canonical_variables_are_a_fixed_point_of_the_stochastic_step():
    X, Y, (A, B) = planted(6, 5)
    solver, instance = AppGrad(batch=60, relative=False), ob.cca(X, Y, k=3)
    state = ended(solver, instance)
    state.free_a, state.free_b, state.A, state.B = A * RHO, B * RHO, A, B
    instance.oracle.rewind(np.random.default_rng(0))
    instance.oracle.prepare(60)
    solver.step(instance.oracle, state)
    np.testing.assert_allclose(state.free_a, A * RHO, atol=1e-9)
    np.testing.assert_allclose(np.abs(state.B), np.abs(B), atol=1e-9)


def test_a_stream_comes_near_the_optimum_and_nearer_with_more_passes():
    gaps = []
    for passes in (1, 5, 20):
        instance = PlantedCorrelations(passes=passes).build(np.random.default_rng(0))
        state = ended(AppGrad(step_size=3.0), instance)
        gaps.append(instance.measure(AppGrad().solution(state))["suboptimality"])
    assert gaps[0] > gaps[1]
    assert gaps[2] < 0.02


def test_only_spans_count():
    X, Y, (A, B) = planted()
    instance, rng = ob.cca(X, Y, k=3), np.random.default_rng(0)
    mixed = np.vstack([A @ rng.standard_normal((3, 3)), B @ rng.standard_normal((3, 3))])
    assert abs(instance.measure(Solution(mixed))["suboptimality"]) < 1e-10
    assert instance.violation(Solution(mixed)) == 0
    mixed[:6, 1] = mixed[:6, 0]
    assert instance.violation(Solution(mixed)) == 1


@pytest.mark.parametrize("solver", [Exact(by="gram"), Exact(by="qr"), AlternatingLeastSquares()])
def test_units_of_columns_do_not_matter(solver):
    X, Y, _ = planted()
    instance = ob.cca(X * np.geomspace(1, 1e-12, 6), Y * np.geomspace(1e9, 1, 5), k=3)
    np.testing.assert_allclose(instance.measure.correlations, RHO, atol=1e-10)
    state = ended(solver, instance)
    assert abs(instance.measure(solver.solution(state))["suboptimality"]) < 1e-10


def test_normalization_is_the_nearest_in_its_metric():
    rng = np.random.default_rng(0)
    S = np.cov(rng.standard_normal((5, 40)))
    M = rng.standard_normal((5, 2))
    A = normalized(M, S)
    np.testing.assert_allclose(A.T @ S @ A, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(A.T @ S @ M, (A.T @ S @ M).T, atol=1e-12)


def test_a_ridge_takes_singular_covariances():
    X, Y, _ = planted()
    X = np.hstack([X, X[:, :1]])
    instance = ob.cca(X, Y, k=2, ridge=0.1)
    assert (
        abs(instance.measure(Exact().solution(ended(Exact(), instance)))["suboptimality"]) < 1e-10
    )
    S = np.cov(X.T, bias=True) + 0.1 * np.eye(7)
    A = Exact().solution(ended(Exact(), instance)).point[:7]
    np.testing.assert_allclose(A.T @ S @ A, np.eye(2), atol=1e-10)


def test_unfit_pairs_are_refused():
    X, Y, _ = planted()
    for arguments, error, message in (
        ({"k": 0}, UsageError, "between 1 and 5, not 0"),
        ({"k": 6}, UsageError, "between 1 and 5, not 6"),
        ({"k": 1.5}, UsageError, "whole number"),
        ({"ridge": -1.0}, UsageError, "ridge must be finite"),
        ({"passes": 0}, UsageError, "passes"),
        ({"Y": np.ones((3, 2))}, DataError, "X has 60 rows and Y 3"),
        ({"X": np.full((60, 2), np.nan)}, DataError, "X: sample 0 .* is not finite"),
        (
            {"X": csr_matrix(np.full((60, 2), np.inf))},
            DataError,
            "X: the entry in row 0 and column 0 .* is inf",
        ),
    ):
        with pytest.raises(error, match=message):
            ob.cca(**{"X": X, "Y": Y, "k": 2, **arguments})


@pytest.mark.parametrize("form", [csr_matrix, csc_array, pd.DataFrame, np.ndarray.tolist])
def test_pairs_may_be_sparse_or_tables(form):
    X, Y, _ = planted()
    X[np.abs(X) < 0.5] = 0.0
    given, dense = (ob.cca(x, Y, k=2, ridge=0.1) for x in (form(X), X))
    np.testing.assert_array_equal(given.oracle.pairs, dense.oracle.pairs)
    np.testing.assert_array_equal(given.measure.correlations, dense.measure.correlations)


def files(folder):
    X, Y, _ = planted()
    np.save(folder / "x.npy", X)
    np.save(folder / "y.npy", Y)
    np.savez(folder / "both.npz", X=X, Y=Y)
    return ob.cca(X, Y, k=2, ridge=0.1)


def test_pairs_come_from_two_files_or_one(tmp_path):
    expected = files(tmp_path)
    two = {"path_x": str(tmp_path / "x.npy"), "path_y": str(tmp_path / "y.npy")}
    problems = [NpyCCA(**two, k=2, ridge=0.1), NpyCCA(str(tmp_path / "both.npz"), k=2, ridge=0.1)]
    first, second = (problem.build(np.random.default_rng(0)) for problem in problems)
    np.testing.assert_array_equal(first.oracle.pairs, second.oracle.pairs)
    np.testing.assert_allclose(first.measure.correlations, expected.measure.correlations)
    before = problems[0].checksum()
    np.save(tmp_path / "y.npy", np.eye(7))
    assert problems[0].checksum() != before
    with pytest.raises(DataError, match="X has 60 rows and Y 7"):
        problems[0].build(np.random.default_rng(0))


def test_files_that_hold_no_pairs_are_named(tmp_path):
    files(tmp_path)
    (tmp_path / "text.npy").write_text("1,2")
    np.save(tmp_path / "flat.npy", np.arange(60.0))
    for names, said in (
        (("none.npy", "y.npy"), "there is no file .*none.npy"),
        (("x.npy", None), "x.npy is no .npz file with X and Y"),
        (("x.npy", "both.npz"), "hold no two matrices"),
        (("x.npy", "flat.npy"), "hold no two matrices"),
        (("text.npy", "y.npy"), "text.npy cannot be read"),
    ):
        problem = NpyCCA(*(name and str(tmp_path / name) for name in names))
        with pytest.raises(DataError, match=said):
            problem.build(np.random.default_rng(0))


def test_whitening_by_qr_and_by_gram_agree_and_qr_keeps_digits():
    rng = np.random.default_rng(0)
    for N, p, ridge in ((60, 6, 0.0), (60, 6, 0.3), (20, 30, 0.3)):
        X = rng.standard_normal((N, p)) + 5
        side = PairsMatrices(X, X, 2, ridge).sides[0]
        S = np.cov(X.T, bias=True) + ridge * np.eye(p)
        for by in ("gram", "qr", "shape"):
            W = whitened(side, ridge, by).W
            np.testing.assert_allclose(W.T @ S @ W, np.eye(W.shape[1]), atol=1e-10)
        exact = [Exact(by=by) for by in ("gram", "qr")]
        instance = ob.cca(X, X[:, :5] ** 2, 2, ridge=ridge)
        found = [instance.measure(s.solution(ended(s, instance)))["captured"] for s in exact]
        assert found[0] == pytest.approx(found[1], abs=1e-10)
    problem = PlantedCorrelations(condition=1e5)
    oracle = problem.build(np.random.default_rng(0)).oracle
    least = [whitened(oracle.sides[0], 0.0, by).least for by in ("gram", "qr")]
    errors = np.abs(np.array(least) - np.linalg.cond(oracle.X / oracle.X.std(axis=0)) ** -2)
    assert errors[1] < 1e-2 * errors[0]


@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
def test_krylov_solves_centred_and_sparse_data_unformed(form):
    for N, ridge in ((300, 0.0), (300, 0.1), (25, 0.1)):
        rng = np.random.default_rng(0)
        X, Y = rng.poisson(1.0, (N, 30)) * 1.0, rng.poisson(1.0, (N, 20)) * 1.0
        Y[:, :3] += X[:, :3]
        instance = ob.cca(form(X), form(Y), 3, ridge=ridge)
        state = ended(BlockKrylov(inner=30, tolerance=1e-12), instance)
        metrics = instance.measure(BlockKrylov().solution(state))
        assert metrics["suboptimality"] < 1e-8
        assert metrics["x_error"] < 1e-3
        assert metrics["whitening_error"] < 1e-9
        assert metrics["disorder"] == pytest.approx(0, abs=1e-9)
        formed = [root is not None for root in state.roots]
        assert formed == [form is np.asarray and columns <= N for columns in (30, 20)]
        products = sum(2 if root else 62 for root in formed)
        assert metrics["passes"] == (state.work.steps * products + sum(formed) + 1) / 2
        np.testing.assert_allclose(state.captured, metrics["captured"], rtol=1e-9)


@pytest.mark.parametrize(("N", "k"), [(20, 3), (2, 3)])
def test_all_end_at_the_optimum_where_columns_outnumber_rows(N, k):
    """With two rows one correlation alone is positive, and bases outnumber rows."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((N, 3))
    X, Y = (z @ rng.standard_normal((3, p)) + rng.standard_normal((N, p)) for p in (40, 30))
    instance = ob.cca(X, Y, k, ridge=0.1)
    for solver in (Exact(), AlternatingLeastSquares(), BlockKrylov(inner=30)):
        state = ended(solver, instance)
        assert state.status is Status.CONVERGED
        assert abs(instance.measure(solver.solution(state))["suboptimality"]) < 1e-6


def test_sparse_pairs_stay_sparse_and_have_the_truth_of_dense_ones():
    problem = SparsePairs(samples=300, p=40, q=30, k=2)
    oracle = problem.build(np.random.default_rng(0)).oracle
    assert oracle.X.nnz < 0.1 * 300 * 40
    dense = ob.cca(oracle.X.toarray(), oracle.Y.toarray(), 2, ridge=oracle.ridge)
    sparse = problem.build(np.random.default_rng(0)).measure
    np.testing.assert_allclose(sparse.correlations, dense.measure.correlations, atol=1e-10)
    with pytest.raises(UsageError, match="by=qr makes sparse data dense"):
        ob.solve("cca-exact", problem.build(np.random.default_rng(0)), by="qr")


@pytest.mark.parametrize("ridge", [0, 0.3])
def test_a_judge_of_covariances_agrees_with_one_of_all_pairs(ridge):
    X, Y, _ = planted(N=600)
    instance = ob.cca(X * np.geomspace(1, 1e6, 6), Y + 3, k=3, ridge=ridge)
    assert instance.measure.sides[0].data.shape == (11, 6)
    whole = Judge(instance.oracle, instance.measure.best)
    end = Exact().solution(ended(Exact(), instance))
    for solution in (Solution(random_point(11, 3, np.random.default_rng(0))), end):
        found, wanted = (judge(solution) for judge in (instance.measure, whole))
        assert found == pytest.approx(wanted, rel=1e-8, abs=1e-10)


def test_the_judge_measures_order_whitening_and_a_test_part():
    X, Y, (A, B) = planted(N=600)
    measure = ob.cca(X, Y, k=3, test=(X[:300], Y[:300])).measure
    straight = measure(Solution(np.vstack([A, B])))
    assert straight["captured"] == pytest.approx(1.8)
    assert straight["disorder"] == pytest.approx(0, abs=1e-10)
    assert straight["whitening_error"] < 1e-9
    turned = measure(Solution(2 * np.vstack([A, B])[:, [1, 0, 2]]))
    assert turned["disorder"] == pytest.approx(0.3)
    assert turned["whitening_error"] == pytest.approx(3)
    own = [np.corrcoef(X[:300] @ a, Y[:300] @ b)[0, 1] for a, b in zip(A.T, B.T, strict=True)]
    assert straight["test_captured"] == pytest.approx(sum(own))


def test_sklearn_cca_is_exact_and_pls_is_not():
    instance = PlantedCorrelations().build(np.random.default_rng(0))
    found = {s.name: instance.measure(s.solution(ended(s, instance)))
             for s in (SklearnCCA(), SklearnPLSSVD())}  # fmt: skip
    assert found["sklearn-cca"]["suboptimality"] < 1e-8
    assert found["sklearn-plssvd"]["suboptimality"] > 0.1
    white = ob.cca(*planted(N=60)[:2], k=3)
    A = Exact().solution(ended(Exact(), white)).point
    oracle = white.oracle
    scores = ob.cca(oracle.X @ A[:6], oracle.Y @ A[6:], k=3)
    point = SklearnPLSSVD().solution(ended(SklearnPLSSVD(), scores))
    assert scores.measure(point)["suboptimality"] < 1e-8


@pytest.mark.parametrize("solver", [CCAEY, SGHA, GammaEigengame])
def test_canonical_variables_are_a_fixed_point(solver):
    X, Y, (A, B) = planted(6, 5)
    instance, method = ob.cca(X, Y, k=3), solver(batch=60)
    state = ended(method, instance)
    units = np.repeat(state.units, [6, 5])[:, None]
    state.Z = np.vstack([A, B]) * units / np.sqrt(2)
    if solver is CCAEY:
        state.Z = state.Z * np.sqrt(RHO)
    if solver is GammaEigengame:
        state.Z = state.Z / np.linalg.norm(state.Z, axis=0)
    before = state.Z
    instance.oracle.rewind(np.random.default_rng(0))
    instance.oracle.prepare(60)
    state.work.steps = 0
    method.step(instance.oracle, state)
    np.testing.assert_allclose(state.Z, before, atol=1e-9)
