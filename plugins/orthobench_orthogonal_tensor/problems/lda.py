"""Latent Dirichlet allocation: documents drawn from topics, their moments, and the way back.

A document draws topic proportions h from Dirichlet(alpha), then words from the topics with weights
h. Let words be unit vectors, x_1, x_2 and x_3 three words of one document, and a_0 = sum_i
alpha_i. Define::

    M1 = E[x_1]

    M2 = E[x_1 ⊗ x_2] - a_0 / (a_0 + 1) M1 ⊗ M1

    M3 = E[x_1 ⊗ x_2 ⊗ x_3]
         - a_0 / (a_0 + 2) (E[x_1 ⊗ x_2 ⊗ M1] + E[x_1 ⊗ M1 ⊗ x_2] + E[M1 ⊗ x_1 ⊗ x_2])

         + 2 a_0² / ((a_0 + 1) (a_0 + 2)) M1 ⊗ M1 ⊗ M1

Then M2 = sum_i w_i m_i ⊗ m_i and M3 = 2 / (a_0 + 2) sum_i w_i m_i ⊗ m_i ⊗ m_i for the topics m_i.
Here w_i = alpha_i / (a_0 (a_0 + 1)) (Anandkumar et al. 2012, Theorem 3.5). Only the whitened form
of M3 is formed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.symmetric_tensors import contracted

from orthobench.contract import Array, Instance, Solution, UsageError, parameter
from orthobench_orthogonal_tensor import Judge, OrthogonalTensor, TensorOracle
from orthobench_orthogonal_tensor.problems.whitening import (
    Whitening,
    cyclic_sum,
    exactly_symmetric,
    third_power_sum,
    unpacked,
    whitening,
)
from orthobench_orthogonal_tensor.result import factorization

BLOCK = 256
"""Number of documents whose words are counted at once."""


@dataclass(frozen=True)
class TopicModel:
    """Topics (k, V), rows that sum to one, and the Dirichlet parameters of their proportions."""

    topics: Array
    alpha: Array

    def documents(self, count: int, length: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """Draw documents, shape (count, length): indices of their words, grouped by topic."""
        k = len(self.topics)
        lengths = rng.multinomial(length, rng.dirichlet(self.alpha, size=count))
        topic_of = np.repeat(np.tile(np.arange(k), count), lengths.ravel())
        words = np.empty(count * length, dtype=np.intp)
        for topic, probabilities in enumerate(self.topics):
            of_topic = topic_of == topic
            edges = np.cumsum(probabilities)
            draws = rng.random(int(np.count_nonzero(of_topic)))
            words[of_topic] = np.searchsorted(edges / edges[-1], draws, side="right")
        return words.reshape(count, length)


@dataclass(frozen=True)
class TopicMoments:
    """The first moments of the words of a document.

    `words` (V,) is E[x_1], `pairs` (V, V) E[x_1 ⊗ x_2], and ``triples(W)`` returns E[W'x_1 ⊗ W'x_2
    ⊗ W'x_3], shape (k, k, k), for W (V, k).
    """

    words: Array
    pairs: Array
    triples: Callable[[Array], Array]


def population_moments(model: TopicModel) -> TopicMoments:
    """Return the exact moments of a model, from those of the Dirichlet distribution."""
    alpha, total = model.alpha, float(model.alpha.sum())
    products = np.diag(alpha) + np.outer(alpha, alpha)
    pairs = model.topics.T @ products @ model.topics / (total * (total + 1))

    def triples(W: Array) -> Array:
        whole, k = total * (total + 1) * (total + 2), len(alpha)
        E = alpha[:, None, None] * alpha[:, None] * alpha
        E += cyclic_sum(np.multiply.outer(np.diag(alpha), alpha))
        E[np.arange(k), np.arange(k), np.arange(k)] += 2 * alpha
        inner = model.topics @ W
        T: Array = np.einsum("ijl,ia,jb,lc->abc", E / whole, inner, inner, inner, optimize=True)
        return T

    return TopicMoments(alpha / total @ model.topics, pairs, triples)


def sample_moments(documents: NDArray[np.intp], vocabulary: int) -> TopicMoments:
    """Return the moments of documents: means over all pairs and triples of different words.

    Let c be the word counts of a document, y = W'c and S = W' diag(c) W. Its triples sum to y ⊗ y
    ⊗ y, minus S ⊗ y with y in each place, plus 2 sum w ⊗ w ⊗ w over the rows w of W of its words.

    Parameters
    ----------
    documents : ndarray of int, shape (count, length)
        Indices of the words, each below `vocabulary`; at least three words in each document.
    vocabulary : int
        V, the number of words.

    Notes
    -----
    V² flops for each document here, and V k² + k³ in `triples`; memory O(V²) and O(k³).
    """
    count, length = documents.shape
    totals = np.bincount(documents.ravel(), minlength=vocabulary)
    words = totals / (count * length)
    pairs = np.diag(-totals.astype(np.float64))
    for counts in _word_counts(documents, vocabulary):
        pairs += counts.T @ counts

    def triples(W: Array) -> Array:
        k = W.shape[1]
        i, j = np.triu_indices(k)
        products = W[:, i] * W[:, j]
        twice = np.zeros((len(i), k))
        for counts in _word_counts(documents, vocabulary):
            twice += (counts @ products).T @ (counts @ W)
        total = third_power_sum((c @ W for c in _word_counts(documents, vocabulary)), k)
        total -= cyclic_sum(unpacked(twice))
        total += 2 * unpacked((products * (words * count * length)[:, None]).T @ W)
        mean: Array = total / (count * length * (length - 1) * (length - 2))
        return mean

    return TopicMoments(words, pairs / (count * length * (length - 1)), triples)


def _word_counts(documents: NDArray[np.intp], vocabulary: int) -> Iterator[Array]:
    for begin in range(0, len(documents), BLOCK):
        part = documents[begin : begin + BLOCK]
        cells = part + vocabulary * np.arange(len(part))[:, None]
        counts = np.bincount(cells.ravel(), minlength=len(part) * vocabulary)
        yield counts.reshape(len(part), -1).astype(np.float64)


@dataclass(frozen=True)
class WhitenedTopics:
    """The whitened third moment of a topic model, and the map from decompositions to topics.

    `tensor` (k, k, k) is (a_0 + 2) / 2 M3(W, W, W): without sampling noise sum_i w_i^(-1/2) u_i ⊗
    u_i ⊗ u_i. `whitening` is that of M2.
    """

    tensor: Array
    whitening: Whitening

    def topics(self, U: Array) -> Array:
        """Return the topics (k, V) of a decomposition U (k, k) of the tensor, up to signs.

        Negative probabilities, from noise, are set to zero, and all are normalized.
        """
        values = contracted(self.tensor, U)
        raw = self.whitening.vectors(U, values) @ self.whitening.basis.T
        return probabilities(raw)


def probabilities(rows: Array) -> Array:
    """Return rows with negative entries set to zero, normalized to sum one; uniform if all zero."""
    positive = np.maximum(rows, 0.0)
    positive[~positive.any(axis=1)] = 1.0
    normalized: Array = positive / positive.sum(axis=1, keepdims=True)
    return normalized


def whitened_topics(moments: TopicMoments, k: int, total: float) -> WhitenedTopics:
    """Whiten the third moment of a topic model with k topics; `total` is a_0.

    DataError if M2 has fewer than k positive eigenvalues. An eigenproblem of size V, about 4V³/3
    flops, and those of ``moments.triples``.
    """
    share = total / (total + 1)
    found = whitening(moments.pairs - share * np.outer(moments.words, moments.words), k)
    W = found.matrix
    m = moments.words @ W
    T = moments.triples(W)
    T -= total / (total + 2) * cyclic_sum(np.multiply.outer(W.T @ moments.pairs @ W, m))
    T += 2 * total * share / (total + 2) * np.multiply.outer(np.outer(m, m), m)
    return WhitenedTopics(exactly_symmetric(T * (total + 2) / 2), found)


def total_variation(found: Array, true: Array) -> float:
    """Return the mean total variation distance, 0 to 1, of topics (k, V) at the best matching."""
    from scipy.optimize import linear_sum_assignment

    distances = np.array([np.abs(topic - true).sum(axis=1) / 2 for topic in found])
    rows, columns = linear_sum_assignment(distances)
    return float(distances[rows, columns].mean())


CONCENTRATION = 0.1
"""Dirichlet parameter of the words of a topic; a small one gives topics with few words."""


@dataclass(frozen=True)
class LDAMoments(OrthogonalTensor):
    """Recover the topics of latent Dirichlet allocation from the third moment of its words.

    Topics are drawn from a Dirichlet distribution with all parameters 0.1, documents from the
    model with alpha_i = alpha0 / topics, alpha0 known. Ranked by ``topic_error``, the mean total
    variation distance of the topics from the true ones.

    References
    ----------
    Anandkumar et al. 2012, "Tensor decompositions for learning latent variable models", Theorem
    3.5.
    """

    name = "lda-moments"
    primary = "topic_error"

    topics: int = parameter(10, help="topics, no more than words in the vocabulary", low=1)
    vocabulary: int = parameter(200, help="different words", low=2)
    documents: int = parameter(
        20_000, help="documents that the moments are measured on; 0: exact moments", low=0
    )
    words: int = parameter(50, help="words of a document", low=3)
    alpha0: float = parameter(
        1.0,
        help="sum of the Dirichlet parameters; near 0 each document has one topic",
        above=0.0,
        high=1e6,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.topics > self.vocabulary:
            raise UsageError(
                f"{self.topics} topics cannot be linearly independent in a vocabulary of "
                f"{self.vocabulary} words"
            )

    def build(self, rng: np.random.Generator) -> Instance[TensorOracle]:
        """Return the instance; `rng` draws the topics and the documents.

        Raises
        ------
        DataError
            If documents are too few for a second moment of full rank.
        """
        topics = rng.dirichlet(np.full(self.vocabulary, CONCENTRATION), size=self.topics)
        model = TopicModel(topics, np.full(self.topics, self.alpha0 / self.topics))
        if self.documents:
            documents = model.documents(self.documents, self.words, rng)
            words = sample_moments(documents, self.vocabulary)
        else:
            words = population_moments(model)
        moments = whitened_topics(words, self.topics, self.alpha0)
        judge = partial(_with_topics, Judge(moments.tensor), moments, topics)
        oracle = TensorOracle(moments.tensor)
        return Instance(oracle, judge, {"topic_error": 0.0}, result=partial(factorization, oracle))


def _with_topics(
    judge: Judge, moments: WhitenedTopics, topics: Array, solution: Solution
) -> dict[str, float]:
    error = total_variation(moments.topics(solution.point), topics)
    return {"topic_error": error, **judge(solution)}
