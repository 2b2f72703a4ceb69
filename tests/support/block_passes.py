"""Passes of a `SummarySolver` over blocks, without the harness."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from orthobench.contract import BlockOracle
from orthobench.tools.collections import reduced
from orthobench.tools.geometry import random_point


def oracle_of(rows, n, k, *more, seed=0):
    """Return what all blocks have in common, with a random start."""
    start = random_point(n, k, np.random.default_rng(seed))
    return BlockOracle((n, k, *more), start, rows, np.random.SeedSequence(seed))


def cut(X, parts):
    """Return the rows in blocks of different heights."""
    ends = np.unique(np.round(len(X) * np.linspace(0, 1, parts + 1) ** 1.3).astype(int))
    return [X[a:b].copy() for a, b in pairwise(ends)]


def summary_of(solver, oracle, blocks):
    """Return the summary of all blocks in one pass."""
    return reduced((solver.summarize(oracle, block) for block in blocks), solver.merge)


def passes(solver, oracle, blocks, most):
    """Yield what each pass shares, and its summary."""
    for number in range(int(min(most, solver.passes))):
        summary = summary_of(solver, oracle, blocks)
        yield oracle, summary
        shared = solver.proceed(oracle, summary)
        if shared is None:
            return
        oracle = replace(oracle, number=number + 1, shared=shared)


def points(solver, oracle, blocks, most=1):
    """Return the solution after each pass."""
    return [solver.finish(*one).point for one in passes(solver, oracle, blocks, most)]
