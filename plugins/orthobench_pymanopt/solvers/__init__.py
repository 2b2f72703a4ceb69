"""Solvers of Pymanopt, a file a method."""
