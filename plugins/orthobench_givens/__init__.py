"""Coordinate descent by Givens rotations."""

from orthobench.contract import discovered

orthobench_solvers, orthobench_problems, orthobench_suites = discovered(__name__)
