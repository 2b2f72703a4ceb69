"""Solvers of optimization on the Stiefel manifold and the orthogonal group, a file a method."""
