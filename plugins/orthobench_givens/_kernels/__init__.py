"""Compiled and vectorized kernels of Givens coordinate descent: private to this package."""
