"""The matrices Z'Z and ZZ', and their leading eigenvectors."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from orthobench_kit.arpack import leading_eigenpairs

from orthobench.contract import Array, UsageError, orthonormalize
from orthobench.tools.environment import cores, limited
from orthobench_pca.matrices import Matrix, Operator, Sparse, block_length
from orthobench_pca.oracle import PCAOracle, finite

MOST_BYTES = 2**31
"""Maximum bytes of a Gram matrix."""

LARGE, FEW, RESTARTS = 600, 20, 40
"""Minimum side, minimum side per component, and restarts of Lanczos."""

MIRRORED = 256
"""The side of blocks that are mirrored at once."""

CANCELLED = {"float64": 1e4, "float32": 10.0}
"""Ratio of squared mean to variance above which rows are centred."""


def scatter(oracle: PCAOracle) -> Array:
    """Return Z'Z (n, n), with a valid upper triangle; a pass, for sparse X two.

    By symmetric rank-k updates through BLAS, and X'X - rows mm' for centring.
    """
    if isinstance(oracle.matrix, Operator):
        return _by_products(oracle.times, oracle.transposed_times, oracle.n, oracle.rows)
    oracle.count(1, oracle.n)
    matrix, rows = oracle.matrix, oracle.rows
    if isinstance(matrix, Sparse):
        C = _sparse_scatter(oracle, rows)
    else:
        C, sums = _uncentred(matrix)
        if oracle.center:
            C = centred(oracle, C, sums / rows)
    finite(C.diagonal(), matrix)
    return _divided(C, oracle.scale)


def shared_scatter(oracle: PCAOracle) -> Array:
    """Return all of Z'Z (n, n), with Python threads on all cores."""
    matrix, rows, step = oracle.matrix, oracle.rows, 8 * block_length(oracle.n, np.float64)
    C: Any = None
    total = np.zeros(oracle.n)

    def part(begin: int) -> tuple[Array, Array]:
        block = matrix.rows(begin, min(begin + step, rows))
        return block.T @ block, np.ones(len(block)) @ block

    with limited(1), ThreadPoolExecutor(cores()) as pool:
        for product, sums in pool.map(part, range(0, rows, step)):
            C = product if C is None else np.add(C, product, out=C)
            total += sums
    if oracle.center:
        C = centred(oracle, C, total / rows)
    finite(C.diagonal(), matrix)
    return mirrored(_divided(C, oracle.scale))


def scatter_in_blocks(oracle: PCAOracle) -> Array:
    """Return `scatter`; of a sparse matrix by blocks of rows, since a product copies its factor."""
    matrix = oracle.matrix
    if not isinstance(matrix, Sparse) or matrix.X.format != "csr":
        return scatter(oracle)
    found = _sparse_scatter(oracle, 8 * block_length(oracle.n, np.float64))
    finite(found.diagonal(), matrix)
    return _divided(found, oracle.scale)


def _sparse_scatter(oracle: PCAOracle, step: int) -> Any:
    """Return X'X - rows mm' of a sparse matrix, added up over `step` rows at a time."""
    X, mean = oracle.X, oracle.mean()
    C: Any = None
    for begin in range(0, oracle.rows, step):
        part = X if step >= oracle.rows else X[begin : begin + step]
        product = (part.T @ part).toarray().astype(oracle.matrix.dtype, copy=False)
        C = product if C is None else np.add(C, product, out=C)
    C -= oracle.rows * np.outer(mean, mean).astype(C.dtype)
    return C


def mirrored(C: Array) -> Array:
    """Copy the upper triangle to the lower one, in place."""
    for begin in range(0, len(C), MIRRORED):
        end = begin + MIRRORED
        corner = C[begin:end, begin:end]
        corner[:] = np.triu(corner) + np.triu(corner, 1).T
        C[end:, begin:end] = C[begin:end, end:].T
    return C


def inner_products(oracle: PCAOracle) -> Array:
    """Return ZZ' (rows, rows), with a valid upper triangle; a pass and one for the mean."""
    if isinstance(oracle.matrix, Operator):
        return _by_products(oracle.transposed_times, oracle.times, oracle.rows, oracle.n)
    oracle.count(1, oracle.rows)
    mean, matrix = oracle.mean(), oracle.matrix
    if isinstance(matrix, Sparse):
        return _sparse_inner_products(oracle, mean)
    K: Any = None
    for begin, block in matrix.column_blocks():
        part = slice(begin, begin + block.shape[1])
        if oracle.center:
            block = block - mean[part].astype(block.dtype)
        if oracle.scale is not None:
            block = block / oracle.scale[part].astype(block.dtype)
        K = rank_update(block.T, K)
    finite(K.diagonal(), matrix)
    return np.asarray(K)


def leading(C: Array, k: int, overwrite: bool = True) -> tuple[Array, Array]:
    """Return the k leading eigenvalues, descending, and eigenvectors; reads an upper triangle.

    Few eigenvectors of a large matrix are found by Lanczos iterations, and verified.
    """
    from scipy.linalg import eigh

    finite(C.diagonal())
    if len(C) >= LARGE and k * FEW <= len(C) and (proved := _proved_leading(C, k)):
        return proved
    last = len(C) - 1
    which = None if k > len(C) // 2 else (last + 1 - k, last)
    values, vectors = eigh(
        C, lower=False, subset_by_index=which, overwrite_a=overwrite, check_finite=False,
        driver="evr",
    )  # fmt: skip
    return values[: -k - 1 : -1], np.ascontiguousarray(vectors[:, : -k - 1 : -1])


def _proved_leading(C: Array, k: int) -> tuple[Array, Array] | None:
    """Return `leading` by Lanczos iterations; None if other eigenvectors may be larger.

    With the eigenpairs (L, V) found and m slightly above their minimum, a Cholesky factor of mI - C
    + VLV' shows that none is missing. d³/3 flops beside the iterations.
    """
    from scipy.linalg import LinAlgError, cholesky
    from scipy.linalg.blas import get_blas_funcs
    from scipy.sparse.linalg import ArpackError, LinearOperator

    side, dtype = len(C), C.dtype
    A, lower = (C, 0) if C.flags.f_contiguous else (C.T, 1)
    symv = get_blas_funcs("symv", (A,))
    operator = LinearOperator(A.shape, lambda v: symv(1.0, A, v, lower=lower), dtype=dtype)
    rng = np.random.default_rng(0)
    options = {"v0": rng.standard_normal(side).astype(dtype), "ncv": 2 * k + 20}
    try:
        values, vectors = leading_eigenpairs(operator, k, rng, maxiter=RESTARTS, **options)
        rest = (vectors * values) @ vectors.T
        rest -= C
        margin = 10 * side * float(np.finfo(dtype).eps) * float(values[0])
        rest[np.diag_indices(side)] += float(values[-1]) + margin
        cholesky(rest, lower=False, overwrite_a=True, check_finite=False)
    except (ArpackError, LinAlgError):
        return None
    return values, np.ascontiguousarray(vectors)


def right_vectors(oracle: PCAOracle, left: Array) -> Array:
    """Return an orthonormal basis of Z'U, for left singular vectors U."""
    return orthonormalize(oracle.transposed_times(left))


def from_smaller(oracle: PCAOracle, found: Array) -> Array:
    """Return right singular vectors for eigenvectors of the smaller Gram matrix."""
    left = oracle.rows < oracle.n
    return right_vectors(oracle, found) if left else np.linalg.qr(found)[0]


def refuse_large(oracle: PCAOracle) -> None:
    """Refuse a Gram matrix that takes more than `MOST_BYTES`: UsageError."""
    side = min(oracle.rows, oracle.n)
    size = side * side * oracle.matrix.dtype.itemsize
    if size > MOST_BYTES:
        raise UsageError(
            f"a dense Gram matrix ({side}, {side}) would take {size:,} bytes: take block-krylov"
        )


def _by_products(there: Any, back: Any, side: int, other: int) -> Array:
    unit, step = np.eye(side), block_length(other, np.float64)
    blocks = [back(there(unit[:, begin : begin + step])) for begin in range(0, side, step)]
    return np.concatenate(blocks, axis=1)


def _uncentred(matrix: Matrix) -> tuple[Any, Array]:
    C: Any = None
    sums = np.zeros(matrix.shape[1])
    for _, block in matrix.pieces() if in_columns(matrix.X) else matrix.blocks():
        C = rank_update(block, C)
        if in_columns(block):
            sums += block.sum(axis=0, dtype=np.float64)
        else:
            sums += np.ones(len(block), block.dtype) @ block
    return C, sums


def centred(oracle: PCAOracle, C: Any, mean: Array) -> Any:
    """Return X'X - rows mm', or the sum over centred rows if that cancels."""
    shift = oracle.rows * float(mean @ mean)
    left = float(np.trace(C)) - shift
    if shift <= CANCELLED[C.dtype.name] * left:
        C -= np.outer(oracle.rows * mean, mean).astype(C.dtype, copy=False)
        return C
    oracle.count(1, oracle.n)
    C = None
    for _, block in oracle.matrix.blocks():
        C = rank_update(block - mean.astype(block.dtype), C)
    return C


def _sparse_inner_products(oracle: PCAOracle, mean: Array) -> Array:
    X = oracle.matrix.X
    if oracle.scale is not None:
        mean, X = mean / oracle.scale, X.multiply(1 / oracle.scale).tocsr()
    K = (X @ X.T).toarray()
    along = X @ mean
    found: Array = K - along[:, None] - along + float(mean @ mean)
    return found.astype(oracle.matrix.dtype, copy=False)


def in_columns(A: Any) -> bool:
    """Return whether an array is in Fortran order alone."""
    flags = getattr(A, "flags", None)
    return flags is not None and bool(flags.f_contiguous and not flags.c_contiguous)


def _divided(C: Array, scale: Array | None) -> Array:
    return C if scale is None else C / scale.astype(C.dtype) / scale.astype(C.dtype)[:, None]


def rank_update(A: Any, C: Any) -> Any:
    """Return C + A'A, the upper triangle in Fortran order, in place."""
    from scipy.linalg.blas import dsyrk, ssyrk

    syrk = dsyrk if A.dtype == np.float64 else ssyrk
    first, trans = (A, 1) if in_columns(A) else (A.T, 0)
    if C is None:
        return syrk(1.0, first, trans=trans)
    return syrk(1.0, first, beta=1.0, c=C, trans=trans, overwrite_c=1)
