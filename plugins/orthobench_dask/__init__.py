"""Dask: cells on the workers of a cluster, and passes over blocks on several processes.

The core finds this package by the entry point ``dask`` of the group ``orthobench.clusters``.
"""

from orthobench_dask.executor import capacity, run
from orthobench_dask.passes import OnDask

__all__ = ["OnDask", "capacity", "run"]
