"""Powers by one decomposition, and polar factors of libraries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from orthobench_kit.polar import gram
from orthobench_kit.stacks import sizes, transposed

from orthobench.contract import (
    AnyProblem,
    Oracle,
    Status,
    UsageError,
    copied,
    flops,
    namespace,
    parameter,
)
from orthobench_polar.base import (
    Factorizing,
    PolarMethod,
    PolarState,
    completed,
    counted,
    rounding_unit,
)
from orthobench_polar.coefficients import SCHEDULES
from orthobench_polar.oracle import PolarOracle, SpectralOracle

WITHOUT_MUON = "PyTorch with torch.optim.Muon is not installed: pip install 'torch>=2.9'"


def begun(oracle: SpectralOracle) -> PolarState:
    """Return the state whose point is A."""
    return PolarState(X=copied(oracle.A), rows=oracle.A.shape[-2])


class OneStep(PolarMethod[PolarState]):
    """Base of the methods of one step."""

    def init(self, oracle: PolarOracle, rng: np.random.Generator) -> PolarState:
        return begun(oracle)


class DirectSolver(OneStep, Factorizing[PolarState]):
    """Base of methods for arrays of any library, and any exponent."""

    needs: ClassVar[type[Oracle]] = SpectralOracle

    def init(self, oracle: SpectralOracle, rng: np.random.Generator) -> PolarState:
        return begun(oracle)


@dataclass(frozen=True)
class PolarSVD(DirectSolver):
    """U S^exponent V' of the singular value decomposition A = U S V'.

    If the exponent is negative, singular values below rounding become zero.

    Notes
    -----
    Flops: 6np² + 20p³ and 2np². Memory: 3np + 2p².

    References
    ----------
    Autonne 1902; Golub and Van Loan 2013, section 9.4.3.
    """

    name: ClassVar[str] = "polar-svd"
    source: ClassVar[str] = "Autonne 1902"

    def step(self, oracle: SpectralOracle, state: PolarState) -> None:
        state.work.steps += 1
        xp = namespace(oracle.A)
        U, values, Vt = xp.linalg.svd(oracle.A, full_matrices=False)
        _, n, p = sizes(state.X)
        state.X = (U * xp.expand_dims(powers(values, oracle.exponent, n), axis=-2)) @ Vt
        scaling = n * p + p if oracle.exponent else 0
        counted(state, tall=1, other=flops.svd(n, p) + scaling)
        state.status = Status.CONVERGED


@dataclass(frozen=True)
class PolarEigh(DirectSolver):
    """A V D^((exponent - 1)/2) V' with the eigendecomposition A'A = V D V'.

    Singular values below 1e-8 of the largest are lost, and half of the digits of the others. Lost
    directions come from a singular value decomposition of A there.

    Notes
    -----
    Flops: 4np² + 11p³. Memory: 2np + 3p².
    """

    name: ClassVar[str] = "polar-eigh"
    source: ClassVar[str] = "Björck and Bowie 1971, section 1"

    def step(self, oracle: SpectralOracle, state: PolarState) -> None:
        state.work.steps += 1
        xp = namespace(oracle.A)
        values, V = xp.linalg.eigh(gram(oracle.A))
        p = values.shape[-1]
        floor = p * rounding_unit(oracle.A) * xp.max(values, axis=-1, keepdims=True)
        there = values > floor
        one = xp.ones_like(values)
        kept = xp.where(there, values, one)
        roots = xp.where(there, kept ** (oracle.exponent / 2) / xp.sqrt(kept), 0 * one)
        state.X = oracle.A @ ((V * xp.expand_dims(roots, axis=-2)) @ transposed(V))
        powered = p if oracle.exponent else 0
        counted(state, tall=2, small=1, other=flops.eigh(p) + p * p + powered)
        if not oracle.exponent and not bool(xp.all(there)):
            state.X = completed(state.X, oracle.A)
        state.status = Status.CONVERGED


def powers(values: Any, exponent: float, rows: int) -> Any:
    """Return powers of descending singular values; 0 below rounding if the exponent is negative."""
    if exponent >= 0:
        return values**exponent
    xp = namespace(values)
    there = values > rows * rounding_unit(values) * values[..., :1]
    one = xp.ones_like(values)
    return xp.where(there, xp.where(there, values, one) ** exponent, 0 * one)


@dataclass(frozen=True)
class ScipyPolar(OneStep):
    """`scipy.linalg.polar`, one matrix after another, with the positive part.

    Notes
    -----
    Flops, nominal: 6np² + 20p³ for the decomposition, 2np² and 4p³. Memory: 3np + 4p².
    """

    name: ClassVar[str] = "scipy-polar"
    source: ClassVar[str] = "scipy.linalg.polar"
    doi: ClassVar[str] = "10.1038/s41592-019-0686-2"
    packages: ClassVar[tuple[str, ...]] = ("scipy",)

    def step(self, oracle: PolarOracle, state: PolarState) -> None:
        from scipy.linalg import polar

        state.work.steps += 1
        A = oracle.A if oracle.A.ndim > 2 else oracle.A[None]
        try:
            state.X = np.stack([polar(matrix)[0] for matrix in A]).reshape(oracle.A.shape)
        except (ValueError, np.linalg.LinAlgError) as error:  # NaN, or no convergence
            state.status, state.reason = Status.FAILED, f"scipy.linalg.polar: {error}"
            return
        _, n, p = sizes(state.X)
        counted(state, tall=1, small=2, other=flops.svd(n, p))
        state.status = Status.CONVERGED


@dataclass(frozen=True)
class TorchMuon(OneStep):
    """`torch.optim.Muon`'s orthogonalization: Jordan's polynomial in bfloat16.

    Its steps are one step here. The conversion from float32 is timed. Flops: 4np² + 2p³ for each
    of its steps. Memory: 2np + 2p² numbers of two bytes.
    """

    name: ClassVar[str] = "torch-muon"
    source: ClassVar[str] = "torch.optim.Muon"
    doi: ClassVar[str] = "10.1145/3620665.3640366"
    packages: ClassVar[tuple[str, ...]] = ("torch",)

    count: int = parameter(5, name="steps", low=1, help="polynomials")

    def refuses(self, problem: AnyProblem) -> str | None:
        if why := super().refuses(problem):
            return why
        if getattr(problem, "batch", 0):
            return "torch.optim.Muon takes one matrix at a time"
        return None if _muon() else WITHOUT_MUON

    def init(self, oracle: PolarOracle, rng: np.random.Generator) -> PolarState:
        if _muon() is None:
            raise UsageError(WITHOUT_MUON)
        return super().init(oracle, rng)

    def step(self, oracle: PolarOracle, state: PolarState) -> None:
        import torch

        state.work.steps += 1
        A = torch.from_numpy(oracle.A.astype(np.float32))
        found = _muon()(A, SCHEDULES["jordan"].at(0), self.count, 1e-7)
        state.X = found.double().numpy()
        _, n, p = sizes(state.X)
        other = 5 * self.count * p * p + 3 * n * p
        counted(state, tall=2 * self.count, small=self.count, other=other)
        state.status = Status.COMPLETE


def _muon() -> Any:
    try:
        from torch.optim._muon import _zeropower_via_newtonschulz
    except ImportError:
        return None
    return _zeropower_via_newtonschulz
