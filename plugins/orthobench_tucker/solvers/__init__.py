"""Solvers of symmetric Tucker decomposition, a file a method."""
