"""Kernels of Givens coordinate descent."""
