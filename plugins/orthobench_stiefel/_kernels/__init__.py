"""Kernels of the Stiefel manifold and the orthogonal group: private to this package."""
