"""Sparse PCA of matrices A (features, samples), the orientation in which papers write it."""

import numpy as np

import orthobench as ob


def of_features(A, m, test=None, **options):
    """Make an instance of A and of a test part as they are, neither centred nor scaled."""
    rows = None if test is None else np.asarray(test).T
    return ob.sparse_pca(np.asarray(A).T, m, rows, center=False, **options)
