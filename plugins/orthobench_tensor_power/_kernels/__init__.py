"""Compiled and vectorized kernels of tensor power methods: private to this package."""
