"""Pymanopt's optimizers, on each family whose objective they can take.

They need ``pip install orthobench[peers]``; without it they are listed, and refuse all problems.
"""

from orthobench.contract import discovered

orthobench_solvers, orthobench_problems, orthobench_suites = discovered(__name__)
