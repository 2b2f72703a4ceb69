"""Solvers of symmetric Tucker decomposition."""
