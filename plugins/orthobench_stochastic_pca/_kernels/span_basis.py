"""Writing bases of the span of a basis and a block of samples (`span`)."""

from __future__ import annotations

from orthobench.contract import Array
from orthobench.tools.compiled import kernel
from orthobench_stochastic_pca._kernels.dense import (
    axpy,
    copy_rows,
    matrix,
    multiply,
    multiply_transposed,
)
from orthobench_stochastic_pca._kernels.span import ROUNDING, Span, Workspace, panel

MAX_DRIFT = 1e-13
"""Largest bound on the orthogonality defect of U that is left uncorrected."""


@kernel
def write_basis(V: Array, span: Span, W: Array, new: Array, work: Workspace) -> float:
    """Write the basis W [U; Q] and return a bound on its orthogonality defect.

    If the bound exceeds `MAX_DRIFT`, the basis is re-orthonormalized.

    Parameters
    ----------
    V, span
        As `expand` left and returned them; V is scratch afterwards.
    W : ndarray, shape (rows, m + q), C order
        Orthonormal rows: the new basis in coordinates of [U; Q]; overwritten.
    new : ndarray, shape (>= rows, d), C order
        Its first rows are set.
    work : Workspace
        As `expand` left it.

    Returns
    -------
    float

    Notes
    -----
    2 rows (m + q) d flops; 4 rows² d more to re-orthonormalize.
    """
    rows = len(W)
    if rows == 0:
        return 0.0
    write_combinations(V, span, W, new, work)
    if span.drift <= MAX_DRIFT:
        return span.drift
    reorthonormalize(new, rows, V, work)
    return ROUNDING


@kernel
def write_combinations(V: Array, span: Span, W: Array, new: Array, work: Workspace) -> None:
    """Write the combinations W [U; Q], for any rows W, and leave V as it is.

    Parameters
    ----------
    V, span, work
        As `expand` left and returned them.
    W : ndarray, shape (rows, m + q), C order
        Overwritten.
    new : ndarray, shape (>= rows, d), C order
        Its first rows are set.

    Notes
    -----
    2 rows (m + q) d flops.
    """
    rows, inner = W.shape
    if span.implicit:
        _onto_samples(W, work.factor, span.m, span.q)
    step = panel(rows, inner, V.shape[1])
    for i in range(0, rows, step):
        multiply(W[i : i + step], V[:inner], new[i : min(i + step, rows)])


@kernel
def reorthonormalize(U: Array, m: int, spare: Array, work: Workspace) -> None:
    """Re-orthonormalize the first m rows of U in place by one Newton-Schulz step.

    U <- (3I - UU') U / 2 squares an orthogonality defect below one, up to a factor of 3/4.

    Parameters
    ----------
    U : ndarray, shape (>= m, d), C order
    m : int
    spare : ndarray, shape (>= m, d), C order
        Scratch.
    work : Workspace

    Notes
    -----
    4m²d flops.

    References
    ----------
    Björck and Bowie 1971.
    """
    C = matrix(work.flat, m, m)
    multiply_transposed(U[:m], U[:m], C)
    for i in range(m):
        for j in range(m):
            C[i, j] = (1.5 if i == j else 0.0) - 0.5 * C[i, j]
    multiply(C, U[:m], spare[:m])
    copy_rows(spare[:m], U)


@kernel
def _onto_samples(W: Array, L: Array, m: int, q: int) -> None:
    """Turn coordinates in [U; Q] into coefficients of [U; X] in place, where X = L [U; Q]."""
    for row in W:
        for j in range(q - 1, -1, -1):
            row[m + j] /= L[j, m + j]
            axpy(-row[m + j], L[j], row, m + j)
