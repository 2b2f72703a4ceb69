"""Latent Dirichlet allocation: documents drawn from topics, their moments, and the way back.

A document draws topic proportions h from a Dirichlet distribution with parameters alpha, then
each word from the mixture of the topics with weights h. Let words be unit vectors, x_1, x_2 and
x_3 three words of one document, and a_0 = sum_i alpha_i. Define

    M1 = E[x_1]
    M2 = E[x_1 ⊗ x_2] - a_0 / (a_0 + 1) M1 ⊗ M1
    M3 = E[x_1 ⊗ x_2 ⊗ x_3]
         - a_0 / (a_0 + 2) (E[x_1 ⊗ x_2 ⊗ M1] + E[x_1 ⊗ M1 ⊗ x_2] + E[M1 ⊗ x_1 ⊗ x_2])
         + 2 a_0² / ((a_0 + 1) (a_0 + 2)) M1 ⊗ M1 ⊗ M1

Then M2 = sum_i w_i m_i ⊗ m_i and M3 = 2 / (a_0 + 2) sum_i w_i m_i ⊗ m_i ⊗ m_i, with the topics
m_i and w_i = alpha_i / (a_0 (a_0 + 1)) (Anandkumar et al. 2012, Theorem 3.5). M3 is never formed,
only its whitened form.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.symmetric_tensors import contracted

from orthobench.contract import Array
from orthobench_orthogonal_tensor.problems.mixtures import (
    Whitening,
    cyclic_sum,
    exactly_symmetric,
    third_power_sum,
    unpacked,
    whitening,
)

BLOCK = 256
"""Documents whose words are counted at once."""


@dataclass(frozen=True)
class TopicModel:
    """Topics and the Dirichlet parameters of their proportions.

    Attributes
    ----------
    topics : ndarray, shape (k, V)
        Probabilities of the words, rows that sum to one.
    alpha : ndarray, shape (k,)
        Positive.
    """

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


class TopicMoments(ABC):
    """The first three moments of the words of a document.

    Attributes
    ----------
    words : ndarray, shape (V,)
        E[x_1].
    pairs : ndarray, shape (V, V)
        E[x_1 ⊗ x_2].
    """

    words: Array
    pairs: Array

    @abstractmethod
    def triples(self, W: Array) -> Array:
        """Return E[W'x_1 ⊗ W'x_2 ⊗ W'x_3], shape (k, k, k), for `W` (V, k)."""


class PopulationTopicMoments(TopicMoments):
    """The exact moments of a model, from those of the Dirichlet distribution.

    Parameters
    ----------
    model : TopicModel
    """

    def __init__(self, model: TopicModel) -> None:
        self.model = model
        self.total = float(model.alpha.sum())
        self.words = model.alpha / self.total @ model.topics
        products = np.diag(model.alpha) + np.outer(model.alpha, model.alpha)
        self.pairs = model.topics.T @ products @ model.topics / (self.total * (self.total + 1))

    def triples(self, W: Array) -> Array:
        """Return the exact moment; O(k⁴ + V k²) flops."""
        alpha, whole = self.model.alpha, self.total * (self.total + 1) * (self.total + 2)
        k = len(alpha)
        E = alpha[:, None, None] * alpha[:, None] * alpha
        E += cyclic_sum(np.multiply.outer(np.diag(alpha), alpha))
        E[np.arange(k), np.arange(k), np.arange(k)] += 2 * alpha
        inner = self.model.topics @ W
        T: Array = np.einsum("ijl,ia,jb,lc->abc", E / whole, inner, inner, inner, optimize=True)
        return T


class SampleTopicMoments(TopicMoments):
    """The moments of documents: means over all ordered pairs and triples of different words.

    Parameters
    ----------
    documents : ndarray of int, shape (count, length)
        Indices of the words, each below `vocabulary`; at least three words in each document.
    vocabulary : int
        V, the number of words that there are.

    Notes
    -----
    V² flops for each document here, and V k² + k³ in `triples`; memory O(V²) and O(k³), and the
    word counts of 256 documents.
    """

    def __init__(self, documents: NDArray[np.intp], vocabulary: int) -> None:
        self.documents, self.vocabulary = documents, vocabulary
        count, length = documents.shape
        totals = np.bincount(documents.ravel(), minlength=vocabulary)
        self.words = totals / (count * length)
        pairs = np.diag(-totals.astype(np.float64))
        for counts in self._blocks():
            pairs += counts.T @ counts
        self.pairs = pairs / (count * length * (length - 1))

    def _blocks(self) -> Iterator[Array]:
        """Yield the word counts of blocks of documents, ``(rows, V)``."""
        for begin in range(0, len(self.documents), BLOCK):
            part = self.documents[begin : begin + BLOCK]
            cells = part + self.vocabulary * np.arange(len(part))[:, None]
            counts = np.bincount(cells.ravel(), minlength=len(part) * self.vocabulary)
            yield counts.reshape(len(part), -1).astype(np.float64)

    def triples(self, W: Array) -> Array:
        """Return the mean of W'x_1 ⊗ W'x_2 ⊗ W'x_3 over all triples of different words.

        With the word counts c of a document, y = W'c and S = W' diag(c) W, the sum over its
        triples is y ⊗ y ⊗ y, minus S ⊗ y with y at each of the three places, plus twice the sum of
        w ⊗ w ⊗ w over the rows w of W that belong to its words.
        """
        count, length = self.documents.shape
        k = W.shape[1]
        i, j = np.triu_indices(k)
        products = W[:, i] * W[:, j]
        twice = np.zeros((len(i), k))
        for counts in self._blocks():
            twice += (counts @ products).T @ (counts @ W)
        total = third_power_sum((counts @ W for counts in self._blocks()), k)
        total -= cyclic_sum(unpacked(twice))
        total += 2 * unpacked((products * (self.words * count * length)[:, None]).T @ W)
        mean: Array = total / (count * length * (length - 1) * (length - 2))
        return mean


@dataclass(frozen=True)
class WhitenedTopics:
    """The whitened third moment of a topic model, and the map from decompositions to topics.

    Attributes
    ----------
    tensor : ndarray, shape (k, k, k)
        (a_0 + 2) / 2 M3(W, W, W): without sampling noise sum_i w_i^(-1/2) u_i ⊗ u_i ⊗ u_i.
    whitening : Whitening
        Of M2.
    """

    tensor: Array
    whitening: Whitening

    def topics(self, U: Array) -> Array:
        """Return the topics that a decomposition of the tensor stands for, shape (k, V).

        Noise may make probabilities negative: these are set to zero, and all are normalized.

        Parameters
        ----------
        U : ndarray, shape (k, k)
            Orthonormal columns; their signs do not matter.
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
    """Whiten the third moment of a topic model.

    Parameters
    ----------
    moments : TopicMoments
    k : int
        Number of topics, at most that of words.
    total : float
        a_0, the sum of the Dirichlet parameters.

    Raises
    ------
    DataError
        Where M2 has fewer than k positive eigenvalues; names the first that is not.

    Notes
    -----
    An eigenproblem of size V, about 4V³/3 flops, and those of ``moments.triples``.
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
    """Return the mean total variation distance of topics, matched one to one to be smallest.

    The distance is half the sum of the absolute differences of the probabilities: 0 for equal
    topics, 1 for topics without a common word.

    Parameters
    ----------
    found, true : ndarray, shape (k, V)

    Notes
    -----
    2k²V flops, and an assignment problem of size k.
    """
    from scipy.optimize import linear_sum_assignment

    distances = np.array([np.abs(topic - true).sum(axis=1) / 2 for topic in found])
    rows, columns = linear_sum_assignment(distances)
    return float(distances[rows, columns].mean())
