"""Solvers of the generalized power method, a file a method."""
