"""Compiled and vectorized kernels of the generalized power method: private to this package."""
