"""The checks of a `SummarySolver`, on a few blocks of a small instance: `SUMMARIES`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial, reduce
from typing import Any, TypeAlias

import numpy as np

from orthobench.contract.placed_solvers import BlockOracle, Summary, SummarySolver
from orthobench.contract.problem import AnyInstance, Solution
from orthobench.contract.samples import BlockSource
from orthobench.harness.judging import FEASIBLE
from orthobench.testing.check import NotCheckable, check, require
from orthobench.testing.shared_checks import pickled
from orthobench.testing.short_runs import Runner, difference_of_solutions
from orthobench.tools.collections import reduced
from orthobench.tools.object_graph import Snapshot

ROWS = 350
"""Maximum number of samples."""

ENDS = (0.25, 0.3, 0.5, 0.6, 0.8, 0.9)
"""Ends of the blocks but the last, as parts of the samples."""

PASSES = 2
"""Maximum number of passes."""

AnySummarySolver: TypeAlias = SummarySolver[Any, Any, Any]

Reduce: TypeAlias = "Callable[[list[Summary]], Summary]"


class BlockRunner(Runner):
    """A solver, the oracle of its first pass, and blocks of samples."""

    solver: AnySummarySolver

    def __init__(self, solver: AnySummarySolver, instance: AnyInstance) -> None:
        super().__init__(solver, instance)
        source = getattr(self.oracle, "source", None)
        if not isinstance(source, BlockSource):
            raise NotCheckable("the samples of the instance are no blocks: pass one of an array")
        self.rewind()
        rows = np.concatenate([source.block(i) for i in range(source.count)])[:ROWS]
        blocks = np.split(rows, [round(len(rows) * end) for end in ENDS])
        self.blocks = [block.copy() for block in blocks if len(block)]
        sizes, start = self.oracle.sizes, self.oracle.start
        self.first = BlockOracle(sizes, start, len(rows), self.streams.solver)

    def passes(self, merged: Reduce) -> Iterator[tuple[BlockOracle, Summary]]:
        """Yield the oracle and the whole summary of each pass."""
        oracle = self.first
        for number in range(int(min(PASSES, self.solver.passes))):
            whole = merged([self.solver.summarize(oracle, b) for b in self.blocks])
            yield oracle, whole
            shared = self.solver.proceed(oracle, whole)
            if shared is None:
                return
            oracle = replace(oracle, number=number + 1, shared=shared)

    def tree(self, parts: list[Summary]) -> Summary:
        """Merge as a run does."""
        return reduced(parts, self.solver.merge)

    def solutions(self, merged: Reduce) -> list[Solution]:
        """Return the solution after each pass."""
        return [self.solver.finish(oracle, whole) for oracle, whole in self.passes(merged)]


_of_blocks = partial(check, subject=BlockRunner)


@_of_blocks()
def summaries(runner: BlockRunner) -> None:
    """Require that a pass over blocks gives a solution, and counts."""
    solver = runner.solver
    for oracle, whole in runner.passes(runner.tree):
        kind = type(whole).__name__
        require(isinstance(whole, Summary), f"merge returns a {kind}", "Return a Summary")
        observed = f"the summary of {oracle.rows} samples counts {whole.rows} in rows"
        remedy = "Count len(block) in summarize; add both in merge"
        require(whole.rows == oracle.rows, observed, remedy)
        flops = solver.flops(oracle, whole)
        observed = f"the flops of a pass are {flops!r}"
        require(type(flops) is int and flops >= 0, observed, "Count in Python integers: int(...)")
        violation = runner.instance.violation(solver.finish(oracle, whole))
        observed = f"the solution of a pass violates the constraint by {violation:.2g}"
        remedy = f"{FEASIBLE:g} is allowed: orthonormalize in `finish`"
        require(violation <= FEASIBLE, observed, remedy)


@_of_blocks(summaries)
def pure(runner: BlockRunner) -> None:
    """Require that summarize, merge and finish change nothing."""
    solver, first = runner.solver, runner.first
    parts = [solver.summarize(first, block) for block in runner.blocks[:2]]
    whole = solver.merge(*parts)
    before = Snapshot((solver, first, runner.blocks, parts, whole))
    solver.summarize(first, runner.blocks[0])
    solver.merge(*parts)
    solver.finish(first, whole)
    solver.proceed(first, whole)
    observed = "summarize, merge, finish or proceed changes its arguments, or the solver"
    require(before.changed() is None, observed, "Copy what you change")


@_of_blocks(summaries)
def merging(runner: BlockRunner) -> None:
    """Require that groupings differ by merge_error at most."""
    solver, ours = runner.solver, runner.solutions(runner.tree)
    merge, error = solver.merge, solver.merge_error
    in_order = runner.solutions(lambda parts: reduce(merge, parts))
    _require_same(ours, in_order, "merged one after the other", error)
    from_end = runner.solutions(lambda parts: reduce(lambda a, b: merge(b, a), reversed(parts)))
    _require_same(ours, from_end, "merged from the last on", error)


@_of_blocks(summaries)
def arrival(runner: BlockRunner) -> None:
    """Require that the order of blocks in time changes no bit."""
    merge, ours = runner.solver.merge, runner.solutions(runner.tree)

    def merged_elsewhere(a: Summary, b: Summary) -> Summary:
        merged: Summary = merge(a, b)
        return pickled(merged, "a summary")

    there = runner.solutions(lambda parts: reduced(map(pickled, parts), merged_elsewhere))
    _require_same(ours, there, "sent by pickle")
    runner.blocks.reverse()
    reversed_in_time = runner.solutions(lambda parts: runner.tree(parts[::-1]))
    _require_same(ours, reversed_in_time, "made in another order")


def _require_same(
    ours: list[Solution], theirs: list[Solution], how: str, error: float = 0.0
) -> None:
    """Raise if solutions differ in any bit, and by an angle above `error`."""
    for one, other in zip(ours, theirs, strict=False):
        U, V = one.point, other.point
        sine = float(np.linalg.norm(V - U @ (U.T @ V), 2))
        same = difference_of_solutions(one, other) is None
        observed = f"summaries that are {how} turn the solution by an angle of {sine:.2g}"
        remedy = f"Keep all in the summary; only merging may lose, {error:g} here (`merge_error`)"
        require(same or 0 < error >= sine, observed, remedy)


SUMMARIES = (summaries, pure, merging, arrival)
"""The checks of solvers that merge summaries, in order."""
