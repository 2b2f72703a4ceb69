"""Coordinate descent on the orthogonal group by Givens rotations, and sparse PCA by it."""

from orthobench.contract import discovered

orthobench_solvers, orthobench_problems, orthobench_suites = discovered(__name__)
