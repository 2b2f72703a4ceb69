"""Solvers of Givens coordinate descent, a file a method."""
