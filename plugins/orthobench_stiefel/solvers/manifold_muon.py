"""Manifold Muon."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, flops, parameter
from orthobench_stiefel import StiefelOracle
from orthobench_stiefel.descent import Iterate
from orthobench_stiefel.spectral import SpectralDescent, msign

TANGENT = 1e-6
"""Root mean square of X'A + A'X at which the dual is solved."""

DUAL_STEPS = {
    ("ascent", True): 0.2,
    ("admm", True): 1.0,
    ("ascent", False): 0.01,
    ("admm", False): 4.0,
}
"""Default dual steps, by the dual method and ``relative``."""


@dataclass(frozen=True)
class ManifoldMuon(SpectralDescent[Iterate]):
    """X <- msign(X - t A), A the tangent matrix with |A|_2 <= 1 and the largest <G, A>.

    Its dual minimizes the nuclear norm of G + 2 X L over symmetric L, from L = -sym(X'G)/2, in at
    most ``dual_steps`` steps. It ends if the root mean square of H, and of the change of A by
    ADMM, is below 1e-6.

    - ``ascent``: A = msign(G + 2 X L), H = X'A + A'X, L <- L - r (1 - s/S) H in the step s of S.

    - ``admm``: with Y = G + 2 X L, whose multiplier is -A: L by least squares, Y by soft
      thresholds of singular values at 1/r, A clipped to |A|_2 <= 1.

    With ``relative`` r is ``dual_step`` times, for ADMM divided by, the root mean square of the
    singular values of G, in which the authors' step has its unit. The default is .2, for ADMM 1,
    and without ``relative`` the authors' .01 and 4.

    Notes
    -----
    Flops of a step: a gradient, 20np² + 20p³, and for each dual step 12np² + 20p³, with ADMM 14np²
    + 20p³. Memory: 5np + 3p², with ADMM 7np + 3p².

    References
    ----------
    Bernstein 2025, "Modular manifolds", Thinking Machines; Buchanan 2025, "Faster manifold Muon
    with ADMM", whose code returns msign(G + 2 X L) in place of the multiplier.
    """

    name: ClassVar[str] = "manifold-muon"
    source: ClassVar[str] = "Bernstein 2025"

    dual: str = parameter("ascent", choices=("ascent", "admm"), help="how the dual is solved")
    dual_step: float | None = parameter(None, above=0.0, help="dual step, or weight of ADMM")
    dual_steps: int = parameter(100, low=1, help="maximum number of dual steps")
    relative: bool = parameter(True, help="dual step in units of the singular values of G")

    def init(self, oracle: StiefelOracle, rng: np.random.Generator) -> Iterate:
        return Iterate(**self.begun(oracle))

    def direction(self, state: Iterate, G: Array) -> Array:
        n, p = G.shape
        unit = float(np.linalg.norm(G)) / sqrt(p) if self.relative else 1.0
        rate = self.dual_step or DUAL_STEPS[self.dual, self.relative]
        solve = dual_ascent if self.dual == "ascent" else dual_admm
        A, _, done = solve(state.X, G, rate, self.dual_steps, unit)
        state.work.flops += done + 2 * n * p
        return A


def off_tangent(X: Array, A: Array) -> Array:
    """Return X'A + A'X."""
    XA = X.T @ A
    return XA + XA.T


def small(H: Array) -> bool:
    """Return whether the root mean square of the entries is below `TANGENT`."""
    return float(np.linalg.norm(H)) <= TANGENT * sqrt(H.size)


def dual_ascent(X: Array, G: Array, rate: float, most: int, unit: float) -> tuple[Array, int, int]:
    """Return A by subgradients of the dual, the dual steps taken (at most `most`), and the flops.

    X and G have the shape (n, p); `unit` is that of the singular values of G.
    """
    n, p = G.shape
    L = -off_tangent(X, G) / 4
    done, A, taken = flops.gemm(n, p, p) + 2 * p * p, G, 0
    while taken < most:
        taken += 1
        A, spent = msign(G + 2 * (X @ L))
        H = off_tangent(X, A)
        done += spent + 2 * flops.gemm(n, p, p) + 2 * n * p + 3 * p * p
        if small(H):
            break
        L = L - rate * unit * (1 - (taken - 1) / most) * H
        done += 2 * p * p
    return A, taken, done


def dual_admm(X: Array, G: Array, rate: float, most: int, unit: float) -> tuple[Array, int, int]:
    """Return A by alternating directions, as `dual_ascent`."""
    n, p = G.shape
    weight = rate / unit
    L = -off_tangent(X, G) / 4
    Y = G + 2 * (X @ L)
    A, done, taken = np.zeros_like(G), 2 * flops.gemm(n, p, p) + 2 * n * p + 2 * p * p, 0
    while taken < most:
        taken += 1
        L = off_tangent(X, Y - G - A / weight) / 4
        Z = G + 2 * (X @ L)
        U, values, Vt = np.linalg.svd(Z + A / weight, full_matrices=False)
        before, A = A, (U * np.minimum(weight * values, 1.0)) @ Vt
        Y = (U * np.maximum(values - 1 / weight, 0.0)) @ Vt
        done += 4 * flops.gemm(n, p, p) + flops.svd(n, p) + 12 * n * p + 2 * p * p
        if small(A - before) and small(off_tangent(X, A)):
            break
    return A, taken, done
