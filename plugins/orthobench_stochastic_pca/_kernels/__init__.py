"""Kernels of stochastic PCA, private to this package."""
