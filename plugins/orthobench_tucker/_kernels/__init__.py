"""Kernels of symmetric Tucker decomposition, private to this package."""
