"""Solvers for samples in many blocks, by summaries that can be merged: `SummarySolver`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from orthobench.contract.placed_solver import PlacedSolver
from orthobench.contract.solution import Solution
from orthobench.contract.solver import OracleT_contra, StateT
from orthobench.tools.arrays import Array
from orthobench.tools.places import Place


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What a solver keeps of some blocks; subclasses add arrays and numbers.

    It is pickled where it moves from one process to another, so it should be small.

    Attributes
    ----------
    rows, flops : int
        The samples that it summarizes, and the flops of making it, those of all summaries that were
        merged into it included.
    """

    rows: int
    flops: int = 0

    @property
    def size(self) -> int:
        """Bytes of its arrays and numbers."""
        return sum(_size(getattr(self, f.name)) for f in fields(self))


SummaryT = TypeVar("SummaryT", bound=Summary)


@dataclass(frozen=True)
class BlockOracle:
    """All that the blocks of a pass have in common.

    Attributes
    ----------
    sizes : tuple of int
        `Oracle.sizes`: n, k, and what else the family adds, as the order of a moment tensor.
    start : ndarray, shape (n, k)
        `Oracle.start`.
    rows, number : int
        Samples of all blocks together, and the number of the pass, from 0.
    seed : numpy.random.SeedSequence
        Of the solver's own stream.
    shared : mapping
        What `SummarySolver.proceed` returned after the pass before, such as a basis; empty in the
        first pass.
    """

    sizes: tuple[int, ...]
    start: Array
    rows: int
    seed: np.random.SeedSequence
    number: int = 0
    shared: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Rows of the point sought: features of a sample."""
        return self.sizes[0]

    @property
    def k(self) -> int:
        """Columns of the point sought."""
        return self.sizes[1]

    def rng(self) -> np.random.Generator:
        """Return the solver's own stream from its beginning, the same for each block and pass."""
        return np.random.default_rng(self.seed)


class SummarySolver(
    PlacedSolver[OracleT_contra, StateT], Generic[OracleT_contra, StateT, SummaryT]
):
    """Base of solvers that make a summary of each block of samples, and merge summaries.

    On the places ``blocks`` and ``dask:...`` the harness calls `summarize` for each block, `merge`
    along a binary tree that the number of blocks alone determines, and `finish` with what is left:
    that is a pass, and counts as one step. Elsewhere samples stream through `advance` as they do
    through any solver. The three verbs are pure: they change nothing, and equal arguments give
    equal bits, in whatever process.

    Class attributes
    ----------------
    passes : float
        Passes over the data after which the run is over; infinite where the budget ends it. May be
        a parameter.
    merge_error : float
        The sine of the largest angle between the solutions that other groupings of the same blocks
        give, on the small examples of the conformance checks; 0 where they give equal bits.
    """

    passes: float = 1
    merge_error: ClassVar[float] = 1e-8

    @classmethod
    def computes_on(cls, place: Place) -> bool:
        """Return whether blocks are summarized there, or what another base says."""
        return place.reduces or super().computes_on(place)

    @abstractmethod
    def summarize(self, oracle: BlockOracle, block: Array) -> SummaryT:
        """Return the summary of a block.

        Parameters
        ----------
        oracle : BlockOracle
        block : ndarray, shape (rows, n)
            Finite, at least one row, float64 or float32 in C order: do not write into it, and keep
            no view of it.

        Raises
        ------
        UsageError
            Where the parameters do not fit the instance.
        """

    @abstractmethod
    def merge(self, a: SummaryT, b: SummaryT) -> SummaryT:
        """Return the summary of two groups of blocks, those of `a` before those of `b`."""

    @abstractmethod
    def finish(self, oracle: BlockOracle, summary: SummaryT) -> Solution:
        """Return the solution after a pass; timed as reading.

        Parameters
        ----------
        oracle : BlockOracle
            That of the pass.
        summary : Summary
            Of all blocks.
        """

    def flops(self, oracle: BlockOracle, summary: SummaryT) -> int:
        """Return the flops of a pass, `finish` and `proceed` included.

        By default those of the summary.
        """
        del oracle
        return summary.flops

    def proceed(self, oracle: BlockOracle, summary: SummaryT) -> Mapping[str, Any] | None:
        """Return what the next pass shares, or None where the solver has converged.

        Called on the clock after each pass but the last.
        """
        del oracle, summary
        return {}


def _size(value: object) -> int:
    if isinstance(value, (tuple, list)):
        return sum(map(_size, value))
    return int(getattr(value, "nbytes", 8))
