"""Sparse PCA of matrices A (features, samples), the orientation in which papers write it."""

from itertools import combinations

import numpy as np

import orthobench as ob


def of_features(A, m, test=None, **options):
    """Make an instance of A and of a test part as they are, neither centred nor scaled."""
    rows = None if test is None else np.asarray(test).T
    return ob.sparse_pca(np.asarray(A).T, m, rows, center=False, **options)


def most_variance(S, count):
    """Return the largest variance over all supports of `count` features."""
    supports = map(list, combinations(range(len(S)), count))
    return max(np.linalg.eigvalsh(S[np.ix_(own, own)])[-1] for own in supports)
