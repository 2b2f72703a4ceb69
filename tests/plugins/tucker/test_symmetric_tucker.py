"""The instance maker and the oracles of symmetric Tucker decomposition."""

import pickle
from itertools import permutations

import numpy as np
import pytest
from cases import case
from drawn import rng
from orthobench_kit import memory
from orthobench_tucker import (
    GivenTensorOracle,
    MomentOracle,
    MomentStream,
    SymmetricTensorOracle,
    TuckerOracle,
    tensor_refusal,
)
from orthobench_tucker.reference import moment, multiplied
from orthobench_tucker.sample_moments import moment_tensor
from orthobench_tucker.solvers.shoevd import SHOEVD

import orthobench as ob
from orthobench.contract.problem import Solution
from orthobench.contract.samples import SampleOracle, block_rows
from orthobench.errors import DataError, UsageError
from orthobench.harness.identity import Streams
from orthobench.harness.run import run
from orthobench.harness.stopping import RunStatus
from orthobench.tools.geometry import random_point

STREAMS = Streams.of("problem", "shoevd", 0)


def skewed(n, p, seed=0):
    """Samples in rows, (p, n)."""
    return rng(seed).exponential(size=(n, p)).T - 0.5


def draw(rng, count):
    return rng.exponential(size=(count, 4)) - 0.5


def with_entry(A, at, value):
    A = np.array(A, dtype=float)
    A[at] = value
    return A


class TestTensor:
    def test_the_oracle_holds_a_symmetric_copy_that_nobody_writes_into(self):
        T = moment(skewed(5, 30), 3)
        rough = T * (1 + 1e-13 * rng().standard_normal(T.shape))
        before = rough.copy()
        instance = ob.symmetric_tucker(tensor=rough, rank=2)
        oracle = instance.oracle
        assert type(oracle) is GivenTensorOracle
        assert (oracle.n, oracle.k, oracle.order, oracle.sizes) == (5, 2, 3, (5, 2, 3))
        assert oracle.forming_flops == 0
        for axes in permutations(range(3)):
            np.testing.assert_allclose(oracle.T.transpose(axes), oracle.T, rtol=1e-15)
        np.testing.assert_allclose(oracle.T, T, rtol=1e-12)
        assert np.array_equal(rough, before)
        with pytest.raises(ValueError, match="read-only"):
            oracle.T[0, 0, 0] = 1
        rough[0, 0, 0] = 7
        assert oracle.T[0, 0, 0] != 7


class TestSamples:
    def test_the_oracle_has_all_capabilities(self):
        X = skewed(5, 60)
        oracle = ob.symmetric_tucker(X, order=3, rank=2).oracle
        assert type(oracle) is MomentOracle
        for capability in (SymmetricTensorOracle, MomentStream, SampleOracle, TuckerOracle):
            assert isinstance(oracle, capability)
        assert np.array_equal(oracle.X, X)
        assert oracle.X.flags.c_contiguous
        np.testing.assert_allclose(oracle.T, moment(X, 3), rtol=1e-12, atol=1e-15)
        assert oracle.forming_flops == 2 * 60 * (5 * 6 * 7 // 6)
        with pytest.raises(ValueError, match="read-only"):
            oracle.X[0, 0] = 1

    def test_a_test_part_is_what_is_reported_on(self):
        X, test, held = skewed(5, 60), skewed(5, 90, 1), skewed(5, 40, 2)
        Q = Solution(random_point(5, 2, rng(3)))
        both = ob.symmetric_tucker(X, order=3, rank=2, test=test, validation=held)
        metrics = both.measure(Q)
        alone, tuning = (
            ob.symmetric_tucker(part, order=3, rank=2).measure(Q) for part in (test, held)
        )
        own = ob.symmetric_tucker(X, order=3, rank=2).measure(Q)
        assert metrics["relative_error"] == alone["relative_error"]
        assert metrics["objective"] == alone["objective"]
        assert metrics["validation_relative_error"] == tuning["relative_error"]
        assert metrics["relative_gradient"] == own["relative_gradient"]


class TestStreams:
    def streamed(self, samples, **others):
        return ob.symmetric_tucker(samples, order=3, rank=2, test=skewed(4, 50, 9), **others)

    def test_a_sampler_has_no_end_and_does_not_depend_on_chunks(self):
        taken = []
        for chunks in ([1000], [1, 1, 300, 98, 600]):
            oracle = self.streamed(draw).oracle
            oracle.rewind(rng(5))
            pieces = []
            for count in chunks:
                oracle.prepare(count)
                pieces.append(oracle.take(count).copy())
            taken.append(np.concatenate(pieces))
            assert oracle.remaining() == np.inf
        assert np.array_equal(*taken)
        blocks, other = -(-1000 // block_rows(4)), rng(5)
        drawn = np.concatenate([draw(other, block_rows(4)) for _ in range(blocks)])
        assert np.array_equal(taken[0], drawn[:1000])

    @pytest.mark.parametrize(
        ("arguments", "error", "message"),
        [
            ({"test": None}, UsageError, "a sampler needs its covariance or a test part"),
            ({"X": [np.ones(4)], "test": None}, UsageError, "stream needs a test part"),
            ({"passes": 2}, UsageError, "only an array can be gone through several times"),
            ({"rank": 5}, UsageError, "between 1 and 4, not 5"),
            ({"X": []}, DataError, "the samples must be a matrix"),
            ({"X": ["a"]}, DataError, "the samples must be real numbers"),
            ({"X": [np.ones(3)]}, DataError, "test part has 4 variables, .* have 3"),
        ],
    )
    def test_bad_arguments_are_refused(self, arguments, error, message):
        good = {"X": draw, "order": 3, "rank": 2, "test": skewed(4, 50)}
        with pytest.raises(error, match=message):
            ob.symmetric_tucker(**{**good, **arguments})


X34, T3 = skewed(3, 40), moment(skewed(3, 40), 3)


REFUSED = [
    ({}, UsageError, "one of the two"),
    ({"samples": X34.T, "order": 3}, UsageError, "samples are rows now: pass X.T"),
    ({"tensor": T3, "order": 3}, UsageError, "go with samples, not a tensor"),
    ({"X": X34, "order": 1}, UsageError, ">= 2, not 1"),
    ({"X": X34, "order": 3, "rank": 4}, UsageError, "between 1 and 3, not 4"),
    ({"X": X34, "order": 3, "passes": 0}, UsageError, "passes must be a whole number >="),
    ({"X": X34, "order": 3, "test": X34[:, :2]}, DataError, "test part has 2 variables"),
    ({"X": 0 * X34, "order": 3}, DataError, "samples are all zero"),
    ({"X": X34 * 1e80, "order": 3}, DataError, "rescale"),
    ({"X": np.vstack([X34, -X34]), "order": 3}, DataError, "order 3 .* is zero, as odd"),
    ({"tensor": np.ones((3, 3, 2))}, DataError, r"not of shape \(3, 3, 2\)"),
    ({"tensor": with_entry(T3, (0, 1, 2), np.nan)}, DataError, r"entry \(0, 1, 2\) .* is nan"),
    ({"tensor": with_entry(T3, (2, 0, 1), 3.0)}, DataError, "not symmetric"),
    ({"tensor": 0 * T3}, DataError, "tensor is zero"),
    ({"tensor": T3 * 1e-200}, DataError, "rescale"),
    ({"tensor": T3, "basis": np.eye(4)}, DataError, r"must be of shape \(3, r\), .* not \(4, 4\)"),
    ({"tensor": T3, "basis": 2 * np.eye(3)}, DataError, "not orthonormal"),
]
"""Arguments besides a rank of 2, with the error and its message."""


def test_bad_arguments_are_refused():
    for arguments, error, message in REFUSED:
        with case(message), pytest.raises(error, match=message):
            ob.symmetric_tucker(**{"rank": 2, **arguments})


def test_data_as_large_and_as_small_as_is_allowed_have_finite_metrics():
    X = skewed(5, 40)
    X /= np.abs(X).max()
    Q = Solution(random_point(5, 2, rng(1)))
    for order in (2, 3, 4, 5):
        reference = ob.symmetric_tucker(X, order=order, rank=2).measure(Q)
        most = 1e300 ** (1 / (4 * order))
        for scale in (most / 2.3, 1.01 / most):
            metrics = ob.symmetric_tucker(X * scale, order=order, rank=2).measure(Q)
            for metric in ("relative_error", "relative_gradient"):
                assert metrics[metric] == pytest.approx(reference[metric])
        for scale in (1.01 * most / np.sqrt(5), 0.99 / most):
            with pytest.raises(DataError, match="rescale it to lie between"):
                ob.symmetric_tucker(X * scale, order=order, rank=2)
    T = moment(X, 3)
    T /= np.abs(T).max()
    for scale in (8e73, 1.01e-75):
        metrics = ob.symmetric_tucker(tensor=T * scale, rank=2).measure(Q)
        assert np.isfinite(list(metrics.values())).all()


@pytest.mark.parametrize("core", [False, True])
def test_the_instance_of_a_tensor_and_every_judge_pickle(core):
    X, Q = skewed(4, 30), Solution(random_point(4, 2, rng(1)))
    given = {"rank": 2, "basis": np.eye(4)[:, :2], "core": core}
    of_tensor = ob.symmetric_tucker(tensor=moment(X, 3), **given)
    again = pickle.loads(pickle.dumps(of_tensor))  # noqa: S301
    assert again.measure(Q) == of_tensor.measure(Q)
    assert np.array_equal(again.oracle.T, of_tensor.oracle.T)
    of_samples = ob.symmetric_tucker(X, order=3, **given)
    judging = of_samples.measure, of_samples.finish
    measure, finish = pickle.loads(pickle.dumps(judging))  # noqa: S301
    assert measure(Q) == of_samples.measure(Q)
    assert (finish(Q).core is not None) == core
    assert not core or np.array_equal(finish(Q).core, of_samples.measure.test.core(Q.point))


@pytest.mark.parametrize("order", [2, 3, 4, 5])
def test_a_run_gives_the_core_that_is_asked_for(order):
    X, test = skewed(6, 500), skewed(6, 300, 1)
    for judged in (X, test):
        part = {} if judged is X else {"test": test}
        instance = ob.symmetric_tucker(X, order=order, rank=2, core=True, **part)
        outcome = run(instance, SHOEVD(), ob.Budget(), STREAMS)
        assert outcome.stop.status is RunStatus.DONE
        T, Q = moment_tensor(judged, order), outcome.final.point
        core = multiplied(T, *[Q] * order)
        found = outcome.final.core
        np.testing.assert_allclose(found, core, rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(found, instance.measure.test.core(Q))
        # the core is the least-squares one: its error is what the judge reports
        back = multiplied(found, *[Q.T] * order)
        error = np.sum((back - T) ** 2) / np.sum(T**2)
        assert outcome.trace[-1].metrics["relative_error"] == pytest.approx(error)
        plain = ob.symmetric_tucker(X, order=order, rank=2, **part)
        assert run(plain, SHOEVD(), ob.Budget(), STREAMS).final.core is None


def test_too_large_a_core_is_refused():
    with pytest.raises(UsageError, match=r"core of 9\^8 entries .* leave it out"):
        ob.symmetric_tucker(skewed(9, 30), order=8, rank=9, core=True)
    assert ob.symmetric_tucker(skewed(9, 30), order=8, rank=9).oracle.k == 9


def test_a_tensor_that_does_not_fit_is_refused_before_it_is_formed(monkeypatch):
    oracle = ob.symmetric_tucker(skewed(20, 30), order=4, rank=2).oracle
    monkeypatch.setattr(memory, "total", lambda: 2 * 8 * 20**4 - 1)
    with pytest.raises(UsageError, match=r"20\^4 entries, .* needs 2\.4 MiB .* implicit"):
        _ = oracle.T
    monkeypatch.setattr(memory, "total", lambda: 2 * 8 * 20**4)
    assert oracle.T.shape == (20,) * 4
    assert tensor_refusal(20, 4) is None
    monkeypatch.setattr(memory, "total", lambda: None)
    assert tensor_refusal(10**6, 9) is None
