"""Inputs that failed in other programs: the right value, or a sentence before any work starts.

Cases are those of public trackers, named behind each, and others of their kinds.
"""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import subspace_angles

import orthobench as ob

drawn = np.random.default_rng
AXES = drawn(0).standard_normal((200, 6)) * np.linspace(3, 1, 6)
SNPS = drawn(0).binomial(2, 0.3, (47, 60)).astype(np.int8)
SNPS[:, 7] = 2
CARS = drawn(0).standard_normal((32, 11)) * [6, 1.8, 124, 68, 0.5, 1, 1.8, 0.5, 0.5, 0.7, 1.6]
MOVED = CARS + np.array([20, 6, 230, 146, 3.6, 3.2, 17.8, 0.4, 0.4, 3.7, 2.8])


class OnDisk:
    """As an array of h5py or zarr, with chunks or without."""

    def __init__(self, values, chunks=(50, 6)):
        self.values, self.chunks = values, chunks
        self.shape, self.dtype = values.shape, values.dtype

    def __getitem__(self, part):
        return self.values[part]


def dask(chunks, form=np.asarray):
    found = pytest.importorskip("dask.array").from_array(AXES, chunks=chunks)
    return found if form is np.asarray else found.map_blocks(form)


def pandas(**columns):
    return pytest.importorskip("pandas").DataFrame(columns)


def components(X, k, scale=False):
    """Return the leading right singular vectors of centred columns, by LAPACK."""
    Z = np.asarray(X, float) - np.mean(X, axis=0, dtype=float)
    deviations = Z.std(axis=0)
    Z = Z / np.where(deviations > 0, deviations, 1) if scale else Z
    return np.linalg.svd(Z, full_matrices=False)[2][:k].T


def solved(instance, solver="gram-pca", **options):
    return ob.solve(solver, instance, **options)


def duplicated():
    found = sparse.csr_matrix(AXES)
    data, columns = (np.repeat(part, 2) for part in (found.data / 2, found.indices))
    return sparse.csr_matrix((data, columns, 2 * found.indptr), shape=found.shape)


FORMS = {
    "chunks on disk (nf-core/modules#11697)": lambda: OnDisk(AXES),
    "contiguous on disk (scverse/scanpy#135)": lambda: OnDisk(AXES, None),
    "labelled (xarray-contrib/xeofs#249)": lambda: pytest.importorskip("xarray").DataArray(AXES),
    "duplicate entries (scipy/scipy#8228)": duplicated,
    "sparse chunks (scverse/scanpy#3644)": lambda: dask((50, 6), sparse.csr_matrix),
    "short fat chunks (dask/dask-ml#731)": lambda: dask((-1, 2)),
    "COO": lambda: sparse.coo_array(AXES),
    "nullable (scikit-learn/scikit-learn#34538)": lambda: pandas(
        **{f"c{i}": AXES[:, i] for i in range(6)}
    ).convert_dtypes(),
    "Fortran order, big-endian": lambda: np.asfortranarray(AXES).astype(">f8"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("center", [True, False])
def test_forms_of_a_matrix_have_its_components(form, center):
    expected = components(AXES, 2) if center else np.linalg.svd(AXES)[2][:2].T
    found = solved(ob.pca(FORMS[form](), 2, center=center), "block-krylov", tolerance=1e-12)
    assert subspace_angles(found.solution, expected).max() < 1e-8
    wide = solved(ob.pca(FORMS[form]()[:4], 2)) if "chunks" in form else found
    assert wide.trace[-1].metrics["gap"] < 1e-12


def test_tables_of_nullable_integers_are_matrices():  # scikit-learn/scikit-learn#34538
    table = pandas(a=[1, 2, 3, 4], b=[1, 3, 2, 5]).astype("Int64")
    V = solved(ob.pca(table, 2)).solution
    scatter = np.array([[5, 5.5], [5.5, 8.75]])
    np.testing.assert_allclose(np.diag(V.T @ scatter @ V), [12.686, 1.064], atol=1e-3)


def test_long_index_pointers_of_a_sparse_matrix_are_taken():  # scverse/scanpy#3331
    given = sparse.random(300, 40, 0.3, format="csr", random_state=0)
    given.indptr = given.indptr.astype(np.int64)
    found = solved(ob.pca(given, 3)).solution
    assert subspace_angles(found, components(given.toarray(), 3)).max() < 1e-10
    small = sparse.csr_array(drawn(0).random((2, 5)))
    assert solved(ob.pca(small, 1)).trace[-1].metrics["gap"] < 1e-12


def test_logarithms_of_counts_add_duplicates_up_first(tmp_path):  # scipy/scipy#8228
    halves = sparse.csr_matrix((np.ones(7), [0, 1, 0, 1, 2, 3, 4], [0, 4, 7]), shape=(2, 5))
    whole = halves.copy()
    whole.sum_duplicates()
    found = []
    for name, form in (("a", halves), ("b", whole), ("c", whole.tocoo()), ("d", whole.todia())):
        sparse.save_npz(tmp_path / f"{name}.npz", form)
        problem = ob.instance(f"npy-pca path={tmp_path / name}.npz k=1 log1p=true")
        found.append(problem.oracle.X.toarray())
        np.testing.assert_array_equal(found[-1], found[0])
    counts = np.array([[2, 2, 0, 0, 0], [0, 0, 1, 1, 1]])
    np.testing.assert_allclose(found[0], np.log1p(counts * 3.5 / counts.sum(axis=1)[:, None]))


REFUSED = {
    "a mask (scikit-learn/scikit-learn#10186)": (
        lambda make: make(np.ma.masked_greater(AXES, 5)), r"pass data\.filled\(value\)"),
    "a text column (LearningDataMiningWithPython#5)": (
        lambda make: make(pandas(ä=[1.0, 2], label=["x", "y"])), "column 'label' .*leave it out"),
    "a missing cell": (
        lambda make: make(pandas(a=[1, 2, 3], b=[1, None, 2]).convert_dtypes()),
        "column 'b' .* row 1"),
    "unknown rows (dask/dask-ml#732)": (
        lambda make: make(dask((50, 6))[dask((50, 6))[:, 0] > 0]), r"compute_chunk_sizes\(\)"),
    "one feature as a vector": (lambda make: make(AXES[:, 0]), r"pass data\[:, None\]"),
    "complex numbers": (lambda make: make(AXES * 1j), "real numbers"),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
@pytest.mark.parametrize("maker", ["pca", "stochastic_pca", "sparse_pca"])
def test_data_that_say_too_little_are_refused_with_a_remedy(kind, maker):
    given, said = REFUSED[kind]
    if maker == "sparse_pca" and "unknown rows" in kind:
        pytest.skip("it reads all of it, whatever the length")
    with pytest.raises(ob.DataError, match=said):
        given(lambda X: getattr(ob, maker)(X, 1))


@pytest.mark.parametrize(
    "X",
    [
        np.ones((100, 5)), np.ones((1, 5)), np.ones((2, 5)), np.full((100, 5), 0.1),
        np.full((3, 4), 1e5, np.float32), sparse.csr_matrix((30, 4)),
    ],
)  # fmt: skip
def test_data_that_do_not_vary_are_refused(X):  # hyperspy/hyperspy#2550
    with pytest.raises(ob.DataError, match="does not vary"):
        ob.pca(X, 1)
    if not sparse.issparse(X):
        with pytest.raises(ob.DataError, match="does not vary"):
            ob.sparse_pca(X, 1)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_an_invariant_column_has_loading_zero(form):  # thibautjombart/adegenet#380
    without = np.delete(SNPS, 7, axis=1)
    with pytest.warns(UserWarning, match="column 7 "):
        found = solved(ob.pca(form(SNPS), 3, scale=True)).solution
    np.testing.assert_allclose(found[7], 0, atol=1e-14)
    assert subspace_angles(np.delete(found, 7, axis=0), components(without, 3, True)).max() < 1e-9
    with pytest.warns(UserWarning, match="column 7 "):
        Z = solved(ob.sparse_pca(SNPS, 2), "gpower", gamma=0.1).solution
    expected = solved(ob.sparse_pca(without, 2), "gpower", gamma=0.1).solution
    np.testing.assert_allclose(Z, np.insert(expected, 7, 0, axis=0), atol=1e-12)


def test_small_components_have_their_own_error():  # scikit-learn/scikit-learn#29534
    from sklearn.datasets import make_low_rank_matrix

    X = make_low_rank_matrix(1000, 10, effective_rank=2, random_state=0, tail_strength=0)
    V = components(X, 9)
    for solver, options, low, high in (
        ("sklearn-pca", {"svd_solver": "full"}, 0, 1e-8), ("scipy-svds", {}, 0, 1e-8),
        ("gram-pca", {}, 1e-6, 1), ("block-krylov", {}, 1e-6, 1),
    ):  # fmt: skip
        found = solved(ob.pca(X, 9), solver, **options)
        metrics = found.trace[-1].metrics
        distance = np.sin(subspace_angles(found.solution, V).max())
        assert metrics["gap"] < 1e-14
        assert low <= metrics["component_residual"] < high
        assert metrics["component_residual"] == pytest.approx(distance, rel=0.1, abs=1e-9)
        assert not found.stop.converged


def test_components_beyond_the_rank_are_said():
    X = drawn(1).standard_normal((60, 2)) @ drawn(2).standard_normal((2, 8))
    for solver in ("gram-pca", "block-krylov"):
        found = solved(ob.pca(X, 4), solver)
        assert found.trace[-1].metrics["rank"] == 2
        assert found.trace[-1].metrics["component_residual"] < 1e-12
        assert not found.stop.converged
    assert "rank" not in solved(ob.pca(X, 2)).trace[-1].metrics


@pytest.mark.parametrize("c", [0, 1e3, 1e4, 1e5])
def test_large_means_of_float32_keep_the_directions(c):  # facebookresearch/faiss#773
    two = solved(ob.pca((np.eye(2) + c).astype(np.float32), 1)).solution.ravel()
    assert abs(two @ [1, -1]) / np.sqrt(2) == pytest.approx(1, abs=1e-6)
    X = (drawn(0).standard_normal((2000, 20)) * np.linspace(3, 1, 20) + c).astype(np.float32)
    for solver in ("gram-pca", "block-krylov"):
        found = solved(ob.pca(X, 3), solver).solution.astype(float)
        assert subspace_angles(found, components(X, 3)).max() < 1e-3


@pytest.mark.parametrize("solver", ["scipy-lobpcg", "scipy-svds", "scipy-eigsh"])
def test_errors_of_libraries_are_those_of_the_singular_values(solver):  # scipy/scipy#14784
    U, V = (np.linalg.qr(drawn(i).standard_normal((504, 78)))[0] for i in (0, 1))
    sizes = np.geomspace(1, 1e-6, 78)
    X = (U * sizes) @ V.T
    for k in (2, 5, 8):
        found = solved(ob.pca(X, k, center=False), solver)
        kept = float(np.linalg.norm(X @ found.solution) ** 2)
        gap = 1 - kept / float((sizes[:k] ** 2).sum())
        assert found.trace[-1].metrics["gap"] == pytest.approx(gap, abs=1e-13)


def late(X):
    X = X.copy()
    X[len(X) // 2 :, -1] += 5
    return X


STREAM = drawn(0).standard_normal((4000, 10)) * np.linspace(2, 1, 10)
MEANS = {
    "from the start (scverse/scanpy#393)": STREAM + np.r_[np.zeros(9), 4.0],
    "in the second half (scikit-learn/scikit-learn#5950)": late(STREAM),
    "of a sparse stream": sparse.csr_matrix(np.abs(STREAM)),
    "of few features": STREAM[:, -2:] + 3,
}


@pytest.mark.parametrize("kind", MEANS)
def test_a_mean_that_changes_the_answer_is_warned_of(kind):
    X = MEANS[kind]
    with pytest.warns(UserWarning, match=r"the mean carries .*center=True"):
        ob.stochastic_pca(X, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        instance = ob.stochastic_pca(X, 1, center=True)
        ob.stochastic_pca(STREAM, 3)
        ob.stochastic_pca(drawn(0).standard_normal((25, 10)) * np.linspace(10, 1, 10), 8)
    dense = X.toarray() if sparse.issparse(X) else X
    best = instance.measure(ob.Solution(components(dense, 1)))
    assert best["subspace_error"] < 1e-6
    seen = next(iter(instance.oracle.source.blocks(drawn(0))))
    np.testing.assert_allclose(seen, (dense - dense.mean(axis=0))[: len(seen)], atol=1e-12)


def test_streams_that_are_read_once_are_not_centred():
    for stream in (iter([STREAM]), lambda rng, count: rng.standard_normal((count, 10))):
        with pytest.raises(ob.UsageError, match="subtract the mean"):
            ob.stochastic_pca(stream, 1, covariance=np.eye(10), center=True)


@pytest.mark.parametrize("rows", [300, 5])
def test_metrics_of_tied_eigenvalues_do_not_depend_on_a_basis(rows):  # numpy/numpy#22945
    Q = np.linalg.qr(drawn(0).standard_normal((rows, 4)))[0]
    for sizes, tied in (([2, 1, 1, 1], True), ([2, 1, 0.5, 0.1], False)):
        X = np.hstack([Q * sizes, np.zeros((rows, 3))])
        instance = ob.stochastic_pca(X, 2)
        metrics = instance.measure(ob.Solution(np.eye(7)[:, [0, 1]]))
        assert ("subspace_error" in metrics) is ("subspace_error" in instance.best) is not tied
        assert metrics["suboptimality"] == pytest.approx(0, abs=1e-14)


def test_windows_and_blocks_find_the_span_of_a_sparse_stream():  # scikit-learn#28386
    X = sparse.random(4000, 60, 0.03, format="csr", random_state=0)
    X = sparse.csr_matrix(X @ sparse.diags(np.r_[np.linspace(9, 5, 5), np.ones(55)]))
    found = solved(ob.stochastic_pca(X, 5), "incremental-pca").solution
    second = np.linalg.svd(X.toarray(), full_matrices=False)[2][:5].T
    assert subspace_angles(found, second).max() < 1e-2


@pytest.mark.parametrize("solver", ["tpower", "gpower", "sparse-pca-exact"])
def test_sparse_components_are_centred_and_have_no_unit(solver):  # erichson/spca#5
    options = {} if solver == "gpower" else {"cardinality": 3}
    Z = solved(ob.sparse_pca(MOVED, 1), solver, **options).solution
    assert abs(Z[2, 0]) > 0.9
    for other in (CARS, MOVED * 1e-4, MOVED.astype(np.float32), MOVED[::-1] + 1e4):
        same = solved(ob.sparse_pca(other, 1), solver, **options).solution
        np.testing.assert_allclose(abs(same), abs(Z), atol=1e-5)
    uncentred = solved(ob.sparse_pca(MOVED, 1, center=False), solver, **options).solution
    assert abs(uncentred[2, 0]) < abs(Z[2, 0]) - 0.02


def test_weights_of_rows_are_repetitions():
    times = drawn(0).integers(0, 4, 200)
    expected = components(np.repeat(AXES, times, axis=0), 2)
    for form in (np.asarray, sparse.csr_matrix, lambda X: OnDisk(X + 0)):
        for solver in ("gram-pca", "block-krylov"):
            found = solved(ob.pca(form(AXES), 2, sample_weight=times), solver).solution
            assert subspace_angles(found, expected).max() < 1e-6
    uncentred = solved(ob.pca(AXES, 2, center=False, sample_weight=times)).solution
    expected = np.linalg.svd(np.repeat(AXES, times, axis=0))[2][:2].T
    assert subspace_angles(uncentred, expected).max() < 1e-9


def test_weights_of_columns_are_repetitions_and_scales():
    weights = np.array([1.0, 4.0, 0.25, 0.0, 9.0, 1.0])
    expected = components(AXES * np.sqrt(weights), 2)
    for form in (np.asarray, sparse.csr_matrix):
        found = solved(ob.pca(form(AXES), 2, column_weight=weights)).solution
        assert subspace_angles(found, expected).max() < 1e-9
    p = np.delete(SNPS, 7, axis=1).mean(axis=0) / 2
    alleles = np.delete(SNPS, 7, axis=1)
    found = solved(ob.pca(alleles, 2, column_weight=1 / (2 * p * (1 - p)))).solution
    expected = components((alleles - 2 * p) / np.sqrt(2 * p * (1 - p)), 2)
    assert subspace_angles(found, expected).max() < 1e-9
    for wrong in (weights[:-1], -weights, weights * np.nan, weights * 0):
        with pytest.raises(ob.DataError, match="column_weight"):
            ob.pca(AXES, 2, column_weight=wrong)


def test_polar_factors_of_bfloat16_leave_the_input_alone():  # pytorch/pytorch#190597
    torch = pytest.importorskip("torch")
    A = torch.randn(64, 32, dtype=torch.bfloat16, generator=torch.Generator().manual_seed(0))
    kept = A.clone()
    found = solved(ob.polar(A), "qdwh").solution
    u, _, vt = np.linalg.svd(A.float().numpy().astype(float), full_matrices=False)
    np.testing.assert_allclose(found, u @ vt, atol=1e-10)
    assert torch.equal(A, kept)


@pytest.mark.parametrize("form", [OnDisk, lambda X: OnDisk(X, None), np.ndarray.tolist])
def test_polar_factors_of_all_forms_are_those_of_the_array(form):
    found = solved(ob.polar(form(AXES)), "qdwh").solution
    u, _, vt = np.linalg.svd(AXES, full_matrices=False)
    np.testing.assert_allclose(found, u @ vt, atol=1e-12)
