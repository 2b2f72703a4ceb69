"""Readers of data files, and data sets that several families use."""
