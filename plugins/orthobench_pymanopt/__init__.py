"""Pymanopt's optimizers for each family whose objective they can take.

They need ``pip install orthobench[peers]``.
"""

from orthobench.contract import discovered

orthobench_solvers, orthobench_problems, orthobench_suites = discovered(__name__)
