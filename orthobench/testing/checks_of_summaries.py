"""The checks of a `SummarySolver`, on a few blocks of a small instance: `SUMMARIES`."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from orthobench.contract.placed_solvers import BlockOracle, Summary, SummarySolver
from orthobench.contract.problem import AnyInstance, Solution
from orthobench.contract.samples import BlockSource
from orthobench.harness.judging import FEASIBLE
from orthobench.harness.reducing.reduction import reduced
from orthobench.testing.check import NotCheckable, NotConforming, check
from orthobench.testing.short_runs import Runner, difference_of_solutions
from orthobench.tools.object_graph import Snapshot

ROWS = 350
"""The most samples that are cut into blocks."""

ENDS = (0.0, 0.25, 0.3, 0.5, 0.6, 0.8, 0.9, 1.0)
"""Where the blocks begin and end, as parts of the samples."""

PASSES = 2
"""The most passes."""

AnySummarySolver: TypeAlias = SummarySolver[Any, Any, Any]

Reduce: TypeAlias = "Callable[[AnySummarySolver, list[Summary]], Summary]"


class BlockRunner(Runner):
    """A solver, what the blocks of its first pass have in common, and the blocks.

    The first samples of an instance are cut into blocks.
    """

    solver: AnySummarySolver

    def __init__(self, solver: AnySummarySolver, instance: AnyInstance) -> None:
        super().__init__(solver, instance)
        source, start = getattr(self.oracle, "source", None), self.start_point()
        if not isinstance(source, BlockSource):
            raise NotCheckable("the samples of the instance are no blocks: pass one of an array")
        rows = np.concatenate([source.block(i) for i in range(source.count)])[:ROWS]
        ends = [round(len(rows) * end) for end in ENDS]
        self.blocks = [rows[a:b].copy() for a, b in pairwise(ends) if a < b]
        self.first = BlockOracle(self.oracle.sizes, start, len(rows), self.streams.solver)

    def passes(self, reduce: Reduce) -> Iterator[tuple[BlockOracle, Summary]]:
        """Yield what the blocks of each pass share, and the summary of all of them."""
        oracle = self.first
        for number in range(int(min(PASSES, self.solver.passes))):
            whole = reduce(self.solver, [self.solver.summarize(oracle, b) for b in self.blocks])
            yield oracle, whole
            shared = self.solver.proceed(oracle, whole)
            if shared is None:
                return
            oracle = replace(oracle, number=number + 1, shared=shared)

    def solutions(self, reduce: Reduce) -> list[Solution]:
        """Return the solution after each pass."""
        return [self.solver.finish(oracle, whole) for oracle, whole in self.passes(reduce)]


def along_the_tree(solver: AnySummarySolver, parts: list[Summary]) -> Summary:
    """Merge as a run does."""
    return reduced(parts, solver.merge)


def from_left(solver: AnySummarySolver, parts: list[Summary]) -> Summary:
    """Merge one part after another into the first."""
    whole = parts[0]
    for part in parts[1:]:
        whole = solver.merge(whole, part)
    return whole


def from_right(solver: AnySummarySolver, parts: list[Summary]) -> Summary:
    """Merge all parts into the last."""
    whole = parts[-1]
    for part in parts[-2::-1]:
        whole = solver.merge(part, whole)
    return whole


_of_blocks = partial(check, subject=BlockRunner)


@_of_blocks("a pass over blocks gives a solution, and counts")
def summaries(runner: BlockRunner) -> None:
    """Raise where a pass over blocks gives no feasible solution, or counts wrongly."""
    solver = runner.solver
    for oracle, whole in runner.passes(along_the_tree):
        if not isinstance(whole, Summary):
            raise NotConforming(f"merge returns a {type(whole).__name__}", "Return a Summary")
        if whole.rows != oracle.rows:
            observed = f"the summary of {oracle.rows} samples counts {whole.rows} in rows"
            raise NotConforming(observed, "Count len(block) in summarize; add both in merge")
        flops = solver.flops(oracle, whole)
        if type(flops) is not int or flops < 0:
            observed = f"the flops of a pass are {flops!r}"
            raise NotConforming(observed, "Count in Python integers: int(...)")
        violation = runner.instance.violation(solver.finish(oracle, whole))
        if not violation <= FEASIBLE:
            observed = f"the solution of a pass violates the constraint by {violation:.2g}"
            raise NotConforming(observed, f"{FEASIBLE:g} is allowed: orthonormalize in `finish`")


@_of_blocks("summarize, merge and finish change nothing", summaries)
def pure(runner: BlockRunner) -> None:
    """Raise where a verb changes what it is given, or the solver itself."""
    solver = runner.solver
    parts = [solver.summarize(runner.first, block) for block in runner.blocks[:2]]
    whole = solver.merge(*parts)
    verbs: dict[str, Callable[[], object]] = {
        "summarize": lambda: solver.summarize(runner.first, runner.blocks[0]),
        "merge": lambda: solver.merge(*parts),
        "finish": lambda: solver.finish(runner.first, whole),
        "proceed": lambda: solver.proceed(runner.first, whole),
    }
    given = (solver, runner.first, runner.blocks, parts, whole)
    for name, verb in verbs.items():
        before = Snapshot(given)
        verb()
        if (where := before.changed()) is not None:
            what = ("the solver", "the oracle", "the block", "a summary", "a summary")
            culprit = what[int(where[1])] if where[1:2].isdigit() else where
            raise NotConforming(f"{name} changes {culprit}", "Copy what you change")


@_of_blocks("groupings differ by merge_error at most", summaries)
def merging(runner: BlockRunner) -> None:
    """Raise where other groupings of the blocks give another solution than `merge_error` allows."""
    for grouping in (from_left, from_right):
        pairs = zip(runner.solutions(along_the_tree), runner.solutions(grouping), strict=False)
        for ours, theirs in pairs:
            different = difference_of_solutions(ours, theirs)
            U, V = ours.point, theirs.point
            sine = float(np.linalg.norm(V - U @ (U.T @ V), 2))
            if not (different is None or 0 < runner.solver.merge_error >= sine):
                raise NotConforming(
                    f"another grouping of the blocks turns the solution by an angle of sine "
                    f"{sine:.2g}, where merge_error is "
                    f"{runner.solver.merge_error:g}",
                    "Say what merging loses in `merge_error`, or lose less",
                )


@_of_blocks("the order of blocks in time changes no bit", summaries)
def arrival(runner: BlockRunner) -> None:
    """Raise where blocks in another order, or summaries that were sent, give other bits."""

    def sent(solver: AnySummarySolver, parts: list[Summary]) -> Summary:
        return reduced(map(_sent, parts), lambda a, b: _sent(solver.merge(a, b)))

    def made_backwards(solver: AnySummarySolver, parts: list[Summary]) -> Summary:
        return along_the_tree(solver, parts[::-1])

    in_order = runner.solutions(along_the_tree), runner.solutions(sent)
    runner.blocks.reverse()
    for ours, *theirs in zip(*in_order, runner.solutions(made_backwards), strict=False):
        for other, what in zip(theirs, ("sent by pickle", "made in another order"), strict=True):
            if difference := difference_of_solutions(ours, other):
                raise NotConforming(
                    f"summaries that are {what} give another solution: {difference}",
                    "Keep all in the summary, in arrays and numbers, and nothing in the solver; "
                    "draw from oracle.rng() only",
                )


def _sent(summary: Summary) -> Summary:
    try:
        again: Summary = pickle.loads(pickle.dumps(summary))  # noqa: S301 - pickled right here
    except Exception as error:
        remedy = "Keep arrays and numbers in it, no functions, files or kernels"
        raise NotConforming(f"a summary cannot be pickled: {error!r}", remedy) from error
    return again


SUMMARIES = (summaries, pure, merging, arrival)
"""The checks of solvers that merge summaries, in the order in which they are made."""
