"""Solvers of stochastic PCA."""
