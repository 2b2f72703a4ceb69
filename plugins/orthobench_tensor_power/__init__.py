"""Orthogonal tensor decomposition by power iterations and by eigenvectors of contractions."""

from orthobench.contract import discovered

orthobench_solvers, orthobench_problems, orthobench_suites = discovered(__name__)
