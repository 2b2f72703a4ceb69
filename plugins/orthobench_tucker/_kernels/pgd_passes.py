"""Projected gradient ascent on blocks: each pass evaluates F and its gradient at one basis."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import (
    Array,
    BlockOracle,
    Solution,
    SummarySolver,
    complete,
    flops,
    unit_columns,
)
from orthobench_tucker import SymmetricTensorOracle
from orthobench_tucker._kernels.ascending import SMALLEST, Iterate, unresolved
from orthobench_tucker._kernels.block_sums import BlockSum, added, in_double
from orthobench_tucker._kernels.pgd_state import PGDState, accepts, first_state
from orthobench_tucker._kernels.sample_cores import SampleCores
from orthobench_tucker.objective import derivatives_flops
from orthobench_tucker.sample_moments import monomials
from orthobench_tucker.sketch import (
    OVERSAMPLING,
    block_sketch,
    gaussian_factors,
    leading_directions,
    sketch_flops,
)

STARTS = ("auto", "sketch", "random")
"""Starts that one pass over blocks can make, or that need none."""


class PGDPasses(SummarySolver[SymmetricTensorOracle, PGDState, BlockSum]):
    """The verbs of `pgd`; between passes goes the basis to evaluate, ``"basis"``, and the state.

    Attributes
    ----------
    start, rule : str
    step_size, tolerance : float
    """

    passes: float = math.inf
    start: str
    rule: str
    step_size: float
    tolerance: float

    def refusal_of_passes(self) -> str | None:
        """Return why parameters ask for more than passes over blocks, or None."""
        if self.rule != "ascending":
            return f"steps by the rule ascending on blocks, not {self.rule}"
        if self.start not in STARTS:
            return f"starts from auto, sketch or random on blocks, not from {self.start}"
        return None

    def summarize(self, oracle: BlockOracle, block: NDArray[np.floating[Any]]) -> BlockSum:
        """Return the sketch of a block in the pass that makes the start; else its part of W."""
        n, rank, order = oracle.sizes
        if self._sketches(oracle):
            columns = min(n, rank + OVERSAMPLING)
            factors = gaussian_factors(order, n, columns, oracle.rng())
            total, spent = block_sketch(block, factors), sketch_flops(len(block), n, columns, order)
        else:
            total, spent = core_sum(block, _basis(oracle), order)
        return BlockSum(rows=len(block), total=total, flops=spent)

    def merge(self, a: BlockSum, b: BlockSum) -> BlockSum:
        """Return the sum of two sums."""
        return added(a, b)

    def finish(self, oracle: BlockOracle, summary: BlockSum) -> Solution:
        """Return the sketch's basis, or the best basis so far."""
        if self._sketches(oracle):
            return Solution(_sketched_basis(oracle, summary))
        state, _ = self._evaluated(oracle, summary)
        return Solution(np.ascontiguousarray(state.basis.T))

    def flops(self, oracle: BlockOracle, summary: BlockSum) -> int:
        """Return the flops of a pass."""
        n, rank, order = oracle.sizes
        if self._sketches(oracle):
            return summary.flops + flops.svd(*summary.total.shape)
        return summary.flops + step_flops(n, rank, monomials(rank, order - 1).size)

    def proceed(self, oracle: BlockOracle, summary: BlockSum) -> Mapping[str, Any] | None:
        """Return the next basis to evaluate, or None at the end."""
        from orthobench_tucker._kernels.pgd_kernels import stepped_by_length

        if self._sketches(oracle):
            return {"basis": np.ascontiguousarray(_sketched_basis(oracle, summary).T)}
        state, accepted = self._evaluated(oracle, summary)
        stuck = not accepted and (unresolved(state.iterate) or state.step_size <= SMALLEST)
        if stuck or 0 < self.tolerance >= state.relative_gradient:
            return None
        moved = stepped_by_length(*state.iterate[:3], state.squares, state.step_size)
        return {"basis": moved, "state": state}

    def _sketches(self, oracle: BlockOracle) -> bool:
        """Return whether a pass makes the start."""
        return oracle.number == 0 and self.start != "random"

    def _evaluated(self, oracle: BlockOracle, summary: BlockSum) -> tuple[PGDState, bool]:
        """Return the state after a pass, and whether the basis that it evaluated was accepted."""
        from orthobench_tucker._kernels.pgd_kernels import evaluated

        basis, order = _basis(oracle), oracle.sizes[2]
        multiplicities = monomials(oracle.k, order - 1).multiplicities
        trial = Iterate(basis, *evaluated(summary.mean, basis, multiplicities, order))
        if "state" not in oracle.shared:
            return first_state(trial, self.step_size), True
        state = replace(oracle.shared["state"])
        return state, accepts(state, trial, order, self.step_size)


def core_sum(block: NDArray[np.floating[Any]], basis: Array, order: int) -> tuple[Array, int]:
    """Return the sum of x ⊗ Q'x ⊗ ... ⊗ Q'x over a block, transposed, and the flops.

    Parameters
    ----------
    block : ndarray, shape (p, n)
    basis : ndarray, shape (r, n)
        Q'.
    order : int
        d.

    Returns
    -------
    total : ndarray, shape (N, n)
        A row for each monomial of degree d - 1.
    flops : int
    """
    size = monomials(len(basis), order - 1).size
    total, spent = np.zeros((size, block.shape[1])), 0
    for samples in in_double(block):
        cores = SampleCores(samples, order)
        total += len(samples) * cores.at(basis.T).T
        spent += cores.at_flops(len(basis))
    return total, spent


def step_flops(n: int, rank: int, size: int) -> int:
    """Return the flops of a step besides W: S, W - QS, P and V, the step and the retraction.

    Parameters
    ----------
    n, rank : int
        n and r.
    size : int
        N.
    """
    return derivatives_flops(n, rank, size) + flops.gemm(n, rank, rank) + flops.qr(n, rank)


def _basis(oracle: BlockOracle) -> Array:
    """Return Q' of a pass, shape (r, n)."""
    basis: Array = oracle.shared.get("basis", oracle.start.T)
    return np.ascontiguousarray(basis)


def _sketched_basis(oracle: BlockOracle, summary: BlockSum) -> Array:
    found = leading_directions(unit_columns(summary.total), oracle.k)
    return complete(found, oracle.start, oracle.k)
