"""Data that users pass to the makers: read if they are clear, else refused."""

import pathlib
from types import SimpleNamespace

import numpy as np
import pytest
from cases import case
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from orthobench_kit.arrays import unshared
from scipy import sparse

import orthobench as ob
from orthobench.errors import OrthobenchError

ROWS = np.random.default_rng(0).exponential(size=(30, 4)) * np.arange(1.0, 5.0)
TENSOR = np.zeros((3, 3, 3))
TENSOR[np.arange(3), np.arange(3), np.arange(3)] = (1, 2, 3)

MOMENT = ROWS.T @ ROWS
PAIRS = np.random.default_rng(1).exponential(size=(30, 3))
LABELLED = ROWS + 9 * np.eye(4)[np.arange(30) % 3]

MAKERS = {
    "pca": (ROWS, lambda data: ob.pca(data, k=2)),
    "stochastic_pca": (ROWS, lambda data: ob.stochastic_pca(data, k=2)),
    "sparse_pca": (ROWS, lambda data: ob.sparse_pca(data, m=2)),
    "symmetric_tucker": (
        ROWS, lambda data: ob.symmetric_tucker(data, order=3, rank=2),
    ),
    "orthogonal_tensor": (TENSOR, ob.orthogonal_tensor),
    "symmetric_tucker of a tensor": (
        TENSOR, lambda data: ob.symmetric_tucker(tensor=data, rank=2),
    ),
    "cca": (ROWS, lambda data: ob.cca(data, PAIRS, 2)),
    "cca of the other": (PAIRS, lambda data: ob.cca(ROWS, data, 2)),
    "generalized_eigenvectors": (
        MOMENT, lambda data: ob.generalized_eigenvectors(data, np.eye(4), 2),
    ),
    "generalized_eigenvectors of B": (
        MOMENT, lambda data: ob.generalized_eigenvectors(np.eye(4), data, 2),
    ),
    "polar": (ROWS, ob.polar),
    "gmm_tensor": (LABELLED, lambda data: ob.gmm_tensor(data, 3)),
    "test part": (ROWS, lambda data: ob.stochastic_pca(LABELLED, 2, test=data)),
    "validation part": (ROWS, lambda data: ob.stochastic_pca(LABELLED, 2, validation=data)),
    "covariance": (MOMENT, lambda data: ob.stochastic_pca(ROWS, 2, covariance=data)),
    "sparse_pca of a test part": (ROWS, lambda data: ob.sparse_pca(LABELLED, 2, data)),
    "true factors": (np.eye(3), lambda data: ob.orthogonal_tensor(TENSOR, factors=data)),
    "true basis": (
        np.eye(3)[:, :2], lambda data: ob.symmetric_tucker(tensor=TENSOR, rank=2, basis=data),
    ),
    "start": (
        np.eye(4)[:, :2],
        lambda data: ob.stiefel(
            lambda X: float(np.vdot(X, MOMENT @ X)), lambda X: 2 * MOMENT @ X, n=4, p=2, start=data,
        ),
    ),
}  # fmt: skip

SOLVERS = {
    "stochastic PCA": "history-pca", "cca": "cca-appgrad", "generalized": "genelink",
    "polar": "polar-svd", "gmm": "givens-tensor", "orthogonal_tensor": "givens-tensor",
    "true factors": "givens-tensor", "true basis": "hoqri", "symmetric_tucker": "hoqri",
    "sparse_pca": "gpower", "start": "riemannian-gradient",
}  # fmt: skip
"""A solver by the beginning of a maker's name; history-pca for the others."""

MATRICES = [name for name, (data, _) in MAKERS.items() if data.ndim == 2]
STREAMED = (
    "pca", "stochastic_pca", "gmm_tensor", "test part", "validation part", "cca",
    "cca of the other",
)  # fmt: skip
"""Makers that read a sparse matrix by blocks, or compute with it."""

DENSE = ("sparse_pca", "sparse_pca of a test part", "polar")
"""Makers that make a sparse matrix dense if it is small."""

Matrix = type("csr_matrix", (), {"nnz": 3, "toarray": None})


def frame(data):
    """A table as pandas and polars have it, as far as the makers look."""
    return SimpleNamespace(to_numpy=lambda: data)


def metrics(instance):
    point = np.linalg.qr(
        np.ones((instance.oracle.n, instance.oracle.k))
        + np.eye(instance.oracle.n)[:, : instance.oracle.k]
    )[0]
    return dict(instance.measure(ob.Solution(point)))


def solved(maker, instance):
    name = next((s for prefix, s in SOLVERS.items() if maker.startswith(prefix)), "history-pca")
    return ob.solve(name, instance, ob.Budget(steps=20)).solution


@pytest.mark.parametrize("maker", sorted({*MAKERS} - {"pca"}))  # which copies nothing
def test_data_that_change_afterwards_change_nothing(maker):
    data, make = MAKERS[maker]
    expected = solved(maker, make(np.array(data)))
    copies = {form: np.array(data) for form in ("array", "table", "sparse")}
    copies["columns first"] = np.array(data, order="F")
    for form, copy in copies.items():
        passed = numbers = copy
        if form == "table":
            passed = frame(copy)
        elif form == "sparse":
            if maker not in STREAMED + DENSE:
                continue
            passed = sparse.csr_matrix(copy)
            numbers = passed.data
        with case(form):
            instance = make(passed)
            before = metrics(instance)
            numbers[:] = 7.0
            assert metrics(instance) == before
            np.testing.assert_allclose(solved(maker, instance), expected, atol=1e-12)


def test_read_only_data_are_not_copied(tmp_path):
    np.save(tmp_path / "X.npy", ROWS)
    frozen = ROWS.copy()
    frozen.flags.writeable = False
    for data in (frozen, np.load(tmp_path / "X.npy", mmap_mode="r")):
        assert unshared(data[3:]).base is not None
        assert np.shares_memory(ob.stochastic_pca(data, 2).oracle.source.rows, data)
    view = ROWS.view()
    view.flags.writeable = False
    assert not np.shares_memory(unshared(view), ROWS)


def test_sparse_matrix_is_its_numbers_or_refused():
    for maker in MATRICES:
        data, make = MAKERS[maker]
        matrix = sparse.csr_matrix(data)
        with case(maker):
            if maker in STREAMED + DENSE:
                assert metrics(make(matrix)) == pytest.approx(metrics(make(data)), abs=1e-12)
                continue
            with pytest.raises(OrthobenchError, match=r"pass data.toarray\(\)|needs a test part"):
                make(matrix)


@pytest.mark.parametrize("make", [ob.polar, lambda data: ob.sparse_pca(data, m=2)])
def test_sparse_matrix_too_large_to_be_dense_is_refused(make):
    with pytest.raises(OrthobenchError, match="leave out rows or columns"):
        make(sparse.csr_matrix((10**6, 10**4)))


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (lambda data: np.ma.masked_array(data, data >= 1), "masked array: pass data.filled"),
        (lambda data: Matrix(), "sparse matrix: pass data.toarray"),
        (lambda data: "rows.npy", "path: load the file first"),
        (lambda data: pathlib.Path("rows.npy"), "path: load the file first"),
        (lambda data: 7, "must be an array, not of type int"),
        (lambda data: {"a": 1}, "must be an array, not of type dict"),
        (lambda data: data * 1j, "real numbers"),
        (lambda data: data.astype(object), "real numbers"),
        (lambda data: data * np.nan, "(?i)nan"),
    ],
)
def test_other_types_than_data_are_refused(broken, said):
    for maker, (data, make) in MAKERS.items():
        with case(maker), pytest.raises(OrthobenchError, match=said):
            make(broken(data))


KINDS = st.sampled_from(["?", "i1", "u4", "i8", "f2", "f4", "f8", ">f8", "c16", "U3", "O", "M8[s]"])
SHAPES = arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)
VALUES = st.sampled_from([0, 1, -1, 2, 3.5, 1e-200, 1e60, 1e100, 1e200, 1e308, np.nan, np.inf])
ORDERS = st.sampled_from(["C", "F", "transposed", "strided", "read-only", "subclass"])


class Subclass(np.ndarray):
    """As libraries of units and of masks have them."""


@st.composite
def inputs(draw):
    """Arrays of all kinds, shapes, orders and values."""
    shape, kind, order = draw(SHAPES), draw(KINDS), draw(ORDERS)
    seed, extreme = draw(st.integers(0, 2**32)), draw(VALUES)
    data = np.random.default_rng(seed).exponential(size=shape)
    with np.errstate(all="ignore"):
        if data.size and draw(st.booleans()):
            data.flat[draw(st.integers(0, data.size - 1))] = extreme
        elif draw(st.booleans()):
            data = np.asarray(data * (extreme if np.isfinite(extreme) else 1))
        data = (
            np.nan_to_num(data, posinf=1e18).astype("i8").astype(kind)
            if kind == "M8[s]"
            else data.astype(kind)
        )
    match order:
        case "F":
            return np.asfortranarray(data)
        case "transposed":
            return data.T
        case "strided" if data.ndim:
            return np.repeat(data, 2, axis=0)[::2]
        case "read-only" if data.ndim:
            data.flags.writeable = False
        case "subclass":
            return data.view(Subclass)
    return data


def check_input(maker, data):
    """Check that data give what clean float64 gives, or one sentence of ours."""
    make = MAKERS[maker][1]
    try:
        made = metrics(make(data))
    except OrthobenchError as error:
        if "\n" in str(error):
            raise
        return
    clean = np.array(data, dtype=np.float64, order="C")
    assert made == pytest.approx(metrics(make(clean)), rel=1e-6, abs=1e-9, nan_ok=True)


@settings(max_examples=40)
@given(maker=st.sampled_from(list(MAKERS)), data=inputs())
def test_any_array_is_taken_as_its_numbers_or_refused(maker, data):
    with np.errstate(all="ignore"):
        check_input(maker, data)


def test_one_rule_says_what_counts():
    def tucker(**more):
        return ob.symmetric_tucker(ROWS, **{"order": 3, "rank": 2, **more})

    counted = {
        "k of pca": lambda n: ob.pca(ROWS, n),
        "k of stochastic_pca": lambda n: ob.stochastic_pca(ROWS, n),
        "passes": lambda n: ob.stochastic_pca(ROWS, 2, passes=n),
        "m": lambda n: ob.sparse_pca(ROWS, n),
        "cardinality": lambda n: ob.sparse_pca(ROWS, 2, cardinality=n),
        "rank": lambda n: tucker(rank=n),
        "order": lambda n: tucker(order=n),
        "k of cca": lambda n: ob.cca(ROWS, PAIRS, n),
        "k of a pencil": lambda n: ob.generalized_eigenvectors(MOMENT, np.eye(4), n),
        "n": lambda n: ob.orthogonal_group(lambda U: float(U[0, 0]), n=n),
    }
    for name, make in counted.items():
        with case(name):
            for whole in (2, np.int64(2), np.uint8(2)):
                assert type(make(whole).oracle.k) is int
            for value in (2.0, np.float64(2), True, np.True_, "2", np.array(2), [2], np.nan, 1.5):
                with pytest.raises(ob.UsageError, match=r"must be a whole number .*, not "):
                    make(value)


def test_a_frame_of_numbers_of_several_types_is_its_numbers():
    pandas = pytest.importorskip("pandas")
    for maker in ("pca", "stochastic_pca", "cca", "polar"):
        data, make = MAKERS[maker]
        data = np.round(data, 1)
        data[:, 1] = np.arange(len(data)) % 3 == 0
        mixed = pandas.DataFrame(data, columns=[*"abcd"])
        mixed["b"] = mixed["b"].astype(bool)
        with case(maker):
            for table in (mixed, mixed.astype({"b": "boolean", "a": "Float64"})):
                assert metrics(make(table)) == metrics(make(data))
            for column in (mixed["b"].astype(object), [*"xyz"] * 10, pandas.Categorical([1] * 30)):
                with pytest.raises(ob.DataError, match=r"column 'c' .*leave it out"):
                    make(mixed.assign(c=column))
            missing = mixed.astype({"a": "Float64"})
            missing.loc[3, "a"] = pandas.NA
            with pytest.raises(ob.DataError, match=r"(?i)finite|nan"):
                make(missing)


def test_rows_that_come_one_after_another_may_not_be_masked():
    masked = np.ma.masked_array(ROWS, ROWS > 1)
    streams = {
        "rows": [*masked], "blocks": [masked], "a generator": (row for row in masked),
        "a sampler": lambda rng, count: np.ma.masked_array(np.ones((count, 4)), mask=True),
    }  # fmt: skip

    def solve(stream):
        instance = ob.stochastic_pca(stream, 2, covariance=MOMENT)
        ob.solve("history-pca", instance, ob.Budget(steps=20))

    for name, stream in streams.items():
        with case(name), pytest.raises(ob.DataError, match="masked"):
            solve(stream)


def test_chunks_of_a_dask_array_may_not_be_masked():
    dask = pytest.importorskip("dask.array")
    masked = np.ma.masked_array(ROWS, ROWS > 1)
    for solver, make in (("gram-pca", ob.pca), ("history-pca", ob.stochastic_pca)):
        with pytest.raises(ob.DataError, match="masked"):
            ob.solve(solver, make(dask.from_array(masked, chunks=(10, 4)), k=2))
