"""Compiled and vectorized kernels of symmetric Tucker decomposition: private to this package."""
