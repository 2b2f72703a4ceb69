"""Readers of data files, and shared data sets."""
