"""Bridges to other harnesses: their results as runs of a store, and their benchmarks as plugins."""
