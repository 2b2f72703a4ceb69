"""Kernels of tensor power methods."""
