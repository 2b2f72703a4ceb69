"""Solvers of sparse PCA, a file a method."""
