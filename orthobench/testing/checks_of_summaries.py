"""The checks of a `SummarySolver`, on a few blocks of a small instance: `SUMMARIES`."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial, reduce
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from orthobench.contract.placed_solvers import BlockOracle, Summary, SummarySolver
from orthobench.contract.problem import AnyInstance, Solution
from orthobench.contract.samples import BlockSource
from orthobench.harness.judging import FEASIBLE
from orthobench.testing.check import NotCheckable, NotConforming, check, require
from orthobench.testing.short_runs import Runner, difference_of_solutions
from orthobench.tools.collections import reduced
from orthobench.tools.object_graph import Snapshot

ROWS = 350
"""Maximum number of samples."""

ENDS = (0.0, 0.25, 0.3, 0.5, 0.6, 0.8, 0.9, 1.0)
"""Ends of the blocks, as parts of the samples."""

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
        ends = [round(len(rows) * end) for end in ENDS]
        self.blocks = [rows[a:b].copy() for a, b in pairwise(ends) if a < b]
        self.first = BlockOracle(
            self.oracle.sizes, self.oracle.start, len(rows), self.streams.solver
        )

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
        require(
            whole.rows == oracle.rows,
            f"the summary of {oracle.rows} samples counts {whole.rows} in rows",
            "Count len(block) in summarize; add both in merge",
        )
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
    solver = runner.solver
    parts = [solver.summarize(runner.first, block) for block in runner.blocks[:2]]
    whole = solver.merge(*parts)
    calls: dict[str, Callable[[], object]] = {
        "summarize": lambda: solver.summarize(runner.first, runner.blocks[0]),
        "merge": lambda: solver.merge(*parts),
        "finish": lambda: solver.finish(runner.first, whole),
        "proceed": lambda: solver.proceed(runner.first, whole),
    }
    before = Snapshot((solver, runner.first, runner.blocks, parts, whole))
    for name, call in calls.items():
        call()
        observed = f"{name} changes its arguments, or the solver"
        require(before.changed() is None, observed, "Copy what you change")


@_of_blocks(summaries)
def merging(runner: BlockRunner) -> None:
    """Require that groupings differ by merge_error at most."""
    merge = runner.solver.merge
    groupings: list[Reduce] = [
        lambda parts: reduce(merge, parts),
        lambda parts: reduce(lambda whole, part: merge(part, whole), reversed(parts)),
    ]
    for grouping in groupings:
        pairs = zip(runner.solutions(runner.tree), runner.solutions(grouping), strict=False)
        for ours, theirs in pairs:
            different = difference_of_solutions(ours, theirs)
            U, V = ours.point, theirs.point
            sine = float(np.linalg.norm(V - U @ (U.T @ V), 2))
            require(
                different is None or 0 < runner.solver.merge_error >= sine,
                "another grouping of the blocks turns the solution by an angle of sine "
                f"{sine:.2g}, and merge_error is {runner.solver.merge_error:g}",
                "Declare the loss of merging in `merge_error`, or lose less",
            )


@_of_blocks(summaries)
def arrival(runner: BlockRunner) -> None:
    """Require that the order of blocks in time changes no bit."""
    merge, tree = runner.solver.merge, runner.tree

    def sent(parts: list[Summary]) -> Summary:
        return reduced(map(_sent, parts), lambda a, b: _sent(merge(a, b)))

    in_order = runner.solutions(tree), runner.solutions(sent)
    runner.blocks.reverse()
    for ours, *theirs in zip(
        *in_order, runner.solutions(lambda parts: tree(parts[::-1])), strict=False
    ):
        for other, what in zip(theirs, ("sent by pickle", "made in another order"), strict=True):
            difference = difference_of_solutions(ours, other)
            require(
                difference is None,
                f"summaries that are {what} give another solution: {difference}",
                "Keep all in the summary, in arrays and numbers, and nothing in the solver; draw "
                "from oracle.rng() only",
            )


def _sent(summary: Summary) -> Summary:
    try:
        again: Summary = pickle.loads(pickle.dumps(summary))  # noqa: S301 - pickled right here
    except Exception as error:
        remedy = "Keep arrays and numbers in it, no functions, files or kernels"
        raise NotConforming(f"a summary cannot be pickled: {error!r}", remedy) from error
    return again


SUMMARIES = (summaries, pure, merging, arrival)
"""The checks of solvers that merge summaries, in order."""
