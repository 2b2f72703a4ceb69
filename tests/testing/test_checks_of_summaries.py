"""Each check of summaries, against a solver that fails it and nothing else."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import orthobench as ob
from orthobench.contract import (
    Array,
    SampleOracle,
    Solution,
    State,
    Summary,
    SummarySolver,
    orthonormalize,
)
from orthobench.testing import CheckStatus, checks_of_solvers
from orthobench.testing.checks_of_summaries import (
    SUMMARIES,
    BlockRunner,
    along_the_tree,
)


@dataclass(frozen=True, kw_only=True)
class Sums(Summary):
    total: Array


@dataclass(frozen=True)
class PlainPower(SummarySolver[SampleOracle, State, Sums]):
    """Two power steps on the second moment of all rows: it passes."""

    name: ClassVar[str] = "plain-power"
    passes = 2

    def init(self, oracle, rng):
        return State()

    def solution(self, state):
        raise NotImplementedError

    def summarize(self, oracle, block):
        U = oracle.shared.get("U", oracle.start)
        return Sums(rows=len(block), flops=4 * block.size, total=block.T @ (block @ U))

    def merge(self, a, b):
        return Sums(rows=a.rows + b.rows, flops=a.flops + b.flops, total=a.total + b.total)

    def finish(self, oracle, summary):
        return Solution(orthonormalize(summary.total))

    def proceed(self, oracle, summary):
        return {"U": orthonormalize(summary.total)}


class ForgetsRows(PlainPower):
    def merge(self, a, b):
        return replace(super().merge(a, b), rows=a.rows)


class MergesInPlace(PlainPower):
    def merge(self, a, b):
        whole = super().merge(a, b)
        a.total[:] = whole.total
        return replace(whole, total=a.total)


class WritesIntoBlock(PlainPower):
    def summarize(self, oracle, block):
        block *= 1.5
        return super().summarize(oracle, block)


class Halves(PlainPower):
    def merge(self, a, b):
        whole = super().merge(a, b)
        return replace(whole, total=a.total + 0.5 * b.total)


class ClaimsToBeExact(PlainPower):
    merge_error = 0.0


class CountsItsCalls(PlainPower):
    calls: ClassVar[list[int]] = []

    def summarize(self, oracle, block):
        self.calls.append(1)
        part = super().summarize(oracle, block)
        return replace(part, total=part.total * (1 + len(self.calls) % 7))


class CannotBeSent(PlainPower):
    def summarize(self, oracle, block):
        part = super().summarize(oracle, block)
        return replace(part, flops=Unsent(part.flops))


class Unsent(int):
    def __reduce__(self):
        raise TypeError("it stays here")

    def __add__(self, other):
        return int(self) + int(other)


COUNTEREXAMPLES = {
    "summaries": [ForgetsRows],
    "pure": [MergesInPlace],
    "merging": [Halves, ClaimsToBeExact],
    "arrival": [CountsItsCalls, CannotBeSent],
}


@pytest.fixture(scope="module")
def instance():
    X = np.random.default_rng(0).standard_normal((400, 6)) * np.arange(6, 0, -1)
    return ob.stochastic_pca(X, k=2)


def failed(solver, instance):
    results = [check.result(solver, instance) for check in SUMMARIES]
    return {r.check: r.message for r in results if r.status is CheckStatus.FAILED}


def test_a_sound_solver_passes(instance):
    assert [check.result(PlainPower(), instance).status for check in SUMMARIES] == [
        CheckStatus.PASSED
    ] * len(SUMMARIES)


@pytest.mark.parametrize("check", COUNTEREXAMPLES)
def test_each_check_fails_its_counterexamples_and_no_other_does(check, instance):
    for cls in COUNTEREXAMPLES[check]:
        assert list(failed(cls(), instance)) == [check]


def test_every_check_has_a_counterexample():
    assert list(COUNTEREXAMPLES) == [check.name for check in SUMMARIES]


def test_what_is_changed_is_named(instance):
    assert "merge changes a summary" in failed(MergesInPlace(), instance)["pure"]
    assert "summarize changes the block" in failed(WritesIntoBlock(), instance)["pure"]


def test_they_are_made_of_solvers_that_merge_summaries_only(toys):
    assert set(SUMMARIES) <= set(checks_of_solvers.checks(PlainPower()))
    assert not set(SUMMARIES) & set(checks_of_solvers.checks(toys.Solver()))


def test_samples_without_blocks_cannot_be_checked():
    rows = np.random.default_rng(0).standard_normal((400, 6))
    stream = ob.stochastic_pca(lambda rng, count: rng.standard_normal((count, 6)), 2, test=rows)
    result = SUMMARIES[0].result(PlainPower(), stream)
    assert result.status is CheckStatus.NOT_CHECKABLE


class ReturnsATuple(PlainPower):
    def merge(self, a, b):
        return (a, b)


class CountsNoFlops(PlainPower):
    def flops(self, oracle, summary):
        return 0


class CountsBelowZero(PlainPower):
    def flops(self, oracle, summary):
        return -1


class CountsInFloats(PlainPower):
    def flops(self, oracle, summary):
        return 7.0


class LeavesTheConstraint(PlainPower):
    def finish(self, oracle, summary):
        return Solution(1.1 * super().finish(oracle, summary).point)


@pytest.mark.parametrize(
    ("cls", "message"),
    [
        (ForgetsRows, "the summary of 350 samples counts "),
        (CountsBelowZero, "flops of a pass are -1"), (CountsInFloats, "flops of a pass are 7.0"),
        (LeavesTheConstraint, "the solution of a pass violates the constraint by 0.3"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_summary_is_said(cls, message, instance):
    assert message in SUMMARIES[0].result(cls(), instance).message


def test_a_merge_that_returns_no_summary_fails(instance):
    assert SUMMARIES[0].result(ReturnsATuple(), instance).status is CheckStatus.FAILED
    assert SUMMARIES[0].result(CountsNoFlops(), instance).status is CheckStatus.PASSED


class EndsAfterOne(PlainPower):
    def proceed(self, oracle, summary):
        return None


class OnePass(PlainPower):
    passes = 1


def test_passes_end_where_the_solver_ends_them(instance):
    for cls, numbers in ((PlainPower, [0, 1]), (EndsAfterOne, [0]), (OnePass, [0])):
        runner = BlockRunner(cls(), instance)
        assert [oracle.number for oracle, _ in runner.passes(along_the_tree)] == numbers
