"""Compiled and vectorized kernels of stochastic PCA: private to this package."""
