"""Matrices and iterations in half precision, for papers on polar factors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

import orthobench as ob
from orthobench.contract import AnySolver, Array, identity
from orthobench.tools import environment
from orthobench_papers.reproduce import Evidence, Rows, catalogue


def draw(name: str, rng: np.random.Generator) -> Array:
    """Draw the matrix of a name: ``"Gaussian, 128 x 64"``.

    Others are ``"Cauchy, ..."``, ``"scaled columns, ..."``, normal ones of scales from 1 to 0.01,
    and ``"condition 1e3, ..."``, with singular values at even logarithmic distances.
    """
    kind, shape = name.split(", ")
    n, p = map(int, shape.split(" x "))
    if kind == "Cauchy":
        return rng.standard_cauchy((n, p))
    A = rng.standard_normal((n, p))
    if kind == "Gaussian":
        return A
    if kind == "scaled columns":
        return np.asarray(A / np.geomspace(1, 100, p))
    U, V = np.linalg.qr(A)[0], np.linalg.qr(rng.standard_normal((p, p)))[0]
    return np.asarray((U * np.geomspace(1, 1 / float(kind.removeprefix("condition ")), p)) @ V.T)


def drawn(name: str, evidence: Evidence, most: int) -> list[Array]:
    """Return a matrix for each of the first seeds."""
    seeds = evidence.seeds[: evidence.sized(most, 3)]
    return [draw(name, np.random.default_rng([seed, 45])) for seed in seeds]


def of_each(
    draws: Sequence[str], evidence: Evidence, most: int, value: Callable[[Array], float]
) -> Rows:
    """Return a number of each drawn matrix, by its name."""
    return {name: [value(A) for A in drawn(name, evidence, most)] for name in draws}


def bfloat16(A: Array) -> Array:
    """Round to eight binary digits, half to even."""
    bits = np.asarray(A, dtype=np.float32).view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7FFF + ((bits >> np.uint64(16)) & np.uint64(1))) & np.uint64(0xFFFF0000)
    return bits.astype(np.uint32).view(np.float32).astype(np.float64)


def float16(A: Array) -> Array:
    """Round to eleven binary digits, between 6e-8 and 65504."""
    return np.asarray(A, dtype=np.float16).astype(np.float64)


def exact(A: Any) -> Any:
    """Return A as it is."""
    return A


PRECISIONS = {"float64": exact, "float16": float16, "bfloat16": bfloat16}
"""Rounding of entries by precision; sums within a product are exact."""


def begun(A: Array, precision: str) -> tuple[Any, Callable[[Any], Any]]:
    """Return A / |A| in a precision, and a function that rounds to it.

    PyTorch's half precisions, if it is installed, are rounded already.
    """
    X = A / np.linalg.norm(A)
    if precision == "float64" or environment.version("torch") is None:
        return PRECISIONS[precision](X), PRECISIONS[precision]
    import torch

    return torch.from_numpy(X).to(getattr(torch, precision)), exact


def ended(X: Any) -> Array:
    """Return X in double precision."""
    return np.asarray(X if isinstance(X, np.ndarray) else X.double().numpy())


@cache
def polynomials(coefficients: str, steps: int) -> tuple[tuple[float, float, float], ...]:
    """Return the first polynomials of a schedule of `newton-schulz`.

    Plugins are loaded by then.
    """
    solver: AnySolver = catalogue().solver("newton-schulz", {"coefficients": coefficients})
    return tuple(solver.at(number) for number in range(1, steps + 1))  # type: ignore[attr-defined]


def newton_schulz(
    A: Array, steps: Sequence[tuple[float, float, float]], precision: str = "float64"
) -> Array:
    """Return Newton-Schulz iterations from A / |A|, with every matrix rounded.

    Parameters
    ----------
    A : ndarray, shape (n, p)
    steps : sequence of (float, float, float)
        See `polynomials`.
    precision : {"float64", "float16", "bfloat16"}
    """
    X, rounded = begun(A, precision)
    for a, b, c in steps:
        S = rounded(X.T @ X)
        P = rounded(b * S + rounded(c * (S @ S)))
        X = rounded(a * X + X @ P)
    return ended(X)


def gram_newton_schulz(
    A: Array, steps: Sequence[tuple[float, float, float]], restart: int, precision: str = "float64"
) -> Array:
    """Return the same by the Gram matrix, computed again after `restart` steps."""
    X, rounded = begun(A, precision)
    unit = identity(A.shape[1], X)
    R, Q = rounded(X.T @ X), unit
    for number, (a, b, c) in enumerate(steps, 1):
        P = rounded(a * unit + b * R + c * (R @ R))
        Q = rounded(Q @ P)
        R = rounded(P @ rounded(R @ P))
        if number == restart and number < len(steps):
            X = rounded(X @ Q)
            R, Q = rounded(X.T @ X), unit
    return ended(rounded(X @ Q))


def mapped(values: Array, steps: Sequence[tuple[float, float, float]]) -> Array:
    """Return the mapped singular values, infinite if they overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        for a, b, c in steps:
            values = values * (a + values**2 * (b + c * values**2))
    return np.where(np.isfinite(values), values, np.inf)


def polar_factor(A: Array) -> Array:
    """Return UV' of A = U S V', in double precision."""
    U, _, Vt = np.linalg.svd(A, full_matrices=False)
    return np.asarray(U @ Vt)


def off_one(X: Array) -> float:
    """Return the largest distance of a singular value from 1."""
    return float(np.abs(np.linalg.svd(X, compute_uv=False) - 1).max())


def off_unit(X: Array) -> float:
    """Return the largest entry of |X'X - I|."""
    return float(np.abs(X.T @ X - np.eye(X.shape[1])).max())


def distance(X: Array, Y: Array) -> float:
    """Return the root mean square difference from orthonormal columns."""
    return float(np.linalg.norm(X - Y)) / float(np.sqrt(X.shape[1]))


def metrics(solver: str, A: Array, **parameters: Any) -> Mapping[str, float]:
    """Return the final metrics of a solver of the catalogue on A."""
    return ob.solve(solver, ob.polar(A), **parameters).trace[-1].metrics
