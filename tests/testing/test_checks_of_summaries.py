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
from orthobench.testing.checks_of_summaries import SUMMARIES


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


def test_only_summary_solvers_have_these_checks(toys):
    assert set(SUMMARIES) <= set(checks_of_solvers.checks(PlainPower()))
    assert not set(SUMMARIES) & set(checks_of_solvers.checks(toys.Solver()))


def test_samples_without_blocks_cannot_be_checked():
    rows = np.random.default_rng(0).standard_normal((400, 6))
    stream = ob.stochastic_pca(lambda rng, count: rng.standard_normal((count, 6)), 2, test=rows)
    result = SUMMARIES[0].result(PlainPower(), stream)
    assert result.status is CheckStatus.NOT_CHECKABLE


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
def test_a_fault_of_a_summary_is_named(cls, message, instance):
    assert message in SUMMARIES[0].result(cls(), instance).message
