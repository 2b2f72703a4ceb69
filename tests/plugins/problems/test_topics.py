"""Moments of topic models against enumerations of words and against Dirichlet integrals."""

import itertools
from collections import Counter

import numpy as np
import pytest
from drawn import rng
from hypothesis import given
from hypothesis import strategies as st
from orthobench_orthogonal_tensor.problems.lda import (
    TopicModel,
    population_moments,
    probabilities,
    sample_moments,
    total_variation,
    whitened_topics,
)

seeds = st.integers(0, 2**32 - 1)


def some_model(k=3, words=6, seed=0):
    generator = rng(seed)
    return TopicModel(generator.dirichlet(np.ones(words), size=k), generator.uniform(0.2, 2, k))


def dirichlet_moment(alpha, indices):
    """E of the product of the entries with these indices: rising factorials."""
    top = 1.0
    for i, power in Counter(indices).items():
        top *= np.prod(alpha[i] + np.arange(power))
    return top / np.prod(alpha.sum() + np.arange(len(indices)))


@pytest.mark.parametrize("k", [1, 3])
def test_the_exact_moments_are_the_integrals_over_the_proportions(k):
    model = some_model(k)
    exact = population_moments(model)
    W = rng(1).standard_normal((6, 2))
    words, pairs, triples = np.zeros(6), np.zeros((6, 6)), np.zeros((2, 2, 2))
    for i, j, m in itertools.product(range(k), repeat=3):
        a, b, c = model.topics[[i, j, m]]
        triples += dirichlet_moment(model.alpha, (i, j, m)) * np.einsum(
            "a,b,c->abc", a @ W, b @ W, c @ W
        )
        pairs += dirichlet_moment(model.alpha, (i, j)) * np.outer(a, b) / k
        words += dirichlet_moment(model.alpha, (i,)) * a / k**2
    np.testing.assert_allclose(exact.words, words, rtol=1e-12)
    np.testing.assert_allclose(exact.pairs, pairs, rtol=1e-12)
    np.testing.assert_allclose(exact.triples(W), triples, rtol=0, atol=1e-13)


@given(count=st.integers(1, 8), length=st.integers(3, 6), seed=seeds)
def test_moments_of_documents_are_means_over_pairs_and_triples(count, length, seed):
    documents = rng(seed).integers(4, size=(count, length))
    found = sample_moments(documents, 4)
    W = rng(seed + 1).standard_normal((4, 3))
    e = np.eye(4)
    words = np.mean([e[w] for document in documents for w in document], axis=0)
    pairs = [np.outer(e[a], e[b]) for d in documents for a, b in itertools.permutations(d, 2)]
    triples = [
        np.einsum("a,b,c->abc", W[a], W[b], W[c])
        for document in documents
        for a, b, c in itertools.permutations(document, 3)
    ]
    np.testing.assert_allclose(found.words, words, atol=1e-14)
    np.testing.assert_allclose(found.pairs, np.mean(pairs, axis=0), atol=1e-14)
    np.testing.assert_allclose(found.triples(W), np.mean(triples, axis=0), atol=1e-12)


@given(k=st.integers(1, 5), seed=seeds)
def test_the_corrected_moments_are_orthogonally_decomposable(k, seed):
    model = some_model(k, 30, seed)
    total = model.alpha.sum()
    found = whitened_topics(population_moments(model), k, total)
    weights = model.alpha / (total * (total + 1))
    factors = np.sqrt(weights) * (found.whitening.matrix.T @ model.topics.T)
    np.testing.assert_allclose(factors.T @ factors, np.eye(k), atol=1e-9)
    odeco = np.einsum("i,ai,bi,ci->abc", weights**-0.5, factors, factors, factors)
    np.testing.assert_allclose(found.tensor, odeco, rtol=0, atol=1e-8 * weights.min() ** -0.5)
    assert total_variation(found.topics(factors), model.topics) < 1e-8
    assert total_variation(found.topics(-factors), model.topics) < 1e-8


def test_topics_are_matched_one_to_one():
    true = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]])
    assert total_variation(true[[2, 0, 1]], true) == 0
    found = np.array([[0.9, 0.1, 0], [0.8, 0.2, 0], [0, 0, 1.0]])
    assert total_variation(found, true) == pytest.approx((0.1 + 0.8 + 0) / 3)


def test_documents_have_the_moments_of_their_model():
    model = some_model()
    found = sample_moments(model.documents(40_000, 6, rng(3)), 6)
    exact = population_moments(model)
    np.testing.assert_allclose(found.words, exact.words, atol=0.005)
    np.testing.assert_allclose(found.pairs, exact.pairs, atol=0.005)
    np.testing.assert_allclose(found.triples(np.eye(6)), exact.triples(np.eye(6)), atol=0.005)


def test_topics_of_noise_are_made_probabilities():
    rows = np.array([[0.5, -0.1, 1.5], [-1.0, -2.0, 0.0]])
    np.testing.assert_allclose(probabilities(rows), [[0.25, 0, 0.75], [1 / 3, 1 / 3, 1 / 3]])
