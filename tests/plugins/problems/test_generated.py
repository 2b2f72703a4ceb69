"""Samples made block by block: the same ones for everybody, of the distribution that is said."""

import pickle

import numpy as np
import pytest
from orthobench_stochastic_pca.problems.synthetic import GeneratedPCA
from orthobench_tucker.problems.factors import GeneratedFactor

import orthobench as ob

PCA = GeneratedPCA(n=8, k=2, samples=3000, block=256, noise=0.05)
FACTOR = GeneratedFactor(n=6, rank=2, true_rank=2, samples=3000, block=256, test=500)


def source_of(problem, seed=0):
    return problem.build(np.random.default_rng(seed)).oracle.source


@pytest.mark.parametrize("problem", [PCA, FACTOR], ids=["pca", "factor"])
def test_a_block_has_the_same_bits_in_any_order_and_any_process(problem):
    source = source_of(problem)
    assert source.count == 12
    copy = pickle.loads(pickle.dumps(source))  # noqa: S301 - made here
    backwards = [copy.block(index) for index in range(11, -1, -1)][::-1]
    stream = np.concatenate(list(source.one_pass()))
    assert backwards[0].dtype == np.float32
    assert np.array_equal(np.concatenate(backwards), stream.astype(np.float32))
    assert np.array_equal(source.rows.read(200, 600), stream[200:600].astype(np.float32))
    assert len(pickle.dumps(source)) < 2000


def test_blocks_and_seeds_share_no_samples():
    rows = np.concatenate([source_of(PCA, seed).block(i) for seed in (0, 1) for i in range(12)])
    assert len(np.unique(rows[:, 0])) > 0.999 * len(rows)


def test_samples_have_the_second_moment_that_the_judge_knows():
    instance = GeneratedPCA(n=8, k=2, samples=60_000, noise=0.05).build(np.random.default_rng(1))
    X = np.concatenate(list(instance.oracle.source.one_pass()))
    values, vectors = np.linalg.eigh(X.T @ X / len(X))
    assert values[-2:] == pytest.approx(0.25, rel=0.02)
    assert values[:-2] == pytest.approx(0.05, rel=0.03)
    assert instance.measure(ob.Solution(vectors[:, -2:]))["subspace_error"] < 0.02


def test_streaming_solvers_and_passes_take_generated_samples():
    outcome = ob.solve("frequent-directions", PCA)
    assert outcome.work.samples == 3000
    assert outcome.trace[-1].metrics["subspace_error"] < 0.1
    twice = GeneratedPCA(n=8, k=2, samples=300, passes=2)
    assert ob.solve("oja", twice, step=0.5).work.samples == 600
