"""Solvers of PCA, a file a method."""
