"""The topics of documents, from the whitened third moment of their words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orthobench.contract import Array, Instance, Solution, UsageError, parameter
from orthobench_orthogonal_tensor import Judge, OrthogonalTensor, TensorOracle
from orthobench_orthogonal_tensor.problems.topics import (
    PopulationTopicMoments,
    SampleTopicMoments,
    TopicModel,
    TopicMoments,
    WhitenedTopics,
    total_variation,
    whitened_topics,
)

CONCENTRATION = 0.1
"""Dirichlet parameter of the words of a topic: small, so that few words make most of a topic."""


@dataclass(frozen=True)
class LDAMoments(OrthogonalTensor):
    """Recover the topics of latent Dirichlet allocation from the third moment of its words.

    Topics are drawn from a Dirichlet distribution with all parameters 0.1, documents from the
    model with alpha_i = alpha0 / topics. The moments are those of Anandkumar et al. (2012, "Tensor
    decompositions for learning latent variable models", Theorem 3.5), with alpha0 known, estimated
    by means over all triples of words of a document.

    Ranked by ``topic_error``, the mean total variation distance of the topics found from the true
    ones.
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
            Where there are too few documents for the second moment to have full rank.
        """
        topics = rng.dirichlet(np.full(self.vocabulary, CONCENTRATION), size=self.topics)
        model = TopicModel(topics, np.full(self.topics, self.alpha0 / self.topics))
        moments = whitened_topics(self._moments(model, rng), self.topics, self.alpha0)
        judge = TopicJudge(moments, topics)
        return Instance(TensorOracle(moments.tensor), judge, {"topic_error": 0.0})

    def _moments(self, model: TopicModel, rng: np.random.Generator) -> TopicMoments:
        if not self.documents:
            return PopulationTopicMoments(model)
        documents = model.documents(self.documents, self.words, rng)
        return SampleTopicMoments(documents, self.vocabulary)


class TopicJudge:
    """Measures decompositions, and the topics that they stand for.

    Parameters
    ----------
    moments : WhitenedTopics
        Their tensor is the one that is decomposed.
    topics : ndarray, shape (k, V)
        The true topics.
    """

    def __init__(self, moments: WhitenedTopics, topics: Array) -> None:
        self.moments, self.topics = moments, topics
        self.decomposition = Judge(moments.tensor)

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return ``topic_error`` (`total_variation`) and the metrics of `Judge`."""
        found = self.moments.topics(solution.point)
        error = total_variation(found, self.topics)
        return {"topic_error": error, **self.decomposition(solution)}
