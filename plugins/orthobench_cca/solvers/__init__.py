"""Solvers of CCA and of pencils, a file a method."""
