"""Sparse matrices: indices out of range are refused before compiled code reads them."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from cases import case
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.reading import rows_of
from orthobench_kit.rows import SparseRows
from orthobench_kit.sparse import checked_sparse
from scipy import sparse

import orthobench as ob
from orthobench.errors import DataError

ROWS, COLUMNS = 12, 6
DENSE = np.where(np.random.default_rng(0).random((ROWS, COLUMNS)) < 0.4, 1.5, 0.0)
PARTS = {
    "csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "bsr": ("indices", "indptr"),
    "coo": ("row", "col"),
}  # fmt: skip
"""The arrays of a format that SciPy's compiled code follows."""


def made(kind):
    held = sparse.csr_array(DENSE)
    return held.tobsr((3, 2)) if kind == "bsr" else held.asformat(kind)


def damage(held, part, at, value):
    numbers = getattr(held, part).copy()
    numbers[at] = value
    setattr(held, part, numbers)
    return held


def is_sound(held):
    """Return whether every index of a matrix is in range, entry by entry."""
    if held.format == "coo":
        pairs = zip(held.row.tolist(), held.col.tolist(), strict=True)
        return all(0 <= i < ROWS and 0 <= j < COLUMNS for i, j in pairs)
    length = {"csr": COLUMNS, "csc": ROWS, "bsr": COLUMNS // 2}[held.format]
    ends, indices = held.indptr.tolist(), held.indices.tolist()
    ascend = all(a <= b for a, b in pairwise(ends))
    return (
        ends[0] == 0 and ascend and ends[-1] <= len(indices)
        and all(0 <= i < length for i in indices[: ends[-1]])
    )  # fmt: skip


def test_sound_matrices_are_taken_as_they_are():
    wide, roomy = made("csr"), made("csr")
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    roomy.indices = np.append(roomy.indices, [-7, 10**6])  # behind the last entry
    roomy.data = np.append(roomy.data, [0.0, 0.0])
    for held in (wide, roomy):
        assert checked_sparse(held, "the samples") is held


@given(st.sampled_from(sorted(PARTS)), st.data())
def test_matrices_with_indices_out_of_range_are_refused(kind, data):
    part = data.draw(st.sampled_from(PARTS[kind]))
    near, far = st.integers(-3, 40), st.sampled_from([-(2**31), 2**31 - 1, 10**6])
    at = data.draw(st.integers(0, len(getattr(made(kind), part)) - 1))
    damaged = damage(made(kind), part, at, data.draw(near | far))
    if is_sound(damaged):
        checked_sparse(damaged, "the samples").toarray()
    else:
        with pytest.raises(DataError, match=rf"damaged sparse matrix \({kind.upper()}"):
            checked_sparse(damaged, "the samples")


def test_every_maker_refuses_indices_that_are_out_of_range():
    makers = {
        "pca": lambda X: ob.pca(X, 2), "cca": lambda X: ob.cca(X, X, 1),
        "stochastic_pca": lambda X: ob.stochastic_pca(X, 2),
        "a test part": lambda X: ob.stochastic_pca(DENSE, 2, test=X),
        "a stream of symmetric_tucker": lambda X: ob.symmetric_tucker(
            X, order=3, rank=2, test=DENSE
        ),
        "rows": lambda X: rows_of(X, "the samples"), "blocks": SparseRows,
    }  # fmt: skip
    for name, make in makers.items():
        for kind in ("csr", "csc", "bsr"):
            for part, at, value in (
                ("indices", 0, -1), ("indices", -1, 10**6), ("indptr", 1, 10**6), ("indptr", 0, 1),
            ):  # fmt: skip
                with case(f"{name} {kind} {part}"), pytest.raises(DataError, match="damaged"):
                    make(damage(made(kind), part, at, value))


def test_parts_of_other_shapes_and_types_are_refused():
    broken = [damage(made("csr"), "indices", 0, 0) for _ in range(5)]
    broken[0].indptr = broken[0].indptr[:-2]
    broken[1].indices = broken[1].indices.astype(float)
    broken[2].indices = broken[2].indices[:-1]
    broken[3].data = broken[3].data[None]
    broken[4].indptr = broken[4].indptr[None]
    for i, held in enumerate(broken):
        with case(str(i)), pytest.raises(DataError, match="damaged"):
            checked_sparse(held, "the samples")
    longer, fewer, outside = (made("lil") for _ in range(3))
    twice, unlike = (made("dia") for _ in range(2))
    longer.rows[0] = [0, 1, 2]
    longer.data[0] = [1.0]
    fewer.rows, fewer.data = fewer.rows[:2], fewer.data[:2]
    outside.rows[0], outside.data[0] = [10**6], [1.0]
    twice.offsets = np.full_like(twice.offsets, 0)
    unlike.offsets = unlike.offsets[:-1]
    for i, held in enumerate((longer, fewer, outside, twice, unlike)):
        with case(f"{held.format} {i}"), pytest.raises(DataError, match="damaged"):
            checked_sparse(held, "the samples")
    with pytest.raises(DataError, match=r"must be a matrix .* not of shape \(6,\)"):
        checked_sparse(sparse.coo_array(DENSE[0]), "the samples")


def test_a_shape_that_no_memory_holds_is_refused():
    held = sparse.coo_array((np.ones(2), ([0, 1], [1, 2])), shape=(2**50, 5))
    with pytest.raises(DataError, match="does not fit into memory"):
        checked_sparse(held, "the samples")


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_rows_of_a_sparse_matrix_are_copied_once(kind):
    X = sparse.random_array((2000, 500), density=0.1, format=kind, rng=0)
    before = X.toarray()
    tracemalloc.start()
    rows = rows_of(X, "the samples")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    X.data *= 2
    assert np.array_equal(rows.read(0, 2000), before)
    assert peak < 1.5 * (X.data.nbytes + X.indices.nbytes)
