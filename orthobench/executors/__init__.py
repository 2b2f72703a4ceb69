"""Executors: cells in, results out, the same results on each of them."""
