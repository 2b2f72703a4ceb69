"""Kernels of the generalized power method."""
