"""Solvers of orthogonal tensor decomposition, a file a method."""
