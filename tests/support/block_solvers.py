"""A solver over blocks that says what it does, and can do wrong; sources that go wrong."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from orthobench_kit.sources import ArraySource

from orthobench.contract import (
    Array,
    SampleOracle,
    Solution,
    State,
    Summary,
    SummarySolver,
    orthonormalize,
    parameter,
)

SAMPLES = np.random.default_rng(0).standard_normal((3000, 6)) * np.linspace(2, 1, 6)

IDLE = 3.0
"""Seconds in which others begin a block, or have none left."""

SHAPES = {"narrow": (64, 5), "wide": (64, 7), "flat": 64, "short": (63, 6), "long": (65, 6)}


class Blocks(ArraySource):
    """Rows in blocks of 64; block `bad` cannot be read, has a NaN, or another shape."""

    def __init__(self, rows=None, bad=None, how="unreadable"):
        super().__init__(SAMPLES if rows is None else rows)
        self.bad, self.how = bad, how

    def _block_borders(self):
        return [*range(0, self.length, 64), self.length]

    def block(self, index):
        block = super().block(index)
        if index == self.bad and self.how == "unreadable":
            raise OSError(5, "Input/output error")
        if index == self.bad and self.how == "nan":
            block[3, 2] = np.nan
        if index == self.bad and self.how in SHAPES:
            return np.ones(SHAPES[self.how])
        return block


@dataclass(frozen=True, kw_only=True)
class Sums(Summary):
    total: Array


@dataclass(frozen=True)
class PowerSteps(SummarySolver[SampleOracle, State, Sums]):
    """One power step a pass, on the second moment of all rows."""

    turns: int = parameter(1, help="passes")
    wrong: str = parameter("", help="what goes wrong")
    log: str = parameter("", help="file for a line a block: process, and its first number")
    nap: float = parameter(0.0, help="seconds that a block takes more")
    slow: int = parameter(0, help="blocks that others do while the first process is at one")

    name: ClassVar[str] = "power-steps"

    @property
    def passes(self):
        return self.turns

    def init(self, oracle, rng):
        raise AssertionError("it does not stream here")

    solution = init

    def summarize(self, oracle, block):
        if self.log:
            self._say(block)
        time.sleep(self.nap)
        if self.wrong == "raises" and not np.array_equal(block[0], SAMPLES[0]):
            raise ArithmeticError("a wrong turn")
        U = oracle.shared.get("U", oracle.start)
        return Sums(rows=len(block), flops=4 * block.size * oracle.k, total=block.T @ (block @ U))

    def merge(self, a, b):
        rows = a.rows if self.wrong == "forgets" else a.rows + b.rows
        return Sums(rows=rows, flops=a.flops + b.flops, total=a.total + b.total)

    def finish(self, oracle, summary):
        return Solution(orthonormalize(summary.total))

    def proceed(self, oracle, summary):
        if self.wrong == "converges":
            return None
        if self.wrong == "kills":
            for process in {process for process, *_ in said(self.log)} - {os.getpid()}:
                os.kill(process, signal.SIGKILL)
        return {"U": orthonormalize(summary.total)}

    def _say(self, block):
        with Path(self.log).open("a") as log:
            log.write(f"{os.getpid()} {len(block)} {block[0, 0]!r}\n")
        if self.slow and said(self.log)[0][0] == os.getpid():
            enough, end = self._by_others() + self.slow, time.monotonic() + IDLE
            while self._by_others() < enough and time.monotonic() < end:
                time.sleep(0.01)

    def _by_others(self):
        return sum(process != os.getpid() for process, *_ in said(self.log))


def said(log):
    """Return what a log says: process, rows and first number of each block that was summarized."""
    lines = [line.split() for line in Path(log).read_text().splitlines()]
    return [(int(process), int(rows), number) for process, rows, number in lines]
