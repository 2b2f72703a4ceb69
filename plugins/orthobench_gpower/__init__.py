"""The generalized power method for sparse PCA (Journée, Nesterov, Richtárik and Sepulchre 2010)."""

from orthobench.contract import discovered

orthobench_solvers, orthobench_problems, orthobench_suites = discovered(__name__)
