"""Solvers, a file a method."""
