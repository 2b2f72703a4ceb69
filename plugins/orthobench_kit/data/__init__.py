"""Readers of data files."""
