"""Solvers of the polar factor, a file a method."""
