"""Cells on Dask clusters, and passes over blocks in one process or on many workers.

The core finds both by the entry points of the group ``orthobench.clusters``.
"""
