"""Lanczos bidiagonalization."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, Status, flops, parameter
from orthobench_pca.base import PCASolver, PCAState
from orthobench_pca.oracle import PCAOracle


@dataclass(slots=True, kw_only=True)
class BidiagonalState(PCAState):
    """A partial bidiagonalization AP = QB, where A is Z, or Z' if Z has fewer rows than columns.

    P and Q have j orthonormal columns, of the smaller and the larger side; B (j, j) is upper
    triangular. `known` (k,) are the singular values before the cycle, if it began at a random
    vector.
    """

    P: Array
    Q: Array
    B: Array
    known: Array | None = None


@dataclass(frozen=True)
class IRLBA(PCASolver[BidiagonalState]):
    """Augmented implicitly restarted Lanczos bidiagonalization, with Ritz vectors.

    A step extends the bases P and Q to m = k + `extra` columns, with full reorthogonalization, and
    decomposes B = USV'. The residual |A'Qu - sPv| of each triplet, relative to the first singular
    value, is b |u_m|, with the norm b of the last residual vector.

    Single vectors find one vector only of a repeated singular value. So small residuals are
    followed by one more cycle, from a random vector; the run ends if that finds no larger singular
    values. The paper has no such check.

    Notes
    -----
    For r rows and d columns a step has at most `extra` new vectors, m in the first. It takes 4rd
    flops for each vector, 4(r + d)m or twice that to orthogonalize it, an SVD of (m, m), and 2(r +
    d)m² for Ritz vectors. Memory: 2(r + d)m numbers. Two passes for each vector.

    References
    ----------
    Baglama and Reichel 2005, "Augmented implicitly restarted Lanczos bidiagonalization methods",
    Algorithm 3.1 with Ritz vectors.
    """

    name: ClassVar[str] = "irlba"
    source: ClassVar[str] = "Baglama and Reichel 2005, Algorithm 3.1"

    tolerance: float = parameter(
        1e-6, help="residual, relative to the first singular value", above=0.0
    )
    extra: int = parameter(7, help="columns of the bases beyond those sought", low=4)

    def init(self, oracle: PCAOracle, rng: np.random.Generator) -> BidiagonalState:
        side, other = sorted((oracle.rows, oracle.n))
        first = rng.standard_normal((side, 1)).astype(oracle.matrix.dtype)
        state = BidiagonalState(
            basis=oracle.start, rng=rng, P=first / np.linalg.norm(first),
            Q=np.empty((other, 0), first.dtype), B=np.empty((0, 0), first.dtype),
        )  # fmt: skip
        state.work.flops += oracle.rows * oracle.n * oracle.center  # the mean
        return state

    def step(self, oracle: PCAOracle, state: BidiagonalState) -> None:
        k, side = oracle.k, len(state.P)
        m = min(k + self.extra, side)
        self._count(oracle, state, m)
        rest = _extended(oracle, state, m)
        U, values, Vt = np.linalg.svd(state.B)
        floor = max(self.tolerance, 8 * float(np.finfo(values.dtype).eps))
        small = float(np.linalg.norm(rest)) * np.abs(U[-1, :k]) <= floor * values[0]
        P, Q, converged = state.P @ Vt.T, state.Q @ U, bool(small.all())
        state.basis = (Q if oracle.rows < oracle.n else P)[:, :k]
        state.passes, state.products = oracle.passes, oracle.products
        grown = values[:k] - (0.0 if state.known is None else state.known)
        if m == side or (converged and grown.max() <= floor * values[0]):
            state.status, state.tolerance = Status.CONVERGED, floor
            return
        kept = min(k + int(np.count_nonzero(small)), m - 3)
        if converged:
            kept, rest = k, state.rng.standard_normal(side).astype(P.dtype)
        state.known = values[:k] if converged else None
        state.P = _appended(state, P[:, :kept], rest)
        state.Q, state.B = Q[:, :kept], np.diag(values[:kept])

    def _count(self, oracle: PCAOracle, state: BidiagonalState, m: int) -> None:
        side, other = sorted((oracle.rows, oracle.n))
        vectors = m - state.Q.shape[1]
        products = 2 * flops.gemm(oracle.rows, vectors, oracle.n)
        projections = flops.gemm(other, vectors, m) + 4 * flops.gemm(side, 1, m)
        restart = flops.svd(m, m) + flops.gemm(side + other, m, m)
        state.work.steps += 1
        state.work.flops += products + projections + restart


def _extended(oracle: PCAOracle, state: BidiagonalState, m: int) -> Array:
    """Extend P, Q and B to m columns; return the last residual vector, A'Q beyond P."""
    wide = oracle.rows < oracle.n
    times = oracle.transposed_times if wide else oracle.times
    back = oracle.times if wide else oracle.transposed_times
    P, Q, B = state.P, state.Q, np.zeros((m, m), state.P.dtype)
    begun = Q.shape[1]
    B[:begun, :begun] = state.B
    for j in range(begun, m):
        along = times(P[:, j:])[:, 0]
        Q = _appended(state, Q, along)
        B[: j + 1, j] = Q.T @ along
        rest = back(Q[:, j:])[:, 0]
        if j + 1 < m:
            P = _appended(state, P, rest)
    state.P, state.Q, state.B = P, Q, B
    for _ in range(2):
        rest = rest - P @ (P.T @ rest)
    return rest


def _appended(state: BidiagonalState, basis: Array, v: Array) -> Array:
    """Return a basis with one column more: v orthogonalized, or a random vector if v vanishes."""
    for _ in range(3):
        if not (length := float(np.linalg.norm(v))):
            break
        v = v / length
        v = v - basis @ (basis.T @ v)
        state.work.flops += 2 * flops.gemm(len(v), 1, basis.shape[1]) + 4 * len(v)
        if (length := float(np.linalg.norm(v))) > 0.5:
            return np.column_stack([basis, v / length])
    return _appended(state, basis, state.rng.standard_normal(len(v)).astype(v.dtype))
