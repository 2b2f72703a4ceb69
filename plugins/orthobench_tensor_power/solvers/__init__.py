"""Solvers of tensor power methods, a file a method."""
