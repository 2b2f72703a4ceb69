"""The base of all methods that keep a spectrum and change it by one rank-one update a sample."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, SampleOracle, Solver
from orthobench_stochastic_pca.averaging import Average
from orthobench_stochastic_pca.blocks import BLOCK, BlockState, advance_blocks, fail_on_nan
from orthobench_stochastic_pca.spectrum import Iterate, Rule


@dataclass(frozen=True)
class Tracked:
    """The iterate, and the sum of all iterates where that is asked for; immutable."""

    matrix: Iterate
    total: Average | None = None


@dataclass(slots=True, kw_only=True)
class SpectrumState(BlockState[Tracked]):
    """The state of a method that keeps a spectrum.

    Attributes
    ----------
    start : ndarray, shape (d, k)
        The oracle's start: completes a basis of lower rank.
    rule : Rule
        What becomes of the eigenvalues.
    seed : int
        Seed of sampled rounding.
    """

    start: Array
    rule: Rule
    seed: int


@dataclass(frozen=True)
class RankUpdates(Solver[SampleOracle, SpectrumState]):
    """Base of the methods M <- projection of (M + eta xx'), each sample one step.

    At rank m they cost about 2(m + b)(1 + m/b)d + 2m²(m + b) flops a sample in blocks of b,
    nearly all of it in matrix products, and 3(m + b)d doubles of memory. They are exact: the
    blocks change the rounding only.

    Class attributes
    ----------------
    block : int
        Samples in a block: more where the rank is higher.
    """

    block: ClassVar[int] = BLOCK
    needs: ClassVar[type[SampleOracle]] = SampleOracle
    batch = 1

    @abstractmethod
    def rule(self, oracle: SampleOracle) -> Rule:
        """Return what becomes of the eigenvalues; refuse parameters that do not fit."""

    @abstractmethod
    def first(self, oracle: SampleOracle) -> Iterate:
        """Return the iterate before the first sample."""

    @abstractmethod
    def etas(self, first: int, count: int) -> Array:
        """Return the step sizes eta_t for t = first, ..., first + count - 1."""

    @property
    def averages(self) -> bool:
        """Whether the iterates are summed up."""
        return False

    def init(self, oracle: SampleOracle, rng: np.random.Generator) -> SpectrumState:
        """Begin at the first iterate; `rng` gives the seed of sampled rounding."""
        rule = self.rule(oracle)
        tracked = Tracked(self.first(oracle), Average() if self.averages else None)
        return SpectrumState(
            iterate=tracked,
            base=tracked,
            pending=np.empty((0, oracle.n)),
            start=oracle.start,
            rule=rule,
            seed=int(rng.integers(2**63)),
        )

    def step(self, oracle: SampleOracle, state: SpectrumState) -> None:
        """Take one sample."""
        self.advance(oracle, state, 1)

    def advance(self, oracle: SampleOracle, state: SpectrumState, count: int) -> None:
        """Take `count` samples, one update each."""

        def process(tracked: Tracked, samples: Array, first: int) -> Tracked:
            etas = self.etas(first + 1, len(samples))
            if tracked.total is None:
                return self._updated(tracked.matrix, samples, etas, state.rule)
            return self._averaged(tracked, samples, etas, state.rule)

        advance_blocks(state, oracle.take(count), self.block, process)
        fail_on_nan(state, state.iterate.matrix.drift)
        state.work.flops = state.iterate.matrix.flops

    def _updated(self, matrix: Iterate, samples: Array, etas: Array, rule: Rule) -> Tracked:
        from orthobench_stochastic_pca.updates import update_blocks

        updated, _ = update_blocks(matrix, samples, etas, self.block, rule, summing=False)
        return Tracked(updated)

    def _averaged(self, tracked: Tracked, samples: Array, etas: Array, rule: Rule) -> Tracked:
        from orthobench_stochastic_pca.updates import update_blocks

        matrix, total = tracked.matrix, tracked.total or Average()
        for first in range(0, len(samples), self.block):
            block = slice(first, first + self.block)
            updated, P = update_blocks(
                matrix, samples[block], etas[block], self.block, rule, summing=True
            )
            matrix, total = updated, total.plus(P)
        return Tracked(matrix, total)


def zero(d: int, floor: float = 0.0) -> Iterate:
    """Return the iterate floor I."""
    return Iterate(np.empty((0, d)), np.empty(0), floor)


def on_start(start: Array, value: float, full: bool) -> Iterate:
    """Return the iterate with `value` on the span of `start`, (d, k), and zero elsewhere."""
    basis = np.array(start.T, order="C")
    return Iterate(basis, np.full(len(basis), value), 0.0, full)
