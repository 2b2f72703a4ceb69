"""Solvers of stochastic PCA, a file a method."""
