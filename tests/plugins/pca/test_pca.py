"""Principal components against LAPACK's SVD: kinds of matrices, shapes, counts and refusals."""

import pickle
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from kinds import one_of
from orthobench_pca import judge, matrices, orthobench_solvers, own_optimum, scatter
from orthobench_pca.base import PCASolution
from orthobench_pca.problems import matrices as problems
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import orthobench as ob
from orthobench.errors import DataError, UsageError
from orthobench.harness.cell import instance_of
from orthobench.harness.executors.messages import packed, unpacked
from orthobench.registry.plugins import catalogue

ACCURATE = {
    "block-krylov": {"tolerance": 1e-12},
    "irlba": {"tolerance": 1e-12},
    "randomized-pca": {"n_iter": 40},
    "scipy-lobpcg": {"tolerance": 1e-10, "iterations": 1000},
    "sklearn-truncated-svd": {"n_iter": 40},
    "incremental-pca": {"oversampling": 60, "block": 20},  # all directions are kept
    "torch-pca-lowrank": {"n_iter": 40},
}
"""Settings at which the methods are as accurate as LAPACK."""

SOLVERS = [cls.name for cls in orthobench_solvers() if cls().missing_packages() is None]

PRODUCTS = ("block-krylov", "irlba", "randomized-pca", "scipy-svds", "scipy-eigsh", "scipy-lobpcg")
"""Those that take anything with products, at any size."""

SHAPES = {"tall": (90, 24), "wide": (24, 90), "square": (32, 32)}

KINDS = {
    "dense": lambda X, folder: X,
    "fortran": lambda X, folder: np.asfortranarray(X),
    "strided": lambda X, folder: np.repeat(X, 2, axis=1)[:, ::2],
    "float32": lambda X, folder: X.astype(np.float32),
    "integers": lambda X, folder: X.astype(np.int16),
    "csr": lambda X, folder: sp.csr_matrix(X),
    "csc": lambda X, folder: sp.csc_array(X),
    "operator": lambda X, folder: aslinearoperator(X),
    "mapped": lambda X, folder: mapped(X, folder),
    "dask": lambda X, folder: pytest.importorskip("dask.array").from_array(X, chunks=(10, -1)),
    "frame": lambda X, folder: pytest.importorskip("pandas").DataFrame(X),
}


def mapped(X, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def counts(shape, seed=0):
    """Return a matrix of whole numbers, half of them zero, with a falling spectrum and a mean."""
    rng = np.random.default_rng(seed)
    side = min(shape)
    factors = rng.standard_normal((shape[0], side)) * 0.7 ** np.arange(side)
    X = np.round(20 * factors @ rng.standard_normal((side, shape[1])) + 5)
    X[rng.random(shape) < 0.3] = 0
    return X


def exact(X, k, center):
    Z = X - X.mean(axis=0) if center else X
    values, Vt = np.linalg.svd(Z, full_matrices=False)[1:]
    return values, Vt[:k].T


def angle(U, V):
    return np.linalg.norm(V - U @ (U.T @ V), 2)


def is_quick(kind, shape, center):
    return kind == "dense" or (kind in ("csr", "float32") and center and shape == "tall")


CASES = [
    pytest.param(
        kind, shape, center, id=f"{kind} {shape} {'centred' if center else 'as they are'}",
        marks=() if is_quick(kind, shape, center) and kind != "dask" else pytest.mark.wide,
    )
    for kind in KINDS
    for shape in SHAPES
    for center in (True, False)
    if kind != "dask" or (shape, center) in (("tall", True), ("wide", False))
]  # fmt: skip
"""All kinds at all shapes, of which the default tests take some; Dask's, which is slow, at two."""


def is_taken(solver, kind, center):
    """Return whether it takes a kind of matrix; others are refused."""
    if solver in PRODUCTS:
        return True
    if solver in ("gram-pca", "incremental-pca"):
        return kind != "operator" or solver == "gram-pca"
    known = {"sklearn-pca": center, "sklearn-truncated-svd": not center}.get(solver, True)
    whole = kind in ("csr", "csc") and solver == "torch-pca-lowrank"
    return known and not whole and kind not in ("operator", "dask")


@pytest.mark.parametrize(("kind", "shape", "center"), CASES)
def test_the_components_are_those_of_lapack(kind, shape, center, tmp_path):
    X = counts(SHAPES[shape])
    V = exact(X, 3, center)[1]
    digits = 1e-3 if kind == "float32" else 1e-7
    for solver in SOLVERS:
        instance = ob.pca(KINDS[kind](X, tmp_path), k=3, center=center)
        if not is_taken(solver, kind, center):
            with pytest.raises(UsageError):
                ob.solve(solver, instance)
            continue
        outcome = ob.solve(solver, instance, **ACCURATE.get(solver, {}))
        found = outcome.solution.astype(np.float64)
        assert angle(V, found) < digits, solver
        assert np.abs(np.sum(V * found, axis=0)).min() > 1 - digits, solver  # each in its place
        defect = np.abs(found.T @ found - np.eye(3)).max()
        assert defect < (1e-5 if kind == "float32" else 1e-12), solver
        assert outcome.trace[-1].metrics["gap"] < digits**1.5, solver


@pytest.mark.parametrize("solver", one_of(3, SOLVERS))
def test_one_component_and_as_many_as_there_are(solver):
    center = solver != "sklearn-truncated-svd"
    for shape, sides in SHAPES.items():
        X = counts(sides)
        for k in (1, min(sides)):
            case = f"{shape}, k = {k}"
            instance = ob.pca(X, k, center)
            if k > 1 and solver in ("scipy-svds", "scipy-eigsh"):
                with pytest.raises(UsageError, match="takes k below min"):
                    ob.solve(solver, instance)
                continue
            outcome = ob.solve(solver, instance, **ACCURATE.get(solver, {}))
            assert outcome.solution.shape == (X.shape[1], k), case
            assert outcome.trace[-1].metrics["gap"] < 1e-9, case
            gram = outcome.solution.T @ outcome.solution
            assert np.abs(gram - np.eye(k)).max() < 1e-12, case


@pytest.mark.parametrize("solver", one_of(3, [*PRODUCTS, "gram-pca", "incremental-pca"]))
def test_scaling_is_that_of_standard_scores(solver):
    X = counts((90, 24))
    X[:, 5] = 7  # constant
    deviations = X.std(axis=0)
    V = exact((X - X.mean(axis=0)) / np.where(deviations > 0, deviations, 1), 3, center=False)[1]
    for given in (X, sp.csr_matrix(X)):
        found = ob.solve(solver, ob.pca(given, 3, scale=True), **ACCURATE.get(solver, {})).solution
        assert angle(V, found) < 1e-7


def test_the_judge_measures_what_it_says():
    for shape, sides in SHAPES.items():
        X = counts(sides)
        values, V = exact(X, 3, center=True)
        point = np.linalg.qr(V + 0.1 * np.random.default_rng(1).standard_normal(V.shape))[0]
        Z = X - X.mean(axis=0)
        W = Z.T @ (Z @ point)
        residual = np.linalg.norm(W - point @ (point.T @ W)) / np.linalg.norm(W)
        said = {
            "gap": 1 - np.sum((Z @ point) ** 2) / np.sum(values[:3] ** 2),
            "residual": residual,
            "angle": np.arcsin(angle(V, point)),
        }
        for kind in ("dense", "csr", "operator", "dask"):
            found = ob.pca(KINDS[kind](X, None), 3).measure(ob.Solution(point))
            assert {name: found[name] for name in said} == pytest.approx(said), (shape, kind)


def test_there_is_an_angle_only_where_the_subspace_is_determined():
    for X in (np.diag([3.0, 2.0, 2.0, 1.0]), np.eye(3, 4) * np.sqrt([9.0, 4.0, 4.0, 1.0])):
        for k, gap in ((1, 5 / 9), (2, 0), (3, 3 / 9 if len(X) == 4 else 4 / 9)):
            instance = ob.pca(X, k, center=False)
            metrics = instance.measure(ob.Solution(np.eye(4, k)))
            assert metrics["gap"] == pytest.approx(0, abs=1e-15)
            assert instance.measure.reference.gap == pytest.approx(gap)
            assert ("angle" in metrics) is (gap > 0)


@pytest.mark.parametrize("rows", [200, 60])
def test_lanczos_gives_the_same_reference(rows, monkeypatch):
    """Lanczos does not find nearly all components: the judge then has another way."""
    side = min(rows, 100)
    X = np.random.default_rng(0).standard_normal((rows, 100)) * np.linspace(2, 1, 100)
    for k in (4, side - 2, side - 1, side):
        most = judge.DENSE_SIDE
        known = ob.pca(X, k, center=False).measure.reference
        monkeypatch.setattr(judge, "DENSE_SIDE", 10)
        found = ob.pca(X.copy(), k, center=False).measure.reference
        monkeypatch.setattr(judge, "DENSE_SIDE", most)
        assert found.optimal == pytest.approx(known.optimal, rel=1e-12)
        assert found.gap == pytest.approx(known.gap, rel=1e-9), k
        assert angle(known.vectors, found.vectors) < 1e-8, k


@pytest.mark.parametrize("scale", [False, True])
def test_a_run_is_held_to_its_own_end_only_where_that_is_the_optimum(scale, monkeypatch):
    monkeypatch.setattr(own_optimum, "LEAST", 0)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 8)) * np.arange(9.0, 1, -1) + 5
    instance = ob.pca(X, 3, scale=scale)
    vectors = np.linalg.svd(instance.oracle.times(np.eye(8)), full_matrices=False)[2].T
    start = np.linalg.qr(rng.standard_normal((8, 3)))[0]
    judge = instance.measure
    # that across it is as far away as can be, whatever the vectors are off
    points = [ob.Solution(start), ob.Solution(vectors[:, 3:6])]
    points += [PCASolution(vectors[:, :3], tolerance=0.0)]
    plain = [judge(point) for point in points]
    judge.settle(points)
    assert len(judge._own) == (0 if scale else 3)  # scaled, its eigenvalues lie close together
    for point, before in zip(points, plain, strict=True):
        assert judge(point) == pytest.approx(before, abs=1e-9)
    assert judge(points[1])["angle"] == pytest.approx(np.pi / 2)
    judge.settle([points[0], PCASolution(vectors[:, 1:4], tolerance=0.0)])
    assert not judge._own


def test_a_large_mean_costs_no_digits():
    X = counts((90, 24)) + 1e7
    for solver in ("gram-pca", "randomized-pca", "incremental-pca"):
        found = ob.solve(solver, ob.pca(X, 2), **ACCURATE.get(solver, {})).solution
        assert angle(exact(X, 2, center=True)[1], found) < 1e-6


class Counting(LinearOperator):
    """A matrix that counts how often it is read, and products with vectors."""

    def __init__(self, X):
        super().__init__(X.dtype, X.shape)
        self.A, self.reads, self.vectors = X, 0, 0

    def _counted(self, A, V):
        self.reads, self.vectors = self.reads + 1, self.vectors + V.shape[1]
        return A @ V

    def _matmat(self, V):
        return self._counted(self.A, V)

    def _rmatmat(self, V):
        return self._counted(self.A.T, V)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("solver", [*PRODUCTS, "gram-pca"])
def test_passes_and_products_are_those_that_were_made(solver, center):
    X = Counting(counts((200, 150)))
    outcome = ob.solve(solver, ob.pca(X, 3, center))
    metrics = outcome.trace[-1].metrics
    # the judge reads it in blocks of unit vectors, once for all points
    X.reads = X.vectors = 0
    instance = ob.pca(X, 3, center)
    again = catalogue().solver(solver, offers=type(instance.oracle))
    instance.oracle.start = outcome.solution
    state = again.init(instance.oracle, np.random.default_rng(0))
    again.advance(instance.oracle, state, 1000)
    assert (state.passes, state.products) == (X.reads, X.vectors)
    assert metrics["passes"] >= 2


def test_a_mean_costs_no_digits_in_single_precision():
    plain = np.random.default_rng(0).standard_normal((20_000, 20)) * np.linspace(3, 1, 20)
    for mean in (3, 30, 100, 300):
        for order in "CF":
            X = np.asarray(plain + mean, np.float32, order=order)
            outcome = ob.solve("gram-pca", ob.pca(X, 4))
            assert outcome.trace[-1].metrics["angle"] < 2e-4, (mean, order)


@pytest.mark.parametrize("solver", ["gram-pca", "block-krylov", "scipy-svds", "scipy-lobpcg"])
def test_no_unit_of_the_data_changes_an_answer(solver):
    """Squares of 2^-540 and 2^500, and of 2^-100 in float32, leave the range of numbers."""
    plain = np.random.default_rng(0).standard_normal((400, 12)) * np.linspace(2, 1, 12)
    for dtype, units, digits in ((np.float32, (-100, 90), 1e-6), (np.float64, (-540, 500), 1e-10)):
        for made in (np.asarray, sp.csr_array):
            usual, *others = (
                ob.solve(solver, ob.pca(made(np.ldexp(plain.astype(dtype), power)), 3))
                for power in (0, *units)
            )
            for odd in others:
                gap = odd.trace[-1].metrics["gap"]
                assert gap == pytest.approx(usual.trace[-1].metrics["gap"], abs=digits), made
                assert gap < 1e-5, made


def ended(solver, instance, start=None):
    """Return the solution at the end of a run."""
    oracle, method = instance.oracle, catalogue().solver(solver, offers=type(instance.oracle))
    oracle.start = np.eye(oracle.n, oracle.k) if start is None else start
    state = method.init(oracle, np.random.default_rng(0))
    method.advance(oracle, state, 1000)
    return method.solution(state)


def test_exact_methods_have_all_digits():
    """The spectrum falls slowly, so that other methods end before."""
    X = np.random.default_rng(0).standard_normal((400, 100)) * np.linspace(2, 1, 100)
    for solver in SOLVERS:
        instance = ob.pca(X, 3, solver != "sklearn-truncated-svd")
        end = ended(solver, instance)
        assert (end.tolerance == 0) is (instance.measure(end)["residual"] < 1e-10), solver


def test_second_component_of_rank_one_is_in_the_start():
    X = np.outer(np.arange(6.0), [1.0, 2.0, 0.0, 0.0]) * 1e-3
    found = ended("incremental-pca", ob.pca(X, 2), np.eye(4)[:, 2:]).point
    assert angle(np.array([[1.0, 2, 0, 0]]).T / np.sqrt(5), found[:, :1]) < 1e-7
    assert np.abs(found[:2, 1]).max() < 1e-12


def test_a_sparse_matrix_is_never_made_dense(monkeypatch):
    def never(self, *args, **options):
        if sorted(self.shape) == [500, 2000]:
            raise AssertionError("made dense")
        return dense(self, *args, **options)

    dense = sp.csr_matrix.toarray
    monkeypatch.setattr(sp.csr_matrix, "toarray", never)
    X = sp.random(500, 2000, 0.01, format="csr", random_state=0)
    for solver in PRODUCTS:
        ob.solve(solver, ob.pca(X, 5))
    for svd_solver in ("full", "randomized"):
        with pytest.raises(UsageError, match="dense, which takes 8,000,000 bytes"):
            ob.solve("sklearn-pca", ob.pca(X, 5), svd_solver=svd_solver)
    monkeypatch.setattr(scatter, "MOST_BYTES", 1_000_000)
    with pytest.raises(UsageError, match="would take 2,000,000 bytes: take block-krylov"):
        ob.solve("gram-pca", ob.pca(X, 5))


def test_unfit_data_are_refused():
    for X, said in (
        (np.zeros(3), "must be a matrix"),
        (np.zeros((0, 3)), "empty"),
        (np.zeros((3, 3), complex), "must be real numbers, not of dtype complex128"),
        ([["a", "b"]], "must be real numbers"),
        (np.array([[1.0, np.nan], [0.0, 1.0]]), "row 0, column 1 of X .* is nan: fill it"),
        (sp.csr_matrix([[1.0, 0.0], [0.0, np.inf]]), "row 1, column 1 of X .* is inf"),
    ):
        with pytest.raises(DataError, match=said):
            ob.pca(X, 1)


def test_nan_in_a_file_ends_the_run(tmp_path):
    X = counts((60, 8))
    X[50, 3] = np.nan
    for solver in ("gram-pca", "block-krylov", "scipy-svds"):
        for data in (X, X[45:]):  # tall and wide
            with pytest.raises(DataError, match=f"row {len(data) - 10}, column 3 of X .* is nan"):
                ob.solve(solver, ob.pca(mapped(data, tmp_path), 2))


def test_blocks_give_what_the_whole_gives(monkeypatch):
    X = counts((300, 17))
    whole = ob.pca(X.astype(np.int32), 3).oracle
    monkeypatch.setattr(matrices, "BLOCK_BYTES", 1000)
    monkeypatch.setattr(matrices, "PANEL_BYTES", 5000)
    V = np.random.default_rng(0).standard_normal((17, 4))
    Z = X - X.mean(axis=0)
    assert np.allclose(whole.times(V), Z @ V)
    assert np.allclose(whole.transposed_times(Z @ V), Z.T @ (Z @ V))
    # in one pass, but of so many columns that adding up costs more than reading twice
    for few, passes in ((V[:, :1], 1), (V, 1), (np.tile(V, 20), 2)):
        before = whole.passes
        assert np.allclose(whole.normal_times(few), Z.T @ (Z @ few))
        assert whole.passes - before == passes
    assert np.allclose(np.triu(scatter.scatter(whole)), np.triu(Z.T @ Z))
    assert np.allclose(scatter.shared_scatter(whole), Z.T @ Z)
    assert np.allclose(np.triu(scatter.inner_products(whole)), np.triu(Z @ Z.T))


def test_the_matrix_is_not_copied():
    X = counts((60, 8))
    assert np.shares_memory(ob.pca(X, 2).oracle.X, X)
    sparse = sp.csr_matrix(X)
    assert np.shares_memory(ob.pca(sparse, 2).oracle.X.data, sparse.data)
    assert X.flags.writeable


def test_a_mapped_file_goes_to_other_processes_by_its_name(tmp_path):
    X = counts((6000, 20))
    for part in (mapped(X, tmp_path), mapped(X, tmp_path)[1000:]):
        sent, _ = packed(ob.pca(part, 2).oracle, "npy-pca")
        assert len(pickle.dumps(sent)) < 5000
        assert np.array_equal(unpacked(sent, lambda *_: None).X, part)


def test_a_name_of_two_families_is_the_solver_of_the_problem(tmp_path):
    X = counts((200, 12))
    names = ("block-krylov", "scipy-svds", "scipy-lobpcg", "sklearn-pca", "incremental-pca")
    for name in names:
        here = ob.solve(name, ob.pca(X, 2)).trace[-1].metrics
        stream = ob.stochastic_pca(X - X.mean(axis=0), 2)
        there = ob.solve(name, stream, ob.Budget(samples=50)).trace[-1].metrics
        assert "gap" in here
        assert "suboptimality" in there
    problems = [{"name": "tall-pca", "n": 200, "d": 10}, {"name": "spiked-covariance"}]
    suite = {
        "seeds": 1, "budget": {"samples": 30}, "problem": problems,
        "solver": [{"name": name} for name in names],
    }  # fmt: skip
    results = ob.run(suite, tmp_path / "both.sqlite", executor="inline", quiet=True)
    assert not results.failures
    assert len(results.records) == 2 * len(names)


def test_your_own_files_are_used_whole(tmp_path):
    X = counts((60, 8))
    np.save(tmp_path / "X.npy", X)
    sp.save_npz(tmp_path / "X.npz", sp.csr_matrix(np.abs(X)))
    build = partial(instance_of, seed=0)
    dense = build(problems.NpyPCA(path=str(tmp_path / "X.npy"), k=2))
    assert isinstance(dense.oracle.X, np.memmap)
    assert dense.oracle.rows == 60
    sparse = build(problems.NpyPCA(path=str(tmp_path / "X.npz"), k=2, log1p=True))
    sums = np.abs(X).sum(axis=1, keepdims=True)
    assert np.allclose(sparse.oracle.X.toarray(), np.log1p(np.abs(X) / sums * np.median(sums)))
    for name, said in (("none.npy", "no file"), ("X.txt", "cannot be read as a matrix")):
        (tmp_path / "X.txt").write_text("1 2")
        with pytest.raises(DataError, match=said):
            build(problems.NpyPCA(path=str(tmp_path / name), k=2))


def test_generated_matrices_have_the_spectrum_that_they_say():
    for spectrum in problems.SPECTRA:
        problem = problems.TallPCA(n=5000, d=10, k=3, spectrum=spectrum)
        X = np.asarray(instance_of(problem, 0).oracle.X)
        found = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) / np.sqrt(len(X))
        expected = problems.deviations(spectrum, 10, 3)
        assert np.allclose(found, expected, rtol=0.1, atol=0.03), spectrum


def test_next_judge_knows_an_operator_by_its_products(monkeypatch):
    X = np.random.default_rng(0).standard_normal((30, 8))
    A, point = aslinearoperator(X), PCASolution(np.eye(8, 2))
    found = ob.pca(A, 2).measure(point)
    monkeypatch.setattr(judge.Judge, "_computed", None)  # called no more
    assert ob.pca(A, 2).measure(point) == found
    X *= -2
    with pytest.raises(TypeError, match="not callable"):
        ob.pca(A, 2).measure(point)
